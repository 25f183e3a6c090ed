/// The arguments of the command line, split into options and targets by the option table.
struct Arguments {
    private(set) var options: [(option: CommandOption, value: String)] = []
    /// The arguments that are not options.
    private(set) var words: [String] = []

    /// Whether help is wanted, which works even if other arguments are wrong.
    var wantsHelp: Bool { options.contains { $0.option.key == .help } }

    /// Splits the arguments.
    ///
    /// - Throws: ``UsageError`` for an unknown option, a missing value, or a value for an option without one.
    init(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if word == "--" {
                words += rest
                return
            }
            if word.hasPrefix("--") {
                try takeLong(word, rest: &rest)
            } else if word.hasPrefix("-"), word != "-" {
                try takeShort(word, rest: &rest)
            } else {
                words.append(word)
            }
        }
    }

    private mutating func takeLong(_ word: String, rest: inout ArraySlice<String>) throws(UsageError) {
        let name = String(word.dropFirst(2).prefix { $0 != "=" })
        let inline = word.firstIndex(of: "=").map { String(word[word.index(after: $0)...]) }
        guard let option = CommandOption.all.first(where: { $0.long == name }) else {
            throw UnknownOption(word).error
        }
        if option.takesValue {
            try take(option, as: "--\(name)", value: inline, rest: &rest)
        } else {
            guard inline == nil else { throw Self.unwanted(option, value: inline ?? "") }
            options.append((option, ""))
        }
    }

    /// Parses a group of short options. The value of the last may follow directly, or as the next argument.
    private mutating func takeShort(_ word: String, rest: inout ArraySlice<String>) throws(UsageError) {
        // `-servername` and the like are one option of another program, not ten short options.
        if let known = UnknownOption.neighbour(word) { throw known }
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            guard let option = CommandOption.all.first(where: { $0.short == letter }) else {
                throw UnknownOption(word.count == 2 ? word : "-\(letter)").error
            }
            guard option.takesValue else {
                options.append((option, ""))
                continue
            }
            let inline = letters.isEmpty ? nil : String(letters.first == "=" ? letters.dropFirst() : letters)
            return try take(option, as: "-\(letter)", value: inline, rest: &rest)
        }
    }

    /// Takes an option with its value: the one that is written with it, or the next argument.
    private mutating func take(
        _ option: CommandOption,
        as name: String,
        value inline: String?,
        rest: inout ArraySlice<String>
    ) throws(UsageError) {
        if inline == nil, let next = rest.first, Self.isOption(next) {
            throw UsageError(
                "\(name) needs a value, and \(next) is an option",
                hint: "if that is the value: \(name)=\(next)"
            )
        }
        guard let value = inline ?? rest.popFirst() else {
            throw UsageError("\(name) needs a value: \(name) \(option.value ?? "VALUE")")
        }
        options.append((option, value))
    }

    /// Whether a word is one of the options, which is hardly meant as the value of another.
    private static func isOption(_ word: String) -> Bool {
        CommandOption.all.contains { word == "--" + $0.long || $0.short.map { word == "-\($0)" } ?? false }
    }

    private static func unwanted(_ option: CommandOption, value: String) -> UsageError {
        let hint =
            option.key == .json
            ? "JSON goes to standard output: sni-probe --json … > \(PlainText.harmless(value, unicode: true))"
            : nil
        return UsageError("--\(option.long) takes no value", hint: hint)
    }
}
