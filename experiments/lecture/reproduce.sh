#!/usr/bin/env bash
# The results of the lecture on decentralized SGD, regenerated with `hearsay` alone:
#
#   experiments/lecture/reproduce.sh [DIR]        runs go to DIR, by default runs/lecture
#
# Progress goes to stderr, the tables of docs/results.md to stdout. Finished runs are kept: a second
# call only prints the tables, an interrupted one goes on. The binary is $HEARSAY, or `hearsay` of
# the PATH, or that of the release build.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
runs=${1:-$root/runs/lecture}
hearsay=${HEARSAY:-$(command -v hearsay || echo "$root/build/release/cli/hearsay")}
if ! command -v "$hearsay" > /dev/null; then
  echo "reproduce.sh: there is no '$hearsay'; set HEARSAY, or build the release preset" >&2
  exit 2
fi
cores=$(nproc)
seeds=(1 2 3 4 5)
mkdir -p "$runs/graphs"

# ---- graphs ----

# facts GRAPH N: gap, rho, rounds to average, messages a round of the mean and of the busiest peer
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
    /^  messages a round/  { messages = $NF / n }
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
  printf '| topology | messages a peer and round: mean | most | gap | rounds to average to 1e-3 '
  printf '| gap ~ n^-e: e | transient ~ n^(3+2e) | lecture |\n'
  printf '|---|---:|---:|---:|---:|---:|---:|---:|\n'
  while IFS='|' read -r graph name lecture; do
    read -r gap _ rounds messages most < <(facts "$graph" 32)
    read -r small _ < <(facts "$graph" 64)
    read -r large _ < <(facts "$graph" 256)
    awk -v name="$name" -v lecture="$lecture" -v gap="$gap" -v rounds="$rounds" \
        -v messages="$messages" -v most="$most" -v small="$small" -v large="$large" 'BEGIN {
      e = -log(large / small) / log(256 / 64)
      if (e < 0.05) e = 0  # a gap that stays, or grows, with n
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

pids=()
trap '((${#pids[@]} == 0)) || kill "${pids[@]}"' EXIT

