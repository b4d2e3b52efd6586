# shellcheck shell=bash disable=SC2034  # the lists are for the sourcing scripts
# Shared by run.sh and test.sh: the packages needed on a bare Debian 12, and how a preset is built.
# Sourced with `set -euo pipefail`, from any directory. Prints what it does, each line prefixed by $name.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
name=$(basename "$0")

build_packages=(g++ cmake ninja-build libfmt-dev libhwy-dev libcli11-dev libtomlplusplus-dev
                libdnnl-dev ocl-icd-opencl-dev libeigen3-dev libspectra-dev nlohmann-json3-dev libssl-dev
                zlib1g-dev libjpeg-dev libpng-dev libopenmpi-dev openmpi-bin libjs-chart.js libcpp-httplib-dev
                libasio-dev)
test_packages=(libgtest-dev libbenchmark-dev librapidcheck-dev python3-numpy python3-torch python3-onnx
               chromium-headless-shell clang-format pkg-config groff-base zsh fish)
tidy_packages=(clang-tidy)
fuzz_packages=(clang libclang-rt-14-dev)
arm64_packages=(g++-aarch64-linux-gnu qemu-user)
# For another architecture (cmake/arm64): the libraries among those above, without MPI and benchmarks.
arm64_root_packages=()
for package in "${build_packages[@]}" "${test_packages[@]}"; do
  case $package in
    libopenmpi-dev | libbenchmark-dev) ;;
    *-dev | libjs-*) arm64_root_packages+=("$package") ;;
  esac
done
unset package

# A compiler cache, if available. CMake reads this when a build folder is first configured.
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache}
fi

say() { echo "$name: $*"; }

fail() {
  echo "$name: $*" >&2
  exit 1
}

# install_packages PACKAGE...: installs those that are missing. Calls apt only if there are any.
install_packages() {
  command -v dpkg-query >/dev/null ||
    fail "this script installs packages on Debian only; elsewhere install what these" \
         "packages hold, then use the presets (CONTRIBUTING.md): $*"

  local package missing=()
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      missing+=("$package")
  done
  ((${#missing[@]})) || return 0

  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      fail "these packages are missing, and only root may install them: ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  # A failed update is not fatal: the existing package lists may suffice.
  "${as_root[@]}" apt-get -qq update ||
    say "apt-get update failed; trying with the package lists there are"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -y --no-install-recommends install "${missing[@]}" >/dev/null ||
    fail "apt-get could not install ${missing[*]}; its reasons stand above. The packages are" \
         "Debian 12's own: check the network and the sources of apt, then call $name again"
}

# build_preset PRESET [OPTION...]: configure, with these options of cmake, and build. Compiler messages are shown; on a
# terminal, progress too.
build_preset() {
  local quiet=()
  [[ -t 1 ]] || quiet=(-- --quiet)
  (
    cd "$root" || exit 1
    mkdir -p "build/$1"
    cmake --preset "$@" >"build/$1/configure.log" 2>&1 || { cat "build/$1/configure.log"; exit 1; }
    cmake --build --preset "$1" "${quiet[@]}"
  )
}
