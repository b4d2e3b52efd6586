#!/usr/bin/env bash
# Checks whether two builds of hearsay train bit-identical models:
#
#   benchmarks/same_bits.sh [--device SPEC] [--only REGEX] [--out DIR] OLD NEW
#
# OLD and NEW are `hearsay` programs, or directories that this script has filled before (DIR/old, DIR/new). Each of
# about 70 short runs (every algorithm, compressor, model family and norm; skewed and iid data; changing graphs, lossy
# links, a validation set, an initial model; resumed after Ctrl-C; with `mpirun` where it is found, in three processes)
# is trained by both, from a config in which every setting is given, so that a changed default has no effect. Compared
# are models_sha256, bytes and everything else in summary.json and metrics.jsonl of OLD, except times and what
# identifies the build. A run that OLD does not support is reported and skipped.
#
# With --device cuda:precision=fp32 (or bf16, tf32) the runs are on the GPU; those under mpirun are skipped there.
# Exit status 0: all are the same; 1: some differ or fail; 2: wrong arguments.
set -euo pipefail
export LC_ALL=C OMPI_MCA_btl_base_warn_component_unused=0

usage() {
  sed -n '4p' "$0" | sed 's/^# */usage: /' >&2
  exit 2
}
device=cpu only=. out=
while (($#)); do
  case $1 in
    --device) device=${2?}; shift 2 ;;
    --only) only=${2?}; shift 2 ;;
    --out) out=${2?}; shift 2 ;;
    -*) usage ;;
    *) break ;;
  esac
