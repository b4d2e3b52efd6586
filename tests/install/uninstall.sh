#!/usr/bin/env bash
# `uninstall` removes every file that was installed, and no other:   uninstall.sh BUILD PREFIX
set -euo pipefail
mkdir -p "$2/include/hearsay/mine"
touch "$2/include/hearsay/mine/own.h"
cmake -D MANIFEST="$1/install_manifest.txt" -P "$(dirname "$(realpath "$0")")/../../cmake/uninstall.cmake" >/dev/null
left=$(cd "$2" && find . -type f)
[[ $left == ./include/hearsay/mine/own.h ]] || { echo "left: $left"; exit 1; }
[[ ! -e $2/lib/cmake/hearsay ]] || { echo "an empty folder is left"; exit 1; }
if cmake -D MANIFEST="$1/install_manifest.txt" -P "$(dirname "$(realpath "$0")")/../../cmake/uninstall.cmake" 2>/dev/null
then
  echo "a second call says nothing"
  exit 1
fi
rm -r "$2"
