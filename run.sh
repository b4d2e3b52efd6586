#!/usr/bin/env bash
# Everything from a bare Debian 12 to a training run:   ./run.sh [ARGUMENTS of `hearsay train`]
# A second call installs nothing and rebuilds nothing.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/cmake/setup.sh"

install_packages "${build_packages[@]}"
hearsay=$root/build/release/cli/hearsay
[[ -x $hearsay ]] || say "building hearsay, which takes a few minutes the first time"
build_preset release >&2 || fail "the build failed; its messages stand above"
exec "$hearsay" train "$@"
