# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion of joulecast(1) for fish. The programs themselves say which commands, options and names there are.

# The apps of the database that the line names, else of this machine's.
function __joulecast_apps
    set -l words (commandline -opc)
    set -l where
    for i in (seq 3 (math (count $words) - 1))
        contains -- $words[$i] --database --device; and set -a where $words[$i..(math $i + 1)]
    end
    joulecast apps --ids $where 2>/dev/null
end

# The options of the command in the line; after one that wants a value, these values.
function __joulecast_complete
    set -l words (commandline -opc)
    set -l before $words[-1]
    if test (count $words) -eq 1
        joulecast --list commands 2>/dev/null
        return
    end
    for line in (joulecast $words[2] --list-options 2>/dev/null)
        set -l fields (string split '|' -- $line)
        test "$before" = "$fields[1]" -a -n "$fields[2]"; or continue
        switch $fields[1]
            case --device
                printf 'virtual:%s\n' (joulecast --list devices 2>/dev/null)
                return
            case --network
                joulecast --list networks 2>/dev/null
            case --profile --target
                joulecast --list profiles 2>/dev/null
            case --scenario
                joulecast --list scenarios 2>/dev/null
        end
        switch $fields[2]
            case FILE
                __fish_complete_path (commandline -ct)
            case DIR RUN
                __fish_complete_directories (commandline -ct)
            case A APP
                __joulecast_apps
            case 'B=10m'
                string replace -r '$' '=' -- (__joulecast_apps)
            case WHAT
                printf '%s\n' full unplug boot resume today yesterday
            case T
                printf '%s\n' today yesterday 24h
            case '*'
                string split ' ' -- $fields[3]
        end
        return
    end
    if test "$words[2]" = profile -a (count $words) -eq 2
        printf '%s\n' list show use undo history reset
    else if test "$words[2]" = profile
        joulecast --list profiles 2>/dev/null
    else if test "$words[2]" = limit
        __joulecast_apps
    else if contains -- "$words[2]" price-packets record
        __fish_complete_path (commandline -ct)
    end
    joulecast $words[2] --list-options 2>/dev/null | string replace -r '^([^|]*)[|][^|]*[|][^|]*[|]' '$1\t'
end

complete -c joulecast -f -a '(__joulecast_complete)'
