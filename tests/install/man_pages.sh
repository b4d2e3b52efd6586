#!/usr/bin/env bash
# Every installed man page is set without a warning, and has a name and what it is for:   man_pages.sh FOLDER
set -euo pipefail
pages=("$1"/*.1)
((${#pages[@]} > 9)) || { echo "only ${#pages[@]} pages in $1"; exit 1; }
failed=0
for page in "${pages[@]}"; do
  said=$(groff -man -Tutf8 -ww -Wbreak -rLL=78n "$page" 2>&1 >/dev/null)
  text=$(groff -man -Tascii -P-cbou "$page" 2>/dev/null | tr -s ' ')
  name=$(basename "$page" .1)
  if [[ -n $said || $text != *"$name - "* || $text != *'EXIT STATUS'* ]]; then
    echo "$page: $said"
    failed=1
  fi
done
exit "$failed"
