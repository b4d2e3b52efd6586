#!/usr/bin/env bash
# Completes command lines with the installed script, as bash does on Tab:   completion.bash SCRIPT
# Each line of the list is a command line, and what must be offered for its last word; '-' is nothing.
set -euo pipefail
shopt -s extglob  # of the patterns below
source "$1"
cd "$(mktemp -d)"
trap 'rm -r "$PWD"' EXIT
mkdir runs models
touch run.toml notes.txt

# offers LINE: what _hearsay offers, sorted, in one line. bash splits words at blanks and at '='.
offers() {
  local line=${1//=/ = }
  read -ra COMP_WORDS <<<"$line"
  [[ $line != *' ' ]] || COMP_WORDS+=('')
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  COMPREPLY=()
  _hearsay
  ((${#COMPREPLY[@]})) || { echo -; return; }
  printf '%s\n' "${COMPREPLY[@]}" | sort | paste -sd ' '
}

failed=0
check() {
  local got
  got=$(offers "$1")
  [[ $got == $2 ]] && return
  echo "'$1' offers '$got', not '$2'"
  failed=1
}

check 'hearsay tra' train
check 'hearsay ' '*graph help identity list peer report sweep train watch'
check 'hearsay --v' --version
check 'hearsay help swe' sweep
check 'hearsay train --compr' --compressor
check 'hearsay train --compressor top' topk
check 'hearsay train --compressor=top' topk
check 'hearsay train --quiet --graph ' '*ring*'
check 'hearsay train --compare ' 'no yes'
check 'hearsay train --seed ' -
check 'hearsay train -n ' -
check 'hearsay train ' 'models run.toml runs'
check 'hearsay train --out ' 'models runs'
check 'hearsay graph expo' exponential
check 'hearsay cost resnet1' resnet1+([0-9])*
check 'hearsay list grap' graphs
check 'hearsay report ru' runs
check 'hearsay identity ' 'new show'
check 'hearsay identity new --na' --name
check 'hearsay paint ' -
exit "$failed"
