#!/usr/bin/env bash
# What label skew costs at top-0.1 %, and what scsp gets back, with `hearsay` alone:
#
#   experiments/networks/skew.sh [DIR] [OPTION...]    runs go to DIR, by default runs/skew; options
#                                                     (--threads 1) go to every `hearsay train`
#
# Progress goes to stderr, the table of docs/results.md to stdout. Finished runs are kept: a second
# call only prints the table. The binary is $HEARSAY, or `hearsay` of the PATH, or that of the
# release build.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
runs=$root/runs/skew
if (($#)) && [[ $1 != --* ]]; then
  runs=$1
  shift
fi
options=("$@")
hearsay=${HEARSAY:-$(command -v hearsay || echo "$root/build/release/cli/hearsay")}
if ! command -v "$hearsay" > /dev/null; then
  echo "skew.sh: there is no '$hearsay'; set HEARSAY, or build the release preset" >&2
  exit 2
fi
seeds=(1 2 3)

# train NAME OPTION...: the runs NAME-SEED, unless they are finished and this script has not changed
train() {
  local name=$1 seed dir
  shift
  for seed in "${seeds[@]}"; do
    dir=$runs/$name-$seed
    if [[ $dir/summary.json -nt ${BASH_SOURCE[0]} ]]; then continue; fi
    rm -rf "$dir"
    "$hearsay" train --data digits --graph sparse-push:a "$@" --seed "$seed" \
      ${options[@]+"${options[@]}"} --out "$dir" --quiet
    printf . >&2
  done
}

# row TITLE NAME: accuracy_mean of each seed, their mean, and the compression factor
row() {
  local seed files=()
  for seed in "${seeds[@]}"; do files+=("$runs/$2-$seed/summary.json"); done
  awk -v title="$1" -v seeds="${#seeds[@]}" '
    function number() { gsub(/[",]/, ""); return $2 + 0 }
    /"accuracy_mean"/      { accuracy[++count] = number(); sum += accuracy[count] }
    /"compression_factor"/ { factor = number() }
    END {
      if (count != seeds) {
        print "skew.sh: accuracy_mean is missing in a summary of " title > "/dev/stderr"
        exit 1
      }
      printf "| %s ", title
      for (i = 1; i <= count; i++) printf "| %.2f ", accuracy[i]
      printf "| %.2f | %s |\n", sum / count, factor ? sprintf("%.0fx", factor) : "-"
    }' "${files[@]}"
}

compressed=(--compressor topk:keep=0.001)
train sparse-push-iid --algorithm sparse-push --partition iid "${compressed[@]}"
train sparse-push --algorithm sparse-push --partition skew:0.8 "${compressed[@]}"
train scsp --algorithm scsp --partition skew:0.8 "${compressed[@]}"
train sgp --algorithm sgp --partition skew:0.8
train silent --algorithm silent --partition skew:0.8
echo >&2

# shellcheck disable=SC2016  # the backquotes are markdown
table() {
  echo '| method, partition | seed 1 | seed 2 | seed 3 | mean | fewer bytes |'
  echo '|---|---:|---:|---:|---:|---:|'
  row '`sparse-push`, iid' sparse-push-iid
  row '`sparse-push`, skew 0.8' sparse-push
  row '`scsp`, skew 0.8' scsp
  row '`sgp` not compressed, skew 0.8' sgp
  row '`silent`, skew 0.8' silent
}
table
