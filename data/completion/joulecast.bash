# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Completion of joulecast(1) for bash. The programs themselves say which commands, options and names there are.

# Candidates that begin with the word, one a line; those with blanks are quoted.
_joulecast_offer()
{
        local line

        while IFS= read -r line; do
                [[ $line == "$word"* ]] && COMPREPLY+=("$(printf %q "$line")")
        done
}

# The apps of the database that the line names, else of this machine's.
_joulecast_apps()
{
        local -a where
        local i

        for ((i = 2; i + 1 < cword; i++)); do
                case ${words[i]} in
                --database|--device) where+=("${words[i]}" "${words[i + 1]}") ;;
                esac
        done
        "$program" apps --ids "${where[@]}" 2>/dev/null
}

# What the value of an option may be, by what --list-options calls it.
_joulecast_value()
{
        local name value choices

        while IFS='|' read -r name value choices _; do
                [ "$name" = "$before" ] || continue
                case $choices,$value in
                ?*,*) _joulecast_offer <<<"${choices// /$'\n'}" ;;
                ,FILE) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
                ,DIR|,RUN) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
                ,A|,APP) _joulecast_offer < <(_joulecast_apps) ;;
                ,B=10m) compopt -o nospace; _joulecast_offer < <(_joulecast_apps | sed 's/$/=/') ;;
                ,WHAT) _joulecast_offer <<<$'full\nunplug\nboot\nresume\ntoday\nyesterday' ;;
                ,T) _joulecast_offer <<<$'today\nyesterday\n24h' ;;
                esac
                case $name in
                --network) _joulecast_offer < <("$program" --list networks 2>/dev/null) ;;
                --profile|--target) _joulecast_offer < <("$program" --list profiles 2>/dev/null) ;;
                --scenario) _joulecast_offer < <("$program" --list scenarios 2>/dev/null) ;;
                --device) _joulecast_offer < <("$program" --list devices 2>/dev/null | sed 's/^/virtual:/')
                          [ "${COMP_WORDBREAKS//[^:]}" ] && COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*:}"}"}") ;;
                esac
                [ -n "$value" ]
                return
        done < <("$program" "$command" --list-options 2>/dev/null)
        return 1
}

_joulecast()
{
        local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]} words cword cur
        local word before

        COMPREPLY=()
        # "virtual:nexus-7" is one word, wherever bash breaks lines at colons.
        if declare -F _get_comp_words_by_ref >/dev/null; then
                _get_comp_words_by_ref -n := cur words cword
        else
                words=("${COMP_WORDS[@]}") cword=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]}
        fi
        word=$cur before=${words[cword - 1]}
        if [ "$cword" -eq 1 ]; then
                _joulecast_offer < <("$program" --list commands 2>/dev/null; printf '%s\n' --help --version)
                return
        fi
        _joulecast_value && return
        case $command,$word in
        price-packets,[!-]*|price-packets,|record,[!-]*|record,)
                mapfile -t COMPREPLY < <(compgen -f -- "$word")
                return ;;
        limit,[!-]*|limit,) _joulecast_offer < <(_joulecast_apps); return ;;
        profile,-*) ;;
        profile,*)
                if [ "$cword" -eq 2 ]; then
                        _joulecast_offer <<<$'list\nshow\nuse\nundo\nhistory\nreset'
                else
                        _joulecast_offer < <("$program" --list profiles 2>/dev/null)
                fi
                return ;;
        esac
        _joulecast_offer < <("$program" "$command" --list-options 2>/dev/null | cut -d '|' -f 1)
}

complete -o filenames -F _joulecast joulecast