# start NAME CONFIG OPTION...: the run NAME in the background, unless it is finished and neither
# its config nor this script has changed since
start() {
  local dir=$runs/$1 config=$here/$2.toml
  shift 2
  if [[ $dir/summary.json -nt $config && $dir/summary.json -nt ${BASH_SOURCE[0]} ]]; then return; fi
  if ((${#pids[@]} == cores)); then finish_one; fi
  rm -rf "$dir"
  "$hearsay" train "$config" "$@" --out "$dir" --quiet &
  pids+=($!)
}

finish_one() {
  wait "${pids[0]}"
  pids=("${pids[@]:1}")
  printf . >&2
}

finish_all() {
  while ((${#pids[@]})); do finish_one; done
  echo >&2
}

# compare WINDOW STEP TITLE@NAME...: the error of the runs NAME-SEED, averaged over seeds and over
# the WINDOW rounds before each multiple of STEP: of the first as it is, of the others as a multiple
# of the first's. The last row is the transient stage: the round after which all windows are within
# 20 % of the first's. The error is (mean over peers of |x_i - x*| / |x*|)^2.
compare() {
  local window=$1 step=$2
  shift 2
  awk -v runs="$runs" -v window="$window" -v step="$step" -v seeds="${seeds[*]}" '
    function fail(what) { print "reproduce.sh: " what > "/dev/stderr"; exit 1 }
    function value(line, key,    text) {
      if (!match(line, "\"" key "\":[-+.e0-9]+")) fail("no " key " in " line)
      text = substr(line, RSTART, RLENGTH)
      sub(/.*:/, "", text)
      return text + 0
    }
    BEGIN {
      curves = ARGC - 1
      count = split(seeds, seed, " ")
      for (c = 1; c <= curves; c++) {
        split(ARGV[c], part, "@")
        title[c] = part[1]
        for (s = 1; s <= count; s++) {
          file = runs "/" part[2] "-" seed[s] "/metrics.jsonl"
          lines = 0
          while ((getline line < file) > 0) {
            lines++
            round = value(line, "round")
            if (round == 0) continue
            w = int((round + window - 1) / window)
            error[c, w] += value(line, "distance_to_optimum") ^ 2
            if (c == 1) samples[w]++
            if (w > last) last = w
          }
          if (!lines) fail("cannot read " file)
        }
      }
      head = "| rounds"; rule = "|---:"
      for (c = 1; c <= curves; c++) { head = head " | " title[c]; rule = rule "|---:" }
      print head " |\n" rule "|"
      for (w = 1; w <= last; w++) {
        row = sprintf("| %d | %.2e", w * window, error[1, w] / samples[w])
        for (c = 2; c <= curves; c++) {
          ratio = error[c, w] / error[1, w]
          if (ratio > 1.2) meets[c] = w * window
          row = row sprintf(ratio < 10 ? " | %.2f" : " | %.0f", ratio)
        }
        if (w * window % step == 0) print row " |"
      }
      row = "| **transient** | "
      for (c = 2; c <= curves; c++) {
        late = meets[c] == last * window
        row = row " | **" (late ? "> " : "") meets[c] + 0 "**"
      }
      print row " |"
    }' "$@"
}

# transient METHOD DATA PSGD_OPTIMIZER LR: METHOD over four graphs against P-SGD
transient() {
  local method=$1 data=$2 optimizer=$3 lr=$4 graph seed name="transient/${1%%:*}-$2"
  for seed in "${seeds[@]}"; do
    start "$name-psgd-$seed" "transient-$data" --algorithm psgd --graph complete \
      --optimizer "$optimizer" --lr "$lr" --seed "$seed"
    for graph in ring grid exponential one-peer-exponential; do
      start "$name-$graph-$seed" "transient-$data" --algorithm "$method" --graph "$graph" \
        --lr "$lr" --seed "$seed"
    done
  done
  finish_all
  compare 500 1000 "P-SGD@$name-psgd" "ring@$name-ring" "grid@$name-grid" \
    "static exponential@$name-exponential" "one-peer exponential@$name-one-peer-exponential"
}

transient_iterations() {
  printf '\n### 3. Transient iterations, logistic regression, 32 peers\n'
  printf '\nDmSGD, homogeneous data:\n\n'
  transient dmsgd:beta=0.8 iid momentum:beta=0.8 halve:0.1,every=1000
  printf '\nDmSGD, heterogeneous data:\n\n'
  transient dmsgd:beta=0.8 non-iid momentum:beta=0.8 halve:0.1,every=1000
  printf '\nD-SGD, homogeneous data:\n\n'
  transient dsgd iid sgd halve:0.5,every=1000
}

# on_ring NAME CONFIG WINDOW STEP METHOD TITLE OPTION...: D-SGD and METHOD on a ring against P-SGD
on_ring() {
  local name=$1 config=$2 window=$3 step=$4 method=$5 title=$6 seed
  local short=${method%%:*}
  shift 6
  for seed in "${seeds[@]}"; do
    start "$name-psgd-$seed" "$config" --algorithm psgd --graph complete --seed "$seed" "$@"
    start "$name-dsgd-$seed" "$config" --algorithm dsgd --graph ring --seed "$seed" "$@"
    start "$name-$short-$seed" "$config" --algorithm "$method" --graph ring --seed "$seed" "$@"
  done
  finish_all
  compare "$window" "$step" "P-SGD@$name-psgd" "D-SGD@$name-dsgd" "$title@$name-$short"
}

exact_diffusion() {
  local b
  printf '\n### 4. Exact diffusion against D-SGD, ring of 8, heterogeneous data\n'
  for b in 0 0.5 2; do
    printf '\nConvex (logistic regression), b^2 / sigma^2 = %s:\n\n' "$b"
    on_ring "exact/convex-$b" convex 500 1000 exact-diffusion "exact diffusion" \
      --data "logistic:samples=20,heterogeneity=$b,noise=1,l2=0"
  done
  for b in 0 1 4; do
    printf '\nStrongly convex (least squares), b^2 / sigma^2 = %s:\n\n' "$b"
    on_ring "exact/strongly-convex-$b" strongly-convex 250 500 exact-diffusion "exact diffusion" \
      --data "least-squares:heterogeneity=$b,noise=1"
  done
}

periodic_average() {
  local peers
  printf '\n### 5. D-SGD against PGA on a ring, heterogeneous data\n'
  for peers in 20 50; do
    printf '\nLogistic regression, %d peers:\n\n' "$peers"
    on_ring "pga/$peers" periodic-average 500 1000 pga:period=8 "PGA, H = 8" --peers "$peers"
  done
}

say() { printf '%s ' "$*" >&2; }

say "graphs"
gap_against_n
topology_table
say $'\ntransient iterations'
transient_iterations
say "exact diffusion"
exact_diffusion
say "periodic averages"
periodic_average
