#!/usr/bin/env bash
# Everything from a bare Debian 12 to packages, in build/release/packages:   cmake/package.sh [OPTION of cmake...]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

install_packages "${build_packages[@]}" dpkg-dev file
build_preset release "$@" || fail "the build failed; its messages stand above"
cmake --build "$root/build/release" --target package
