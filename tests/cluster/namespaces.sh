#!/usr/bin/env bash
# Three hosts on one machine: network namespaces with an address and a host name each, on a bridge.
# Needs root, iproute2 and Open MPI, and is therefore not part of ./test.sh. See docs/cluster.md.
#
#   namespaces.sh up                 make them: hearsay1 .. hearsay3, 10.77.0.1 .. 3
#   namespaces.sh on HOST COMMAND    run a command there, as ssh would
#   namespaces.sh down               end what runs there, and remove them
#   namespaces.sh check [HEARSAY]    all of it, and between: train over the three hosts, compare with
#                                    one process, kill a process, kill a host, cut a host off, go on
#
# All hosts see this machine's files and processes; only network and host name are their own.
set -euo pipefail

self=$(realpath "${BASH_SOURCE[0]}")
hosts=(hearsay1 hearsay2 hearsay3)
bridge=hearsay0

up() {
  local i host
  ip link add "$bridge" type bridge
  ip link set "$bridge" up
  for i in 1 2 3; do
    host=${hosts[i - 1]}
    ip netns add "$host"
    ip link add "$host" type veth peer name eth0 netns "$host"
    ip link set "$host" master "$bridge" up
    ip -n "$host" address add "10.77.0.$i/24" dev eth0
    ip -n "$host" link set eth0 up
    ip -n "$host" link set lo up
    mkdir -p "/etc/netns/$host"  # what `ip netns exec` shows as /etc/hosts
    printf '127.0.0.1 localhost\n' > "/etc/netns/$host/hosts"
    printf '10.77.0.%s hearsay%s\n' 1 1 2 2 3 3 >> "/etc/netns/$host/hosts"
  done
}

down() {
  local host pids
  for host in "${hosts[@]}"; do
    pids=$(ip netns pids "$host" 2> /dev/null || true)
    # shellcheck disable=SC2086  # one word a process
    [[ -z $pids ]] || kill -KILL $pids 2> /dev/null || true
    ip netns delete "$host" 2> /dev/null || true
    ip link delete "$host" 2> /dev/null || true  # its end in the host disappears a moment later
    rm -rf "/etc/netns/$host"
  done
  rmdir /etc/netns 2> /dev/null || true  # unless something else uses it
  ip link delete "$bridge" 2> /dev/null || true
}

# on HOST COMMAND...: like ssh, the words become one line for a shell.
on() {
  local host=$1
  shift
  # shellcheck disable=SC2016  # expanded over there
  ip netns exec "$host" unshare --uts sh -c 'hostname "$1"; exec sh -c "$2"' sh "$host" "$*"
}

# spread HOSTS WORD...: mpirun on the first host, for processes on HOSTS (as in `mpirun --host`). An unresponsive host
# is given up after 2 + 3 x 1 seconds.
spread() {
  local where=$1
  shift
  on hearsay1 mpirun --allow-run-as-root --host "$where" --mca plm_rsh_agent "'$self on'" \
    --mca oob_tcp_keepalive_time 2 --mca oob_tcp_keepalive_intvl 1 \
    --mca oob_tcp_keepalive_probes 3 "$@"
}

# ranks HOST: the processes of hearsay there.
ranks() {
  local pid
  for pid in $(ip netns pids "$1"); do
    if [[ $(cat "/proc/$pid/comm" 2> /dev/null) == hearsay ]]; then echo "$pid"; fi
  done
}

kill_process() { kill -KILL "$(ranks hearsay3 | head -n 1)"; }
# shellcheck disable=SC2046  # one word a process
kill_host() { kill -KILL $(ip netns pids hearsay3); }
cut_off() { ip link set hearsay3 down; }
cut_off_mpirun() { ip link set hearsay1 down; }

all=hearsay1:3,hearsay2:3,hearsay3:2
two=hearsay1:3,hearsay2:3

sha() { sed -n 's/.*"models_sha256": "\(.*\)".*/\1/p' "$1/summary.json"; }

fail() {
  echo "namespaces.sh: $*" >&2
  exit 1
}

# same NAME: checks that the run's models equal those of the single-process run.
same() { [[ $(sha "$1") == "$(sha alone)" ]] || fail "$1: other models than in one process"; }

# hurt WHAT LAUNCHER...: trains over all hosts, does WHAT in the middle, checks how the run ends, and resumes it with
# LAUNCHER.
hurt() {
  local what=$1 begin status=0 run left
  shift
  spread "$all" "$hearsay" train "${settings[@]}" --out "$what" --quiet > /dev/null 2> "$what.err" &
  run=$!
  until compgen -G "$what/checkpoint/*.ckpt" > /dev/null; do
    kill -0 "$run" 2> /dev/null || fail "$what: the run ended before it was hurt"
    sleep 0.1
  done
  sleep 1
  begin=$(date +%s%N)
  "$what"
  wait "$run" || status=$?
  printf '%s: status %s after %s ms\n' "$what" "$status" $((($(date +%s%N) - begin) / 1000000))
  for ((left = 100; left > 0; --left)); do  # hosts that are cut off end by themselves
    [[ -n $(ranks hearsay1)$(ranks hearsay2)$(ranks hearsay3) ]] || break
    sleep 0.1
  done
  printf '  nothing of it runs any more after %s ms\n' $((($(date +%s%N) - begin) / 1000000))
  grep -hE 'noticed that|lost communication|Remote daemon|unable to reliably|hearsay: ' "$what.err" |
    sed 's/^/  /'
  ((status != 0)) || fail "$what: status 0"
  ((left > 0)) || fail "$what: processes are left over"
  [[ ! -e $what/summary.json ]] || fail "$what: the run was over before it was hurt"
  ip link set hearsay1 up
  ip link set hearsay3 up
  sleep 2  # until they find each other again
  "$@" "$hearsay" train --resume "$what" --quiet > /dev/null
  same "$what"
  echo "  goes on to the same models"
}

check() {
  hearsay=$(realpath "${1:-$(dirname "$self")/../../build/release/cli/hearsay}")
  settings=(--peers 8 --graph exponential --model logistic --rounds 3000 --checkpoint 50)
  trap down EXIT
  down
  up
  cd "$(mktemp -d)"
  echo "runs go to $PWD"
  "$hearsay" train "${settings[@]}" --out alone --quiet > /dev/null
  spread "$all" "$hearsay" train "${settings[@]}" --out spread --quiet > /dev/null
  same spread
  echo "8 peers in 8 processes on 3 hosts: the models of one process"
  hurt kill_process spread "$two"
  hurt kill_host env
  hurt cut_off spread "$all"
  hurt cut_off_mpirun spread "$two"
}

case ${1-} in
  up | down) "$1" ;;
  on | check) "$@" ;;
  *) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$self" >&2; exit 2 ;;
esac