done
(($# == 2)) || usage
old=$1 new=$2
for program in "$old" "$new"; do
  [[ -d $program || -x $program ]] || { echo "same_bits: '$program' is no program and no directory" >&2; exit 2; }
done
[[ $old == */* ]] || old=./$old
[[ $new == */* ]] || new=./$new
out=${out:-$(mktemp -d "${TMPDIR:-/tmp}/same_bits.XXXXXX")}
mkdir -p "$out"
out=$(cd "$out" && pwd)

# ---- The runs ----
# run NAME KEY=VALUE...: overrides the settings of `base`. A run whose name begins with `resumed-` is interrupted and
# resumed, with `mpi-` uses three processes; both are also compared with the run of the same name without the prefix.
declare -A settings
names=()
base=(peers=4 graph=sparse-push:a algorithm=sparse-push compressor=topk:keep=0.01,value=f16 data=digits model=cnn
      partition=skew:0.8 augment=none validation=0 init=none optimizer=nesterov:beta=0.9,weight_decay=1e-4 lr=cosine:0.1
      epochs=0 rounds=60 batch=8 seed=1 link=none evaluate=20 checkpoint=20 compare=no threads=0)
run() {
  local name=$1
  shift
  [[ $name =~ $only ]] || return 0
  names+=("$name")
  settings[$name]="$*"
}

full='compressor=identity'
sym="$full graph=ring"
run sparse-push algorithm=sparse-push
run scsp algorithm=scsp rounds=40
run deep-squeeze algorithm=deep-squeeze graph=ring
run choco algorithm=choco graph=ring
run quant-sgp algorithm=quant-sgp
run dcd algorithm=dcd graph=ring compressor=qsgd:bits=12,unbiased=1
run ecd algorithm=ecd graph=ring compressor=qsgd:bits=12,unbiased=1
run dsgd algorithm=dsgd $sym
run sgp algorithm=sgp $full
run exact-diffusion algorithm=exact-diffusion $sym
run d2 algorithm=d2 graph=star $full
run nids algorithm=nids graph=star $full
run extra algorithm=extra $sym lr=0.05
run gradient-tracking algorithm=gradient-tracking $sym
run push-diging algorithm=push-diging $full
run dmsgd algorithm=dmsgd $sym optimizer=sgd:weight_decay=1e-4
run qg-dmsgd algorithm=qg-dmsgd $sym optimizer=sgd:weight_decay=1e-4
run qg-choco algorithm=qg-choco $sym compressor=topk:keep=0.1 optimizer=sgd:weight_decay=1e-4
run qg-quant-sgp algorithm=qg-quant-sgp compressor=topk:keep=0.1 optimizer=sgd:weight_decay=1e-4
run slowmo algorithm=slowmo $sym
run psgd algorithm=psgd $sym
run local-sgd algorithm=local-sgd $sym
run pga algorithm=pga $sym
run aga algorithm=aga $sym
run silent algorithm=silent $full

run topk-model compressor=topk:keep=0.01,scope=model,value=q8
run topk-f32 compressor=topk:keep=0.1,value=f32
run topk-bf16 compressor=topk:keep=0.1,value=bf16
run randk compressor=randk:keep=0.05 algorithm=sparse-push:eta=0.01
run qsgd compressor=qsgd:bits=4 algorithm=sparse-push:eta=0.1
run sign compressor=sign algorithm=sparse-push:eta=0.05

run exponential algorithm=sgp $full peers=8 graph=exponential
run one-peer algorithm=sgp $full peers=8 graph=one-peer-exponential
run random-graph algorithm=sgp $full peers=6 graph=random:p=0.5
run cycle graph=cycle:sparse-push:a+sparse-push:b,every=10
run torus algorithm=dsgd $full peers=16 graph=torus:4x4 rounds=20

run lossy-link algorithm=sgp $full link=latency=1e-3,bandwidth=1e6,compute=1e-3,straggler=0.5,loss=0.1
run validation validation=0.1
run by-label partition=by-label
run dirichlet partition=dirichlet:alpha=0.1
run iid partition=iid
run momentum optimizer=momentum:beta=0.9,clip=1
run adam optimizer=adam lr=0.001
run steps lr=steps:0.1,at=1+2,factor=0.1,warmup=1
run least-squares data=least-squares model=none partition=none optimizer=sgd lr=0.05 batch=32 algorithm=gradient-tracking $sym
run closed-logistic data=logistic model=none partition=none optimizer=sgd lr=0.05 batch=32 algorithm=exact-diffusion $sym
run consensus data=consensus:dim=20 model=none partition=none optimizer=sgd lr=0.05 batch=32 algorithm=choco graph=ring

run logistic model=logistic lr=0.1
run mlp model=mlp:hidden=64+64
run lenet5 model=lenet5 data=synthetic:shape=1x28x28 rounds=20
picture='data=synthetic:shape=3x32x32 batch=4 rounds=6 evaluate=3 augment=crop-flip'
# (range-evonorm has had another gate since it got the name range-evonorm-hard: it differs from versions before.)
for norm in none batch group evonorm range-evonorm; do
  run resnet20-$norm model=resnet20:norm=$norm lr=0.02 $picture
done
run resnet20-average algorithm=scsp model=resnet20 $picture
run vgg11 model=vgg11 $picture rounds=2 evaluate=2 peers=2 graph=ring
run resnet18 model=resnet18 data=synthetic:shape=3x64x64 augment=resized-crop batch=2 rounds=2 evaluate=2 peers=2 graph=ring

# Every process mixes separately: methods that differ in what they send and keep.
run resumed-sparse-push rounds=400 evaluate=50 checkpoint=50
run resumed-choco algorithm=choco graph=ring rounds=400 evaluate=50 checkpoint=50
run resumed-adam optimizer=adam lr=0.001 algorithm=gradient-tracking $sym rounds=400 evaluate=50 checkpoint=50
if [[ $device == cpu ]] && command -v mpirun >/dev/null; then
  run mpi-sparse-push algorithm=sparse-push
  run mpi-scsp algorithm=scsp rounds=40
  run mpi-choco algorithm=choco graph=ring
  run mpi-psgd algorithm=psgd $sym
  run mpi-cycle graph=cycle:sparse-push:a+sparse-push:b,every=10
  run mpi-resnet20-batch model=resnet20:norm=batch lr=0.02 $picture
fi

# ---- Training ----
launcher=(mpirun -n 3 --oversubscribe --bind-to none)
((EUID)) || launcher+=(--allow-run-as-root)

# config NAME: the run's settings as TOML.
config() {
  local -A values=()
  local pair
  for pair in "${base[@]}" ${settings[$1]}; do values[${pair%%=*}]=${pair#*=}; done
  values[device]=$device
  for pair in "${!values[@]}"; do
    case $pair in
      peers | epochs | rounds | batch | seed | evaluate | checkpoint | threads | validation) echo "$pair = ${values[$pair]}" ;;
      *) echo "$pair = '${values[$pair]}'" ;;
    esac
  done
}

# train PROGRAM DIR NAME: into DIR/NAME. What it prints goes to DIR/NAME.log.
train() {
  local program=$1 to=$2/$3 log=$2/$3.log
  config "$3" >"$2/$3.toml"
  rm -rf "$to"
  case $3 in
    mpi-*) "${launcher[@]}" "$program" train "$2/$3.toml" --quiet --out "$to" >"$log" 2>&1 ;;
    resumed-*)
      "$program" train "$2/$3.toml" --quiet --out "$to" >"$log" 2>&1 &
      local child=$!
      # Interrupted after the second checkpoint unless the run has finished by then.
      while kill -0 $child 2>/dev/null && (($(cat "$to/metrics.jsonl" 2>/dev/null | wc -l) < 3)); do sleep 0.01; done
      kill -INT $child 2>/dev/null || true
      wait $child || true
      [[ -e $to/summary.json ]] || "$program" train --resume "$to" --quiet >>"$log" 2>&1
      ;;
    *) "$program" train "$2/$3.toml" --quiet --out "$to" >"$log" 2>&1 ;;
  esac
}

