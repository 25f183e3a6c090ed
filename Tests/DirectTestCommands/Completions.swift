@testable import SNIProbe

/// Shell completions, generated from the option table.
enum Completions {
    private static let options = CommandOption.all

    static var bash: String {
        let names = options.flatMap { ($0.short.map { ["-\($0)"] } ?? []) + ["--\($0.long)"] }
        var cases = ""
        for option in options {
            guard case .words(let words) = option.completion else { continue }
            let answer = "COMPREPLY=($(compgen -W '\(words.joined(separator: " "))' -- \"$current\"))"
            cases += "        \(bashPattern(option))) \(answer); return ;;\n"
        }
        return """
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
                    \(patterns { $0 == .file })) return ;;
            \(cases)    esac
                compopt +o default 2>/dev/null
                case $previous in
                    \(patterns { $0 == .nothing })) return ;;
                esac
                if [[ $current == -* ]]; then
                    COMPREPLY=($(compgen -W '\(names.joined(separator: " "))' -- "$current"))
                else
                    COMPREPLY=($(compgen -A hostname -- "$current"))
                fi
            }
            complete -o default -F _sni_probe sni-probe

            """
    }

    private static func bashPattern(_ option: CommandOption) -> String {
        (option.short.map { "-\($0)|" } ?? "") + "--\(option.long)"
    }

    /// Returns the pattern for all options whose values have this kind of completion.
    private static func patterns(_ wanted: (CommandOption.Completion) -> Bool) -> String {
        options.filter { $0.takesValue && wanted($0.completion) }.map(bashPattern).joined(separator: "|")
    }

    static var zsh: String {
        let lines = options.map { option in
            "    " + zshNames(option) + "'[\(escaped(summary(option)))]\(zshValue(option))'"
        }
        return """
            #compdef sni-probe
            # made by scripts/make/pages
            _arguments -s -S \\
            \(lines.joined(separator: " \\\n")) \\
                '*:target or @IP:_hosts'

            """
    }

    private static func zshNames(_ option: CommandOption) -> String {
        let equals = option.takesValue ? "=" : ""
        let plus = option.takesValue ? "+" : ""
        let star = option.manual.contains("May repeat") ? "\\*" : ""
        guard let short = option.short else { return "\(star)--\(option.long)\(equals)" }
        let exclusion = star.isEmpty ? "'(-\(short) --\(option.long))'" : star
        return "\(exclusion){-\(short)\(plus),--\(option.long)\(equals)}"
    }

    private static func zshValue(_ option: CommandOption) -> String {
        guard let value = option.value else { return "" }
        switch option.completion {
        case .nothing: return ":\(value): "
        case .file: return ":\(value):_files"
        case .words(let words): return ":\(value):(\(words.joined(separator: " ")))"
        }
    }

    static var fish: String {
        var text =
            "# fish completion for sni-probe; made by scripts/make/pages\ncomplete -c sni-probe -f\n"
        for option in options {
            text += "complete -c sni-probe"
            if let short = option.short { text += " -s \(short)" }
            text += " -l \(option.long)"
            switch option.completion {
            case .nothing: text += option.takesValue ? " -x" : ""
            case .file: text += " -r -F"
            case .words(let words): text += " -x -a '\(words.joined(separator: " "))'"
            }
            let summary = summary(option).replacing("'", with: "\\'")
            text += " -d '\(summary)'\n"
        }
        return text
    }

    private static func summary(_ option: CommandOption) -> String { option.help.joined(separator: " ") }

    /// Escapes text for use inside single quotes and zsh's brackets.
    private static func escaped(_ text: String) -> String {
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
