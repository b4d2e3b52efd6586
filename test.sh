#!/usr/bin/env bash
# Everything from a bare Debian 12 to all tests run:   ./test.sh [PRESET...]
#
#   dev    every test, example and benchmark program; pages in a browser
#   asan   address + undefined behaviour
#   tsan   threads; without the tests labelled `slow`
#   fuzz   every decoder's fuzz target
#   tidy   clang-tidy on the sources that differ from the branch main, or from the commit before
#   arm64  cross-built for 64-bit ARM, on an emulated processor: tests of core, net, graph, backend, compress, algorithm,
#          transport and peer, without those labelled `slow`; the default run, shorter; models, runs and a fleet over TLS
#          shared with dev's program (tests/cross/check.sh)
#
# Without arguments: dev asan tsan. Formatting is checked first. Every preset is run, even if an earlier one failed;
# exit status 1 if any failed. At the end: the time of each, and its ten slowest test programs. A second call installs
# nothing and rebuilds nothing.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/cmake/setup.sh"
source "$root/cmake/arm64/packages.sh"

presets=("$@")
(($#)) || presets=(dev asan tsan)

packages=("${build_packages[@]}" "${test_packages[@]}")
for preset in "${presets[@]}"; do
  case $preset in
    dev | asan | tsan) ;;
    fuzz) packages+=("${fuzz_packages[@]}") ;;
    tidy) packages+=("${tidy_packages[@]}") ;;
    arm64) packages+=("${arm64_packages[@]}") ;;
    *) echo "$name: no tests are named '$preset'; there are dev, asan, tsan, fuzz, tidy, arm64" >&2; exit 2 ;;
  esac
done
command -v npm >/dev/null || packages+=(nodejs npm)
install_packages "${packages[@]}"

# Playwright, which drives the browser in the page tests: the version and hash of tests/browser/package-lock.json,
# installed into build/browser.
install_playwright() {
  local to=$root/build/browser
  if cmp -s "$root/tests/browser/package-lock.json" "$to/installed.json"; then return 0; fi
  say "installing playwright-core"
  mkdir -p "$to"
  cp "$root"/tests/browser/package{,-lock}.json "$to"
  (cd "$to" && npm ci --silent --no-audit --no-fund --ignore-scripts) ||
    fail "npm could not install playwright-core; its reasons stand above. Check the network and" \
         "npm's settings, then call $name again"
  cp "$root/tests/browser/package-lock.json" "$to/installed.json"
}

# check_format: clang-format has nothing to change.
check_format() {
  local found
  cd "$root" || return 1
  if ! command -v clang-format >/dev/null; then
    say "format: there is no clang-format to check it with; install the package clang-format"
    return 1
  fi
  found=$(git ls-files '*.h' '*.cpp' '*.cu' '*.cuh' | xargs clang-format --dry-run --Werror 2>&1 |
    sed -n 's/^\([^:]*\):[0-9:]* error: .*/\1/p' | sort | uniq -c)
  [[ -n $found ]] || return 0
  say "clang-format -i would change these files (lines, file):"
  echo "$found"
  return 1
}

# tidy: clang-tidy on what has changed. It needs the compile commands of a build whose headers are not precompiled: it
# would take GCC's for its own.
tidy() {
  cd "$root" || return 1
  local base=main to=build/tidy changed
  git rev-parse --quiet --verify main >/dev/null || { say "tidy: there is no branch main to compare with"; return 1; }
  [[ $(git rev-parse HEAD) != $(git rev-parse main) ]] || base=HEAD~1
  cmake --preset dev -B "$to" -DHEARSAY_PRECOMPILE=OFF -DHEARSAY_CUDA=OFF >/dev/null || return 1
  changed=$(git diff --name-only --diff-filter=d "$base" -- '*.cpp') || return 1
  changed=$(for file in $changed; do
              if grep -qF "\"file\": \"$root/$file\"" "$to/compile_commands.json"; then echo "$file"; fi
            done)
  [[ -n $changed ]] || { say "tidy: no source of the build has changed since $base"; return 0; }
  xargs -P "$(nproc)" -n 4 clang-tidy -p "$to" --quiet --extra-arg=-Wno-unknown-warning-option <<<"$changed"
}

# slowest PRESET: its ten slowest test programs, by the sum of their tests' seconds.
slowest() {
  sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([A-Za-z0-9_]+).* ([0-9.]+) sec.*/\1 \2/p' \
    "$root/build/$1/ctest.log" |
    awk '{sum[$1] += $2} END {for (program in sum) printf "%8.1f s  %s\n", sum[program], program}' | sort -rn | head
}

# test_preset PRESET: ctest without a line per passed test; failures in full, and the closing lines.
test_preset() {
  local runner=()
  # The thread sanitizer cannot start where the kernel randomizes addresses more than it expects.
  if [[ $1 == tsan ]] && setarch -R true 2>/dev/null; then runner=(setarch -R); fi
  (cd "$root" && "${runner[@]}" ctest --preset "$1" -j "$(nproc)") |
    tee "$root/build/$1/ctest.log" |
    sed -u -E '/^ *(Start +[0-9]+: |[0-9]+\/[0-9]+ Test +#[0-9]+: .* Passed )/d'
}

# check_arm64: the emulated program beside dev's.
check_arm64() {
  cd "$root" || return 1
  mkdir -p build/dev
  cmake --preset dev >build/dev/configure.log 2>&1 || { cat build/dev/configure.log; return 1; }
  cmake --build --preset dev --target hearsay_cli -- --quiet || return 1
  tests/cross/check.sh build/dev/cli/hearsay build/arm64/cli/hearsay
}

summary=()
status=0
check_format || { summary+=("format: FAILED"); status=1; }
for preset in "${presets[@]}"; do
  options=()
  if [[ $preset == tidy ]]; then
    SECONDS=0
    verdict=passed
    (tidy) || { verdict=FAILED; status=1; }
    summary+=("tidy: $verdict ($SECONDS s)")
    continue
  fi
  if [[ $preset == dev ]]; then
    install_playwright
    options=(-DHEARSAY_BROWSER=ON -DHEARSAY_UNITY=TESTS)
  fi
  if [[ $preset == arm64 ]]; then unpack_arm64_packages "${arm64_root_packages[@]}"; fi
  say "$preset: building"
  SECONDS=0
  if ! build_preset "$preset" "${options[@]}"; then
    summary+=("$preset: BUILD FAILED after $SECONDS s")
    status=1
    continue
  fi
  built=$SECONDS
  say "$preset: testing"
  verdict=passed
  test_preset "$preset" || { verdict="TESTS FAILED"; status=1; }
  if [[ $preset == arm64 ]]; then (check_arm64) || { verdict="TESTS FAILED"; status=1; }; fi
  summary+=("$preset: $verdict (build $built s, tests $((SECONDS - built)) s)")
done

echo
for preset in "${presets[@]}"; do
  [[ -s $root/build/$preset/ctest.log ]] || continue
  say "$preset: the slowest test programs"
  slowest "$preset"
done
for line in "${summary[@]}"; do say "$line"; done
exit "$status"