# collect SOURCE DIR: sets `results` to where SOURCE's runs are.
collect() {
  if [[ -d $1 ]]; then
    results=$1
    return
  fi
  results=$2
  mkdir -p "$results"
  local name
  for name in "${names[@]}"; do
    [[ -t 2 ]] && printf '\r\033[K%s: %s' "$1" "$name" >&2
    train "$1" "$results" "$name" || true
  done
  [[ -t 2 ]] && printf '\r\033[K' >&2
  return 0
}
collect "$old" "$out/old"; before=$results
collect "$new" "$out/new"; after=$results

# ---- Comparison ----
python3 - "$before" "$after" "${names[@]}" <<'PYTHON'
import json, os, sys

before, after, names = sys.argv[1], sys.argv[2], sys.argv[3:]
# Times, and what identifies the build or the place rather than the run.
VOLATILE = {"seconds", "seconds_per_round", "samples_per_second", "seconds_waited", "peak_rss_bytes", "version",
            "config_hash", "processes", "threads"}

def load(folder, name):
    path = os.path.join(folder, name)
    try:
        with open(os.path.join(path, "summary.json")) as file:
            summary = json.load(file)
        with open(os.path.join(path, "metrics.jsonl")) as file:
            lines = [json.loads(line) for line in file]
    except OSError:
        return None
    strip = lambda values: {key: value for key, value in values.items() if key not in VOLATILE}
    return {"summary": strip(summary), "metrics": [strip(line) for line in lines]}

def why(folder, name):
    try:
        lines = open(os.path.join(folder, name + ".log")).read().strip().splitlines()
    except OSError:
        lines = []
    return lines[-1] if lines else "no run of that name"

def difference(left, right):
    # What matters most first: models that differ explain all else.
    first = ["models_sha256", "bytes_total"]
    for key, value in sorted(left["summary"].items(), key=lambda item: item[0] not in first):
        if right["summary"].get(key) != value:
            return f"{key} of summary.json: {value} and {right['summary'].get(key)}"
    if len(left["metrics"]) != len(right["metrics"]):
        return f"{len(left['metrics'])} and {len(right['metrics'])} evaluations"
    for a, b in zip(left["metrics"], right["metrics"]):
        for key, value in a.items():
            if b.get(key) != value:
                return f"{key} in round {a['round']}: {value} and {b.get(key)}"
    return None

same = differ = skipped = 0
for name in names:
    left, right = load(before, name), load(after, name)
    if left is None:
        skipped += 1
        print(f"  left out {name}: OLD says: {why(before, name)}")
        continue
    found = f"NEW says: {why(after, name)}" if right is None else difference(left, right)
    # Interrupted, or in several processes: must also equal the plain run.
    plain = name.removeprefix("mpi-")
    if found is None and plain != name and (alone := load(after, plain)) is not None:
        if alone["summary"]["models_sha256"] != right["summary"]["models_sha256"]:
            found = f"other models than {plain}"
    if found is None:
        same += 1
        sha, sent = right["summary"]["models_sha256"][:16], right["summary"]["bytes_total"]
        print(f"  same     {name}: models {sha}, {sent} bytes")
    else:
        differ += 1
        print(f"  DIFFERS  {name}: {found}")
print(f"{same} the same, {differ} differ, {skipped} left out")
sys.exit(1 if differ or not same else 0)
PYTHON
