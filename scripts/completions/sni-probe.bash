# bash completion for sni-probe; made by `sni-probe --generate bash`
_sni_probe() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
    case $previous in
        -f|--file) COMPREPLY=($(compgen -f -- "$current")); return ;;
        --shard) COMPREPLY=(); return ;;
        --sni) COMPREPLY=(); return ;;
        --tls) COMPREPLY=($(compgen -W '1.2 1.3' -- "$current")); return ;;
        -X|--method) COMPREPLY=($(compgen -W 'GET HEAD OPTIONS' -- "$current")); return ;;
        -H|--header) COMPREPLY=(); return ;;
        --ca) COMPREPLY=($(compgen -f -- "$current")); return ;;
        --min-days) COMPREPLY=(); return ;;
        --expect) COMPREPLY=($(compgen -f -- "$current")); return ;;
        --status) COMPREPLY=(); return ;;
        -t|--timeout) COMPREPLY=(); return ;;
        -j|--jobs) COMPREPLY=(); return ;;
        --rate) COMPREPLY=(); return ;;
        --retries) COMPREPLY=(); return ;;
        --wait) COMPREPLY=(); return ;;
        --format) COMPREPLY=($(compgen -W 'text json prometheus nagios' -- "$current")); return ;;
        --color) COMPREPLY=($(compgen -W 'auto always never' -- "$current")); return ;;
    esac
    [[ $current == -* ]] && COMPREPLY=($(compgen -W '-f --file -4 --ipv4 -6 --ipv6 --skip-bad --shard --sni --no-sni --skip-default --tls -X --method -H --header -k --insecure --ca --min-days --expect --same --status -t --timeout -j --jobs --rate --retries --wait --json --format --pem -v --verbose -q --quiet --color --demo -h --help --version' -- "$current"))
}
complete -o default -F _sni_probe sni-probe
