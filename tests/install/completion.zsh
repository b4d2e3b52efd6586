#!/usr/bin/env zsh
# Loads the installed script as zsh does, and checks what it passes to zsh's completion functions:   completion.zsh SCRIPT
fpath=($1:h $fpath)
autoload -Uz compinit && compinit -u -D
[[ ${_comps[hearsay]} == _hearsay ]] || { print "compinit does not know $1"; exit 1 }

# What _arguments gets, in place of an open command line.
typeset -a got
_arguments() { got=("$@"); line=($chosen); state=rest; }
failed=0
# check 'WORDS' SPEC: behind these commands there is an option or argument that begins so.
check() {
  chosen=(${=1})
  got=()
  $2
  (( ${got[(I)$3*]} )) || { print "$1: nothing begins with $3"; failed=1 }
}
autoload -Uz +X _hearsay
chosen=()
_hearsay  # defines the functions of the commands
check train _hearsay_train '--compressor=\[*\]:SPEC:\(identity topk '
check train _hearsay_train '--compare=\[*\]:yes\|no:\(yes no\)'
check train _hearsay_train '-n+\['
check train _hearsay_train '\*:CONFIG.toml...:_files -g "\*.toml"'
check train _hearsay_train '--quiet\['
check graph _hearsay_graph '\*:SPEC:\(ring '
check 'identity new' _hearsay_identity_new '--name=\['
exit $failed
