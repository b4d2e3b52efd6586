#!/usr/bin/env bash
# Reproduces the results of the lecture on decentralized SGD with `hearsay` alone:
#
#   experiments/lecture/reproduce.sh [DIR]        runs go to DIR, by default runs/lecture
#
# Progress goes to stderr, the tables of docs/results.md to stdout: the graphs here, the runs by `hearsay sweep`.
# Finished runs are kept: a second call only prints the tables, an interrupted one continues. The binary is $HEARSAY, or
# `hearsay` from the PATH, or that of the release build.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
runs=${1:-$root/runs/lecture}
hearsay=${HEARSAY:-$(command -v hearsay || echo "$root/build/release/cli/hearsay")}
if ! command -v "$hearsay" > /dev/null; then
  echo "reproduce.sh: there is no '$hearsay'; set HEARSAY, or build the release preset" >&2
  exit 2
fi
mkdir -p "$runs/graphs"

# ---- graphs ----

# facts GRAPH N: gap, rho, rounds to average, messages per round: mean over peers and maximum
facts() {
  local file="$runs/graphs/${1//[:=,]/_}-$2.txt"
  if [[ ! -s $file ]]; then
    printf . >&2
    "$hearsay" graph "$1" -n "$2" > "$file.part"
    mv "$file.part" "$file"
  fi
  awk -v n="$2" '
    /^  rho/               { rho = $NF }
    /^  second eigenvalue/ { gap = $NF; sub(/\)/, "", gap) }
    /^  rounds to average/ { rounds = $NF }
    /^  out-degree/        { most = $NF }
    /^  messages (a|per) round/ { messages = $NF / n }
    END {
      if (gap == "" || rho == "" || rounds == "" || messages == "" || most == "") {
        print "reproduce.sh: facts are missing in " FILENAME > "/dev/stderr"
        exit 1
      }
      print gap, rho, rounds, messages, most
    }' "$file"
}

gap_against_n() {
  local n ring grid exponential _
  printf '\n### 1. Spectral gap against n\n\n'
  printf '| n | ring | grid | static exponential | 2 / (tau + 1) |\n|---:|---:|---:|---:|---:|\n'
  for n in 4 8 16 32 64 128 256 512 1024; do
    read -r ring _ < <(facts ring "$n")
    read -r grid _ < <(facts grid "$n")
    read -r exponential _ < <(facts exponential "$n")
    echo "$n $ring $grid $exponential"
  done | awk '
    function slope(name) { return (log(name[1024]) - log(name[64])) / log(1024 / 64) }
    {
      tau = 0
      while (2 ^ tau < $1) tau++
      printf "| %d | %s | %s | %s | %.3g |\n", $1, $2, $3, $4, 2 / (tau + 1)
      ring[$1] = $2; grid[$1] = $3; exponential[$1] = $4
    }
    END { printf "| slope, 64 to 1024 | %.2f | %.2f | %.2f | |\n",
                 slope(ring), slope(grid), slope(exponential) }'

  # The theorem: rho = 1 - 2/(tau+1) for even n, less for odd n.
  for n in {3..40} 63 64 65 66 100 101 127 128 129 130 500 501 1000 1001; do
    read -r _ exponential _ < <(facts exponential "$n")
    echo "$n $exponential"
  done | awk '
    {
      tau = 0
      while (2 ^ tau < $1) tau++
      off = $2 - (1 - 2 / (tau + 1))
      if ($1 % 2) { odd++; less += off < 0 }
      else { even++; if (off < 0) off = -off; if (off > worst) worst = off }
    }
    END {
      print "\nStatic exponential, n = 3 .. 1001:"
      printf "for %d even n, rho is 1 - 2/(tau+1) within %.0e;\n", even, worst
      printf "for %d of %d odd n it is smaller.\n", less, odd
    }'
}

topology_table() {
  local graph name lecture gap rounds messages most small large _
  printf '\n### 2. Topologies, 32 peers\n\n'
  printf '| topology | messages per peer and round: mean | most | gap | rounds to average to 1e-3 '
  printf '| gap ~ n^-e: e | transient ~ n^(3+2e) | lecture |\n'
  printf '|---|---:|---:|---:|---:|---:|---:|---:|\n'
  while IFS='|' read -r graph name lecture; do
    read -r gap _ rounds messages most < <(facts "$graph" 32)
    read -r small _ < <(facts "$graph" 64)
    read -r large _ < <(facts "$graph" 256)
    awk -v name="$name" -v lecture="$lecture" -v gap="$gap" -v rounds="$rounds" \
        -v messages="$messages" -v most="$most" -v small="$small" -v large="$large" 'BEGIN {
      e = -log(large / small) / log(256 / 64)
      if (e < 0.05) e = 0  # a gap that is constant, or grows, with n
      printf "| %s | %.3g | %d | %s | %d | %.1f | n^%.1f | %s |\n",
             name, messages, most, gap, rounds, e, 3 + 2 * e, lecture
    }'
  done <<'TOPOLOGIES'
ring|ring|n^7
star|star|n^7
grid|2D grid|n^5 log^2 n
torus|2D torus|n^5
random:p=0.5,symmetric=1|1/2-random graph|n^3
exponential|static exponential|n^3 log^2 n
one-peer-exponential|one-peer exponential (gap over a period)|n^3 log^2 n
TOPOLOGIES
}

# ---- runs ----

# sweep NAME: the table of NAME.toml
sweep() {
  printf '\n'
  say "$1"
  "$hearsay" sweep "$here/$1.toml" --out "$runs/$1" --jobs "$(nproc)" --quiet --markdown
}

say() { printf '%s ' "$*" >&2; }

say "graphs"
gap_against_n
topology_table
for name in transient-dmsgd transient-dsgd convex strongly-convex periodic-average; do sweep "$name"; done
echo >&2
