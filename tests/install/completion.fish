#!/usr/bin/env fish
# Completes command lines with the installed script, as fish does on Tab:   completion.fish SCRIPT
source $argv[1]
cd (mktemp -d)
set -g failed 0

function check --argument-names line wanted
    set -l got (complete -C $line | string split -f 1 \t | sort | string join ' ')
    if not string match -q -- $wanted $got
        echo "'$line' offers '$got', not '$wanted'"
        set -g failed 1
    end
end

check 'hearsay tra' train
check 'hearsay train --compr' --compressor
check 'hearsay train --compressor top' topk
check 'hearsay train --compressor=top' '--compressor=topk'
check 'hearsay train --compare ' 'no yes'
check 'hearsay graph expo' exponential
check 'hearsay list grap' graphs
check 'hearsay identity ' 'new show'
check 'hearsay identity new --na' --name
rmdir $PWD
exit $failed
