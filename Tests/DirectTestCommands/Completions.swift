/// Shell completions, generated from the options.
extension CommandPages {
    var bash: String {
        let names = options.flatMap { ($0.short.map { ["-\($0)"] } ?? []) + ["--\($0.long)"] }
        let function = "_" + name.replacing("-", with: "_")
        var cases = ""
        for option in options {
            guard case .words(let words) = option.completion else { continue }
            let answer = "COMPREPLY=($(compgen -W '\(words.joined(separator: " "))' -- \"$current\"))"
            cases += "        \(bashPattern(option))) \(answer); return ;;\n"
        }
        return """
            # bash completion for \(name); made by scripts/make/pages
            \(function)() {
                local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
            \(bashProgram)    # To bash the = of --option=value is a word of its own.
                if [[ $current == = ]]; then
                    current=
                elif [[ $previous == = ]]; then
                    previous=${COMP_WORDS[COMP_CWORD-2]}
                fi
                COMPREPLY=()
                case $previous in
                    # Left to readline, which knows how to quote them.
                    \(patterns { $0 == .file })) return ;;
            \(cases)    esac
                compopt +o default 2>/dev/null
                case $previous in
                    \(patterns { $0 == .nothing })) return ;;
                esac
                if [[ $current == -* ]]; then
                    COMPREPLY=($(compgen -W '\(names.joined(separator: " "))' -- "$current"))
                else
                    COMPREPLY=(\(bashWords))
                fi
            }
            complete -o default -F \(function) \(name)

            """
    }

    private var bashWords: String {
        switch words {
        case .hosts: "$(compgen -A hostname -- \"$current\")"
        case .program: "$(compgen -W '--' -- \"$current\")"
        }
    }

    /// What completes the words behind `--`.
    private var bashProgram: String {
        guard case .program = words else { return "" }
        return """
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

            """
    }

    private func bashPattern(_ option: Option) -> String {
        (option.short.map { "-\($0)|" } ?? "") + "--\(option.long)"
    }

    /// Returns the pattern for all options whose values have this kind of completion.
    private func patterns(_ wanted: (Completion) -> Bool) -> String {
        options.filter { $0.takesValue && wanted($0.completion) }.map(bashPattern).joined(separator: "|")
    }

    var zsh: String {
        let lines = options.map { option in
            "    " + zshNames(option) + "'[\(zshEscaped(option.summary))]\(zshValue(option))'"
        }
        return """
            #compdef \(name)
            # made by scripts/make/pages
            _arguments -s -S \\
            \(lines.joined(separator: " \\\n")) \\
                \(zshWords)

            """
    }

    private var zshWords: String {
        switch words {
        case .hosts(let what): "'*:\(what):_hosts'"
        case .program: "'(-)1:program:_command_names -e' '*::arguments:_normal'"
        }
    }

    private func zshNames(_ option: Option) -> String {
        let equals = option.takesValue ? "=" : ""
        let plus = option.takesValue ? "+" : ""
        let star = option.repeats ? "\\*" : ""
        guard let short = option.short else { return "\(star)--\(option.long)\(equals)" }
        let exclusion = star.isEmpty ? "'(-\(short) --\(option.long))'" : star
        return "\(exclusion){-\(short)\(plus),--\(option.long)\(equals)}"
    }

    private func zshValue(_ option: Option) -> String {
        guard let value = option.value else { return "" }
        switch option.completion {
        case .nothing: return ":\(zshEscaped(value)): "
        case .file: return ":\(value):_files"
        case .words(let words): return ":\(value):(\(words.joined(separator: " ")))"
        }
    }

    var fish: String {
        var text = "# fish completion for \(name); made by scripts/make/pages\n"
        switch words {
        case .hosts: text += "complete -c \(name) -f\n"
        case .program: text += "complete -c \(name) -x -a '(__fish_complete_subcommand)'\n"
        }
        for option in options {
            text += "complete -c \(name)"
            if let short = option.short { text += " -s \(short)" }
            text += " -l \(option.long)"
            switch option.completion {
            case .nothing: text += option.takesValue ? " -x" : ""
            case .file: text += " -r -F"
            case .words(let words): text += " -x -a '\(words.joined(separator: " "))'"
            }
            let summary = option.summary.replacing("'", with: "\\'")
            text += " -d '\(summary)'\n"
        }
        return text
    }

    /// Escapes text for use inside single quotes and zsh's brackets.
    private func zshEscaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "'": result += "\u{2019}"
            case "[", "]", ":": result += "\\\(character)"
            default: result.append(character)
            }
        }
        return result
    }
}
