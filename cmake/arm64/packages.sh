# shellcheck shell=bash disable=SC2154  # sourced after cmake/setup.sh
# Debian's arm64 packages that the preset arm64 builds with and runs on, unpacked in build/arm64/root.
#
# They are not installed: libdnnl-dev holds files of the same names for every architecture, and others are only accepted
# in exactly the version of the machine's own. apt chooses and fetches them with a state of its own, as for an arm64
# machine on which nothing is installed, from the machine's sources. That needs no root.

# unpack_arm64_packages PACKAGE...: with all that they depend on. Does nothing if these were unpacked before.
unpack_arm64_packages() {
  local to=$root/build/arm64 file link
  [[ $(cat "$to/root/packages" 2>/dev/null) != "$*" ]] || return 0

  say "fetching arm64 packages into build/arm64/root"
  rm -rf "$to/root" "$to/apt"
  mkdir -p "$to/root" "$to/apt/lists/partial" "$to/apt/cache/archives/partial"
  : >"$to/apt/status"
  local apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=
             -o "Dir::State=$to/apt" -o "Dir::State::status=$to/apt/status" -o "Dir::Cache=$to/apt/cache")
  "${apt[@]}" update || say "apt-get update failed for a source or more; trying with the others"
  "${apt[@]}" -y --no-install-recommends --download-only install "$@" >/dev/null ||
    fail "apt-get could not fetch the arm64 packages $*; its reasons stand above. They are Debian 12's own: check the" \
         "network and that the sources of apt have arm64, then call $name again"
  for file in "$to"/apt/cache/archives/*.deb; do dpkg -x "$file" "$to/root"; done
  rm -rf "$to/apt"

  # Links to absolute paths would lead to the machine's own files.
  while IFS= read -r -d '' link; do
    ln -sfnr "$to/root$(readlink "$link")" "$link"
  done < <(find "$to/root" -type l -lname '/*' -print0)
  echo "$*" >"$to/root/packages"
}
