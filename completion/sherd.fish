# Completion of the command sherd for fish. What there is to complete is asked of the command itself (sherd help --list,
# sherd help --tensors PATH), so that the two cannot disagree.

# The words before the cursor: the command in the first line, its operands in the others.
function __sherd_words
    set -l list (sherd help --list 2>/dev/null | string split -f1 \t)
    set -l command
    set -l operands
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
        else if contains -- $word --workers --cache --progress
            set skip 1
        else if string match -q -- '-*' $word
            continue
        else if test -z "$command"
            set command $word
        else if not string match -q -- '* *' $command; and string match -q -- "$command *" $list
            set command "$command $word"
        else
            set -a operands $word
        end
    end
    echo $command
    printf '%s\n' $operands
end

# Options of the command at hand, or what the one before the cursor takes.
function __sherd_complete
    set -l words (__sherd_words)
    set -l command $words[1]
    set -l lines (sherd help --list 2>/dev/null)
    set -l line (string match -- $command\t'*' $lines)
    set -l options (string split \t -- $line)[2..-1]
    set -l previous (commandline -opc)[-1]
    set -l current (commandline -ct)
    set -l value (string match -- "$previous=*" $options | string replace -r '^[^=]*=' '')
    if string match -q -- '--*' $previous; and test -n "$value"
        if string match -q '*|*' $value
            string split '|' -- $value | string match -v -r '[A-Z]'
        else if contains -- $value FILE PATH F OUT JSON DIR
            __fish_complete_path $current
        end
    else if string match -q -- '-*' $current
        if test -n "$line"
            string replace -r '=.*' '' -- $options
        else
            printf '%s\n' --json --quiet --workers --cache --help --version
        end
    else if test -z "$command"
        string split -f1 \t -- $lines | string split -f1 ' ' | sort -u
        echo help
    else if test -z "$line"
        string split -f1 \t -- $lines | string match -- "$command *" | string replace "$command " ''
    else if contains -- $command cat stats 'checkpoint cat' 'model cat'; and test (count $words) -eq 2
        sherd help --tensors $words[2] 2>/dev/null
    else
        __fish_complete_path $current
    end
end

complete -c sherd -f -a '(__sherd_complete)'
