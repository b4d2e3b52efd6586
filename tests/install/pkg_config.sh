#!/usr/bin/env bash
# The outside program is built and runs with what pkg-config says:   pkg_config.sh COMPILER PREFIX VERSION
set -euo pipefail
here=$(dirname "$(realpath "$0")")
PKG_CONFIG_PATH=$(dirname "$(find "$2" -name hearsay.pc)")
export PKG_CONFIG_PATH
[[ $(pkg-config --modversion hearsay) == "$3" ]] || { echo "pkg-config names another version"; exit 1; }
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
read -ra flags <<<"$(pkg-config --cflags --libs hearsay)"
"$1" -std=c++20 "$here/outside/main.cpp" "${flags[@]}" -o "$scratch/outside"
"$scratch/outside" "$3"
