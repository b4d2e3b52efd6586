#!/usr/bin/env bash
# Installs the packages into a clean Debian 12, runs them there, and removes them:
#
#   tests/install/debian_root.sh [PACKAGES]     a folder; default: build/release/packages (cmake/package.sh makes them)
#
# As root, on Debian: debootstrap makes a system in a folder, from the first mirror of this machine's apt and through
# its proxy. Needs the network, 3 GB in $TMPDIR and some minutes; removes everything at the end. With KEEP=1 it leaves
# the folder, and says where.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
source "$here/../../cmake/setup.sh"
packages=$(realpath "${1:-$root/build/release/packages}")
version=$(sed -n 's/^project(hearsay VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
((EUID == 0)) || fail "only root can make a system in a folder"
compgen -G "$packages/hearsay_${version}_*.deb" >/dev/null || fail "there is no package of $version in $packages"
install_packages debootstrap

system=$(mktemp -d --tmpdir hearsay-debian.XXXXXX)
chmod 755 "$system"  # apt and the user below are not root
finish() {
  umount "$system/proc" 2>/dev/null || true
  if [[ -n ${KEEP-} ]]; then
    say "kept: $system"
  else
    rm -rf --one-file-system "$system"
  fi
}
trap finish EXIT

# mirror: the first that apt has for Debian itself, in either format of its lists.
mirror() {
  local lists=(/etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources) found
  found=$(sed -nE 's#^(URIs:|deb( \[[^]]*\])?) *([a-z]+://[^ ]*/debian)/?( .*)?$#\3#p' "${lists[@]}" 2>/dev/null |
    head -n 1)
  [[ -n $found ]] || fail "no list of apt names a mirror that ends in /debian"
  echo "$found"
}

# inside COMMAND...: as root in the system. as_user COMMAND: as somebody who may write his own folder only.
inside() { chroot "$system" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root \
  DEBIAN_FRONTEND=noninteractive ${http_proxy:+http_proxy="$http_proxy"} "$@"; }
as_user() { inside setpriv --reuid=4000 --regid=4000 --clear-groups env HOME=/home/user \
  bash -euo pipefail -c "cd; $1"; }
add() { inside apt-get -qq -y -o Dpkg::Use-Pty=0 --no-install-recommends install "$@" >/dev/null || fail "apt could not install $*"; }

# same WHAT GOT WANTED
same() { [[ $2 == "$3" ]] || fail "$1: '$2' where '$3' was expected"; }

say "making a Debian in $system"
debootstrap --variant=minbase bookworm "$system" "$(mirror)" >"$system.log" ||
  { tail "$system.log"; fail "debootstrap failed"; }
rm "$system.log"
apt-config dump | grep -E '^Acquire::(https?|ftp)::' >"$system/etc/apt/apt.conf.d/90machine" || true
mount -t proc proc "$system/proc"
inside apt-get -qq update
mkdir -p "$system/packages" "$system/home/user"
chown 4000:4000 "$system/home/user"
cp "$packages"/{hearsay,libhearsay-dev}_"$version"_*.deb "$system/packages"

say "hearsay: installs, trains, reports"
add "$(inside bash -c 'echo /packages/hearsay_*.deb')"
same version "$(as_user 'hearsay -V')" "hearsay $version"
inside ldd /usr/bin/hearsay | grep 'not found' && fail "libraries are missing"
same 'the run of --quiet' "$(as_user 'hearsay train --rounds 30 --quiet')" runs/001
as_user 'hearsay report runs/001 >/dev/null; hearsay eval runs/001/models/average.safetensors >/dev/null'
as_user 'grep -q "</html>" runs/001/report.html'
inside dpkg --verify hearsay

say "man pages and completions are where Debian looks for them"
add man-db zsh fish
cp "$here"/{completion.bash,man_pages.sh} "$system/home/user"
inside dpkg --listfiles hearsay | grep -q '^/usr/share/man/man1/hearsay-train.1' || fail "there is no man page"
same 'a man page' "$(inside man -w hearsay-train)" /usr/share/man/man1/hearsay-train.1
as_user './completion.bash /usr/share/bash-completion/completions/hearsay'
same 'zsh' "$(as_user 'zsh -fc "autoload -U compinit; compinit -u -D; print \$_comps[hearsay]"')" _hearsay
same 'fish' "$(as_user "fish -c 'complete -C \"hearsay swe\"' | cut -f 1")" sweep

say "libhearsay-dev: an outside program is built, by CMake and by pkg-config, and runs"
add "$(inside bash -c 'echo /packages/libhearsay-dev_*.deb')" g++ cmake make pkg-config
cp -r "$here/outside" "$here/pkg_config.sh" "$system/home/user"
as_user 'cmake -S outside -B built >/dev/null; cmake --build built >/dev/null'
as_user "built/outside $version; ./pkg_config.sh g++ /usr $version"

say "nothing is left when they are removed"
inside apt-get -qq -y -o Dpkg::Use-Pty=0 purge hearsay libhearsay-dev >/dev/null
left=$(inside find / -xdev -name '*hearsay*' -not -path '/proc/*' -not -path '/packages*' -not -path '/home/*' \
         -not -path '/var/log/*' -not -path '/var/lib/apt/*')
same 'what is left' "$left" ''
say "all well"
