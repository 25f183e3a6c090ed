internal import DirectCore

/// Numbers and durations as readable text.
enum Words {
    /// Returns a number of things: `1 day`, `83 days`.
    static func count(_ count: Int, of thing: String) -> String {
        "\(grouped(count)) \(thing)" + (count == 1 ? "" : "s")
    }

    /// Returns a number of days: `1 day`, `83 days`.
    static func days(_ count: Int) -> String { self.count(count, of: "day") }

    /// Returns a number of seconds in the largest unit that fits: `9 days`, `5 hours`, `40 minutes`.
    static func distance(_ seconds: Int) -> String {
        let seconds = max(0, seconds)
        let years = seconds / (365 * 86_400)
        if years >= 2 { return "\(years) years" }
        let units = [(86_400, "day"), (3600, "hour"), (60, "minute")]
        let (size, unit) = units.first { seconds >= $0.0 } ?? (1, "second")
        return count(seconds / size, of: unit)
    }

    /// Returns the time that is left: `83 days`, and below one day `5 hours`.
    static func left(_ seconds: Int) -> String {
        seconds >= 86_400 ? days(seconds / 86_400) : distance(seconds)
    }

    /// Returns the time that is left for a narrow column: `83 d`, below one day `5 h`, after the end `-9 d`.
    static func narrow(_ seconds: Int) -> String {
        let sign = seconds < 0 ? "-" : ""
        let count = abs(seconds)
        if count >= 86_400 { return "\(sign)\(count / 86_400) d" }
        return count >= 3600 ? "\(sign)\(count / 3600) h" : "\(sign)\(count / 60) m"
    }

    /// Returns a duration in milliseconds, with one decimal place if it is below ten.
    static func milliseconds(_ duration: Duration) -> String {
        let tenth = self.tenth(duration)
        return tenth < 100 ? tenths(tenth) : "\((tenth + 5) / 10)"
    }

    /// Returns a duration in tenths of a millisecond, rounded.
    static func tenth(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return seconds * 10_000 + (attoseconds + 50_000_000_000_000) / 100_000_000_000_000
    }

    /// Returns a number of tenths as a decimal.
    static func tenths(_ count: Int64) -> String { "\(count / 10).\(abs(count % 10))" }

    /// Returns the last line of what a server has sent, for a message.
    static func lastLine(_ bytes: [UInt8]) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let line = text.split(whereSeparator: \.isNewline).last, !line.isEmpty else {
            return "it says nothing"
        }
        return "'\(PlainText.cut(PlainText.harmless(String(line), unicode: true), to: 80, mark: "..."))'"
    }

    /// Returns a text with this character before it, up to a width.
    static func padded(_ text: String, to width: Int, with character: Character = " ") -> String {
        String(repeating: character, count: max(0, width - text.count)) + text
    }

    /// Returns a text that goes on a sentence.
    static func lowered(_ text: String) -> String { text.prefix(1).lowercased() + text.dropFirst() }

    /// Returns the description of an `errno` without its number.
    static func system(_ code: Int32) -> String { lowered(errnoText(code)) }

    /// Returns a list of some of so many: `a, b and 3 more`.
    static func list(_ shown: some Collection<String>, of count: Int) -> String {
        let more = count > shown.count ? " and \(grouped(count - shown.count)) more" : ""
        return shown.joined(separator: ", ") + more
    }

    /// Returns all of a few names: `a, b and c`.
    static func all(_ names: [String]) -> String {
        guard let last = names.last, names.count > 1 else { return names.joined() }
        return names.dropLast().joined(separator: ", ") + " and \(last)"
    }

    /// Returns a number with commas between the thousands.
    static func grouped(_ count: Int) -> String {
        var digits = Substring(String(count))
        var groups: [Substring] = []
        while digits.count > 3 {
            groups.insert(digits.suffix(3), at: 0)
            digits = digits.dropLast(3)
        }
        return ([digits] + groups).joined(separator: ",")
    }
}
