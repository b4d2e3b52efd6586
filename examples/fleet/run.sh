#!/usr/bin/env bash
# Eight peers on this machine train one model over mutual TLS; two are killed, one of them comes back:
#
#   examples/fleet/run.sh [DIRECTORY]
#
# HEARSAY: the program (default: hearsay), ROUNDS: of training (default: 2000).
set -euo pipefail

hearsay=${HEARSAY:-hearsay}
rounds=${ROUNDS:-2000}
to=${1:-fleet}
command -v "$hearsay" >/dev/null || { echo "run.sh: there is no program '$hearsay'; set HEARSAY" >&2; exit 2; }
[[ ! -e $to ]] || { echo "run.sh: $to is there already; give another directory" >&2; exit 2; }
mkdir -p "$to"
cd "$to"

# ---- Who may talk to whom, and what is trained: the same file on all devices ----
cat > fleet.toml <<TOML
[train]
algorithm = 'scsp'        # Sparse-Push with push-sum: directed graphs, compressed messages
graph = 'exponential'
rounds = $rounds
TOML
for k in 1 2 3 4 5 6 7 8; do
  "$hearsay" identity new pi-$k.pem >> fleet.toml
  # An address of this script's own: all of 127.x.y.z is this machine.
  echo "address = '127.$((1 + $$ / 256 % 250)).$(($$ % 256)).$k:7420'" >> fleet.toml
done

# ---- Start them ----
declare -A peers
stop_all() { kill "${peers[@]}" 2>/dev/null || true; }
trap stop_all EXIT
for k in 1 2 3 4 5 6 7 8; do
  "$hearsay" peer fleet.toml --identity pi-$k.pem --out runs/pi-$k --min-round 10ms --threads 1 > pi-$k.log 2>&1 &
  peers[$k]=$!
done

# wait_for_round K ROUND: until peer K has evaluated its model in that round of the fleet's clock, or later.
wait_for_round() {
  local last=0
  while ((last < $2)); do
    sleep 0.2
    kill -0 "${peers[$1]}" 2>/dev/null || { cat pi-"$1".log >&2; echo "run.sh: pi-$1 has ended" >&2; exit 1; }
    last=$(sed -n 's/^round *\([0-9]*\) .*/\1/p' pi-"$1".log | tail -n 1)
    last=${last:-0}
  done
}

# ---- Kill two; bring one back ----
wait_for_round 1 $((rounds / 4))
echo "run.sh: killing pi-3 and pi-7"
kill -KILL "${peers[3]}" "${peers[7]}"
wait "${peers[3]}" "${peers[7]}" 2>/dev/null || true
unset 'peers[7]'
wait_for_round 1 $((rounds / 2))
echo "run.sh: pi-3 comes back with the model that it kept"
"$hearsay" peer --resume runs/pi-3 >> pi-3.log 2>&1 &
peers[3]=$!

# ---- The end ----
for k in "${!peers[@]}"; do
  wait "${peers[$k]}" || { cat pi-"$k".log >&2; echo "run.sh: pi-$k failed" >&2; exit 1; }
done
trap - EXIT
grep -h '^hearsay: pi-[37] ' pi-1.log
tail -qn 2 pi-*.log | grep '^round'
"$hearsay" report runs/pi-*  # as one run; pi-7 has not finished
echo "run.sh: open $PWD/report.html"
