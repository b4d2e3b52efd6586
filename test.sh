#!/usr/bin/env bash
# Everything from a bare Debian 12 to all tests run:   ./test.sh [PRESET...]
#
#   dev    every test, example and benchmark program; pages in a browser
#   asan   address + undefined behaviour
#   tsan   threads; without the tests labelled `slow`
#   fuzz   every decoder's fuzz target
#
# Without arguments: dev asan tsan. Every preset is tried, whatever became of the one before; exit
# status 1 if any failed. A second call installs nothing and rebuilds nothing.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/cmake/setup.sh"

presets=("$@")
(($#)) || presets=(dev asan tsan)

packages=("${build_packages[@]}" "${test_packages[@]}")
for preset in "${presets[@]}"; do
  case $preset in
    dev | asan | tsan) ;;
    fuzz) packages+=("${fuzz_packages[@]}") ;;
    *) echo "$name: no tests are named '$preset'; there are dev, asan, tsan, fuzz" >&2; exit 2 ;;
  esac
done
command -v npm >/dev/null || packages+=(nodejs npm)
install_packages "${packages[@]}"

# Playwright, which drives the browser that pages are tested in: the version and the hash that
# tests/browser/package-lock.json has, into build/browser.
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

# test_preset PRESET: ctest without a line a passed test; failures in full, and the closing lines.
test_preset() {
  local runner=()
  # The thread sanitizer cannot start where the kernel spreads addresses wider than it expects.
  if [[ $1 == tsan ]] && setarch -R true 2>/dev/null; then runner=(setarch -R); fi
  (cd "$root" && "${runner[@]}" ctest --preset "$1" -j "$(nproc)") |
    sed -u -E '/^ *(Start +[0-9]+: |[0-9]+\/[0-9]+ Test +#[0-9]+: .* Passed )/d'
}

summary=()
status=0
for preset in "${presets[@]}"; do
  options=()
  if [[ $preset == dev ]]; then
    install_playwright
    options=(-DHEARSAY_BROWSER=ON)
  fi
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
  summary+=("$preset: $verdict (build $built s, tests $((SECONDS - built)) s)")
done

echo
for line in "${summary[@]}"; do say "$line"; done
exit "$status"
