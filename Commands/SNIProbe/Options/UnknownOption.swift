/// An unknown option, with a hint if it is an option of a similar program or a typing error.
struct UnknownOption {
    let word: String

    init(_ word: String) {
        self.word = word
    }

    /// The error with a hint.
    var error: UsageError {
        if let known = Self.neighbour(word) { return known }
        return UsageError(
            "unknown option \(shortened(name))",
            hint: nearest ?? "sni-probe --help lists all options"
        )
    }

    /// Returns the error for an option of curl, openssl, tlsx or a similar program, or `nil` if it is not one
    /// of these.
    static func neighbour(_ word: String) -> UsageError? {
        let name = String(word.prefix { $0 != "=" })
        guard let hint = NeighbourOptions.hints[name] ?? ours(name) else { return nil }
        return UsageError("unknown option \(name)", hint: hint)
    }

    /// Returns the hint for one of this command's long options with a single dash, as openssl and Go programs
    /// use it.
    private static func ours(_ name: String) -> String? {
        guard name.hasPrefix("-"), !name.hasPrefix("--") else { return nil }
        let long = name.dropFirst()
        return CommandOption.all.contains { $0.long == long } ? "did you mean --\(long)?" : nil
    }

    private var name: String { String(word.prefix { $0 != "=" }) }

    /// The hint with the only option that has this prefix, or the most similar one with at most two changed
    /// letters.
    private var nearest: String? {
        let typed = Array(name.drop { $0 == "-" }.lowercased().utf8)
        guard typed.count > 2, typed.count < 40 else { return nil }
        let longer = CommandOption.all.filter { $0.long.utf8.starts(with: typed) }
        if longer.count == 1 { return "did you mean --\(longer[0].long)?" }
        let ranked = CommandOption.all.map { ($0.long, Self.distance(typed, right: Array($0.long.utf8))) }
        guard let best = ranked.min(by: { $0.1 < $1.1 }), best.1 <= (typed.count < 5 ? 1 : 2) else {
            return nil
        }
        return "did you mean --\(best.0)?"
    }

    /// Returns the Levenshtein distance.
    private static func distance(_ left: [UInt8], right: [UInt8]) -> Int {
        var row = Array(0...right.count)
        for (index, letter) in left.enumerated() {
            var previous = row[0]
            row[0] = index + 1
            for column in right.indices {
                let changed = previous + (right[column] == letter ? 0 : 1)
                previous = row[column + 1]
                row[column + 1] = min(changed, previous + 1, row[column] + 1)
            }
        }
        return row[right.count]
    }
}
