#!/usr/bin/env bash
# What takes too long for every ./test.sh, after `cmake --preset dev && cmake --build --preset dev`:
#
#   tests/soak.sh [--minutes M] [--worlds W]
#
# A fleet of six devices of which one is killed every second or two, for M minutes (default 120); broken frames,
# 10,000 of each kind; then W random worlds (default 20,000). Exit status 1 if anything failed.
set -euo pipefail

minutes=120
worlds=20000
while (($#)); do
  case $1 in
    --minutes) minutes=${2:?--minutes M}; shift 2 ;;
    --worlds) worlds=${2:?--worlds W}; shift 2 ;;
    *) echo "soak.sh: there is no option '$1'; there are --minutes M and --worlds W" >&2; exit 2 ;;
  esac
done
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build/dev/tests
[[ -x $tests/cli/cli_chaos_tests && -x $tests/peer/peer_tests && -x $tests/peer/peer_slow_tests ]] ||
  { echo "soak.sh: the tests are not built; run cmake --preset dev && cmake --build --preset dev" >&2; exit 2; }

failed=0
HEARSAY_SOAK_SECONDS=$((minutes * 60)) "$tests/cli/cli_chaos_tests" --gtest_filter='*HoweverOften*' || failed=1
HEARSAY_BROKEN_FRAMES=10000 "$tests/peer/peer_tests" --gtest_filter='*BrokenFrames*' || failed=1
HEARSAY_WORLDS=$worlds "$tests/peer/peer_slow_tests" --gtest_filter='*RandomWorlds*' || failed=1
exit $failed
