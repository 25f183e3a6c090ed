# bash completion for direct-proxy; made by scripts/make/pages
_direct_proxy() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
    local word
    for ((word = 1; word < COMP_CWORD; word++)); do
        [[ ${COMP_WORDS[word]} == -- ]] || continue
        COMPREPLY=()
        if ((word + 1 == COMP_CWORD)); then
            COMPREPLY=($(compgen -c -- "$current"))
        elif declare -F _command_offset >/dev/null; then
            _command_offset $((word + 1))
        fi
        return
    done
    # To bash the = of --option=value is a word of its own.
    if [[ $current == = ]]; then
        current=
    elif [[ $previous == = ]]; then
        previous=${COMP_WORDS[COMP_CWORD-2]}
    fi
    COMPREPLY=()
    case $previous in
        # Left to readline, which knows how to quote them.
        --map|--report) return ;;
        --limit) COMPREPLY=($(compgen -W 'tunnels= waiting= headBytes= head= dial= idle= halfClosed= drain=' -- "$current")); return ;;
    esac
    compopt +o default 2>/dev/null
    case $previous in
        --resolve|--connect-to|--doh|--proxy|--listen) return ;;
    esac
    if [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W '--resolve --connect-to --map --doh --refuse-others --allow-private --proxy --limit --listen --listen-beyond-loopback --open --pac --report --json --quiet --help --version' -- "$current"))
    else
        COMPREPLY=($(compgen -W '--' -- "$current"))
    fi
}
complete -o default -F _direct_proxy direct-proxy
