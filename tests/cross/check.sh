#!/usr/bin/env bash
# The program on two kinds of processor: what one writes the other reads, and both train together. Part of
# ./test.sh arm64, which builds what is needed:
#
#   tests/cross/check.sh NATIVE CROSS [DIRECTORY]
#
# NATIVE: the program of this machine. CROSS: one of the preset arm64, which is emulated. DIRECTORY: a new one for the
# runs (default: a temporary one, removed at the end). Prints a line per check; status 1 at the first that fails.
set -euo pipefail

(($# == 2 || $# == 3)) || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
# shellcheck disable=SC2034  # both are read by name
native=("$(realpath "$1")")
# shellcheck disable=SC2034
cross=("$(realpath "${BASH_SOURCE[0]%/*}/../../cmake/arm64/emulate.sh")" "$(realpath "$2")")
to=${3-$(mktemp -d)}
mkdir -p "$to"
cd "$to"
pids=()
finish() {
  ((${#pids[@]} == 0)) || kill "${pids[@]}" 2>/dev/null || true
  (($1 == 3)) || rm -rf "$to"
}
# shellcheck disable=SC2064  # the number of arguments now
trap "finish $#" EXIT

say() { echo "check.sh: $*"; }
fail() {
  echo "check.sh: $*" >&2
  exit 1
}
# run native|cross ARGUMENT...: the program. start: the same in the background, as the last of $pids.
run() {
  local -n program=$1
  "${program[@]}" "${@:2}"
}
start() {
  local -n program=$1
  "${program[@]}" "${@:2}" &
  pids+=($!)
}

# value DIRECTORY KEY: of its summary.json.
value() { python3 -c 'import json, sys
value = json.load(open(sys.argv[1] + "/summary.json"))[sys.argv[2]]
print(f"{value:.6g}" if isinstance(value, float) else value)' "$@"; }
# holds CONDITION: of Python's, about numbers.
holds() { python3 -c "import sys; sys.exit(not ($1))"; }
# score native|cross FILE: accuracy and loss, as hearsay eval prints them.
score() { run "$1" eval "$2" | awk '$1 == "accuracy" {print $2} $1 == "loss" {print $2}' | xargs | sed 's/ /, /'; }

# ---- The default run, shorter: all of its 1,500 rounds and its baselines take half an hour emulated ----
short=(--rounds 200)
for which in native cross; do
  SECONDS=0
  run $which train --quiet "${short[@]}" --compare yes --out $which
  say "default run, $which: $(value $which isa), accuracy $(value $which accuracy_mean) %, loss $(value $which loss)," \
      "$SECONDS s"
done
holds "abs($(value cross accuracy_mean) - $(value native accuracy_mean)) <= 1 and $(value cross mass_drift) < 1e-5" ||
  fail "the emulated run must be within 1 point of the native one and keep its mass"
holds "$(value cross/compare/silence accuracy_mean) < $(value cross accuracy_mean) - 5" ||
  fail "without communication the emulated run must be worse by 5 points"
if [[ $(value native models_sha256) == "$(value cross models_sha256)" ]]; then
  say "their models are the same to the bit"
else
  say "their models differ in bits"
fi

# ---- In 8 bits, which networks define to the bit ----
for which in native cross; do
  run $which train --quiet --rounds 20 --compare no --precision int8 --out int8-$which 2>int8-$which.log ||
    { cat int8-$which.log >&2; fail "the $which run in 8 bits failed"; }
done
[[ $(value int8-native models_sha256) == "$(value int8-cross models_sha256)" ]] || fail "models of 8-bit runs differ in bits"
say "in 8 bits: the same models, by $(value int8-native isa) and $(value int8-cross isa)"

# ---- The same model, scored by both ----
for model in native/models/peer-0.safetensors cross/models/peer-0.safetensors; do
  here=$(score native $model)
  emulated=$(score cross $model)
  holds "all(abs(a - b) <= most for a, b, most in zip(($here), ($emulated), (0.3, 1e-4)))" ||
    fail "$model has accuracy and loss $here here and $emulated emulated: one test image may differ, no more"
  say "$model: accuracy and loss $here here, $emulated emulated"
done

# ---- A run that one begins and the other ends ----
# hand_over FROM TO: stopped by SIGINT after its first checkpoint.
hand_over() {
  local dir=begun-$1 status=0
  start "$1" train --quiet "${short[@]}" --evaluate 10 --out "$dir"
  until compgen -G "$dir/checkpoint/*.ckpt" >/dev/null; do
    kill -0 "${pids[-1]}" 2>/dev/null || fail "$dir ended before its first checkpoint"
    sleep 0.01
  done
  kill -INT "${pids[-1]}"
  wait "${pids[-1]}" || status=$?
  ((status == 130)) || fail "$dir ended with status $status after SIGINT, not 130"
  pids=()
  run "$2" train --quiet --resume "$dir"
  holds "abs($(value "$dir" accuracy_mean) - $(value native accuracy_mean)) <= 1" ||
    fail "$dir, ended by $2, reaches $(value "$dir" accuracy_mean) %, more than 1 point from $(value native accuracy_mean)"
  say "begun by $1, ended by $2: accuracy $(value "$dir" accuracy_mean) %"
}
hand_over native cross
hand_over cross native

# ---- One fleet of both, over TLS ----
# Each holds five of the ten digits: 50 % for a peer that learns nothing from the other. A round takes as long as the
# emulated peer needs on a busy machine.
cat >fleet.toml <<TOML
[train]
algorithm = 'scsp'
graph = 'exponential'
compressor = 'topk:keep=0.1'
partition = 'by-label'
rounds = 300
TOML
for which in native cross; do
  run $which identity new $which.pem >>fleet.toml
  # An address of this script's own: all of 127.x.y.z is this machine.
  echo "address = '127.$((1 + $$ / 256 % 250)).$(($$ % 256)).${#which}:7420'" >>fleet.toml
done
SECONDS=0
for which in native cross; do
  start $which peer fleet.toml --identity $which.pem --out peer-$which --min-round 200ms --threads 1 >$which.log 2>&1
done
for which in native cross; do
  wait "${pids[0]}" || { cat $which.log >&2; fail "the $which peer of the fleet failed"; }
  pids=("${pids[@]:1}")
done
run native report peer-native peer-cross | sed '/^last events/,$d'
for which in native cross; do
  holds "$(value peer-$which accuracy_mean) >= 75" || fail "the $which peer must know the other's digits, 75 % of all"
done
say "they trained together in $SECONDS s"
