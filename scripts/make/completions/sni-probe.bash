# bash completion for sni-probe; made by scripts/make/pages
_sni_probe() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
    # To bash the = of --option=value is a word of its own.
    if [[ $current == = ]]; then
        current=
    elif [[ $previous == = ]]; then
        previous=${COMP_WORDS[COMP_CWORD-2]}
    fi
    COMPREPLY=()
    case $previous in
        # Left to readline, which knows how to quote them.
        -f|--file|--cert|--key|--ca|--expect|--baseline|--resume|--modules|-o|--output) return ;;
        --resolver) COMPREPLY=($(compgen -W 'system dns:// https:// alibaba:// dnspod:// hosts:' -- "$current")); return ;;
        --tls) COMPREPLY=($(compgen -W '1.2 1.3' -- "$current")); return ;;
        --starttls) COMPREPLY=($(compgen -W 'smtp lmtp imap pop3 ftp nntp sieve ldap postgres mysql xmpp xmpp-server irc' -- "$current")); return ;;
        --proxy-protocol) COMPREPLY=($(compgen -W '1 2' -- "$current")); return ;;
        -X|--method) COMPREPLY=($(compgen -W 'GET HEAD OPTIONS' -- "$current")); return ;;
        --format) COMPREPLY=($(compgen -W 'text json prometheus nagios junit sarif' -- "$current")); return ;;
        --color) COMPREPLY=($(compgen -W 'auto always never' -- "$current")); return ;;
    esac
    compopt +o default 2>/dev/null
    case $previous in
        --shard|--sni|--proxy|--alpn|--passphrase|-H|--header|--critical-days|--warn-days|--critical-status-days|--warn-status-days|--status|-t|--timeout|-j|--jobs|--rate|--retries|--wait|--watch|--listen|--listen-name|--repeat|--interval) return ;;
    esac
    if [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W '-f --file --resolver -4 --ipv4 -6 --ipv6 --skip-bad --shard --sni --no-sni --skip-default --deep --ech --versions --post-quantum --long-hello --tls --starttls --proxy --proxy-protocol --alpn --cert --key --passphrase -X --method -H --header -k --insecure --ca --revocation --critical-days --warn-days --critical-status-days --warn-status-days --strict --expect --same --any-good --baseline --status -t --timeout -j --jobs --rate --retries --wait --watch --resume --listen --listen-any --listen-name --modules --repeat --interval --json --format -o --output --pem -v --verbose -q --quiet --color --demo -h --help --version' -- "$current"))
    else
        COMPREPLY=($(compgen -A hostname -- "$current"))
    fi
}
complete -o default -F _sni_probe sni-probe
