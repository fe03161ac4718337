# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Completion of joulecast(1) for bash: commands, and the options that each command's own --help names.

_joulecast()
{
        local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}

        COMPREPLY=()
        if [ "$COMP_CWORD" -eq 1 ]; then
                # A command stands by itself, indented, before its explanation.
                mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" --help 2>/dev/null |
                        sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p') --help --version" -- "$word")
                return
        fi
        case $before in
        --profile|--database|--observations|--scenario|--truth|--usage|--costs)
                mapfile -t COMPREPLY < <(compgen -f -- "$word")
                return ;;
        --machine)
                mapfile -t COMPREPLY < <(compgen -d -- "$word")
                return ;;
        --only)
                mapfile -t COMPREPLY < <(compgen -W 'cpu display disk wifi gpu base' -- "$word")
                return ;;
        --by)
                mapfile -t COMPREPLY < <(compgen -W "$([ "$command" = trace ] && echo process || echo component)" -- "$word")
                return ;;
        --signal)
                mapfile -t COMPREPLY < <(compgen -W 'high medium low' -- "$word")
                return ;;
        --method)
                mapfile -t COMPREPLY < <(compgen -W 'auto percent gauge ticks' -- "$word")
                return ;;
        esac
        if [ "$command" = price-packets ] && [ "${word#-}" = "$word" ] && [ "$before" != --radio ]; then
                mapfile -t COMPREPLY < <(compgen -f -- "$word")
                return
        fi
        if [ "$command" = profile ] && [ "$COMP_CWORD" -eq 2 ] && [ "${word#-}" = "$word" ]; then
                mapfile -t COMPREPLY < <(compgen -W 'list show use undo history reset' -- "$word")
                return
        fi
        mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" "$command" --help 2>/dev/null |
                grep -o -e '--[a-z][a-z-]*' | sort -u)" -- "$word")
}

complete -o filenames -F _joulecast joulecast
