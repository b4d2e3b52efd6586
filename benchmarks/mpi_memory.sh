#!/bin/sh
# Peak memory of a process that holds one of four peers, compared with a quarter of the simulation's.
#
#     benchmarks/mpi_memory.sh build/bench/cli/hearsay [mpirun argument...]
#
# `fixed` is a process whose model has 16 floats: libraries, MPI, the program. The last column excludes it:
# (process - fixed) / ((simulation - fixed of a simulation) / 4).
set -eu
hearsay=$1
shift
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

peak() {  # MB, of the largest process of the run in $out/$1
  sed -n 's/.*"peak_rss_bytes": \([0-9]*\).*/\1/p' "$out/$1/summary.json" |
    awk '{ printf "%.1f", $1 / 1e6 }'
}

measure() {  # name, then settings of a run of four peers
  name=$1
  shift
  "$hearsay" train --quiet --peers 4 --threads 1 --evaluate 1000 --out "$out/$name-simulation" "$@" >/dev/null
  $mpirun -n 4 "$hearsay" train --quiet --peers 4 --threads 1 --evaluate 1000 \
    --out "$out/$name-process" "$@" >/dev/null
  here=$(peak "$name-process") all=$(peak "$name-simulation")
  if [ "$name" = fixed ]; then fixed_here=$here fixed_all=$all; fi
  awk -v name="$name" -v here="$here" -v all="$all" -v a="$fixed_here" -v b="$fixed_all" 'BEGIN {
    ratio = all - b > 1 ? sprintf("%.2f", (here - a) / ((all - b) / 4)) : "-"
    printf "%-36s %12s %12s %12.1f %8s\n", name, all, here, all / 4, ratio }'
}

mpirun="mpirun $*"
printf "%-36s %12s %12s %12s %8s\n" "peak MB" simulation "per process" "a quarter" "ratio"
consensus="--optimizer sgd --rounds 8 --data consensus:dim"
measure fixed --algorithm sgp --graph one-peer-exponential $consensus=16
measure sgp-one-peer-exponential --algorithm sgp --graph one-peer-exponential $consensus=25500000
measure dsgd-ring --algorithm dsgd --graph ring $consensus=25500000
measure sparse-push-ring --algorithm sparse-push --compressor topk:keep=0.01 --graph ring:directed \
  $consensus=25500000
images=synthetic:shape=3x32x32,classes=10,samples=2000
measure resnet20-sgp --model resnet20 --data $images --algorithm sgp \
  --graph one-peer-exponential --rounds 8 --lr 0.001
measure resnet20-sparse-push --model resnet20 --data $images --algorithm sparse-push \
  --compressor topk:keep=0.01 --graph ring:directed --rounds 8 --lr 0.001
