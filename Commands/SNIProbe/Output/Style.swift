internal import DirectCore
internal import DirectHTTP

/// The formatting of text for people: colours, the characters that can be shown, the width.
struct Style: Sendable {
    var usesColor: Bool
    var unicode: Bool
    var width: Int
    /// Whether hashes are printed in full, as in output to a pipe.
    var fullHashes: Bool

    init(usesColor: Bool = false, unicode: Bool = true, width: Int = 80, fullHashes: Bool = false) {
        (self.usesColor, self.unicode, self.width, self.fullHashes) = (usesColor, unicode, width, fullHashes)
    }

    /// The style of a console; without colours for a file.
    init(_ console: Console, colors: Bool = true) {
        self.init(usesColor: console.usesColor && colors, unicode: console.unicode, width: console.width)
    }

    /// The mark for omitted text.
    var ellipsis: String { unicode ? "…" : "..." }

    /// Returns the first word of a result, padded to six columns.
    func state(_ record: ProbeRecord) -> String {
        switch record.state {
        case .fail: painted("FAIL", code: "31") + "  "
        case .warn: painted("warn", code: "33") + "  "
        case .ok: painted("ok", code: "32") + "    "
        }
    }

    private func painted(_ text: String, code: String) -> String {
        usesColor ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }

    /// Returns untrusted text, escaped.
    func safe(_ text: String) -> String { PlainText.harmless(text, unicode: unicode) }

    /// Returns untrusted text, escaped and cut to `limit` characters.
    func safe(_ text: String, upTo limit: Int) -> String {
        PlainText.cut(safe(text), to: limit, mark: ellipsis)
    }

    /// Returns a hash in hexadecimal, in full or only its first eight bytes.
    func hash(_ bytes: [UInt8]) -> String {
        fullHashes ? Hex.encode(bytes) : Hex.encode(Array(bytes.prefix(8))) + ellipsis
    }

    /// Wraps text into lines that fit after the indent. Words longer than a line are cut.
    func wrapped(_ text: String, indent: Int) -> [String] {
        // Long lines are hard to read, even where they fit.
        let room = max(20, min(width, Self.widestText) - indent)
        var lines: [String] = []
        var line = ""
        for piece in text.split(separator: " ", omittingEmptySubsequences: false) {
            let word = PlainText.cut(String(piece), to: room, mark: ellipsis)
            if line.isEmpty {
                line = word
            } else if line.count + 1 + word.count <= room {
                line += " " + word
            } else {
                lines.append(line)
                line = word
            }
        }
        return lines + [line]
    }

    /// Returns a label followed by its text, which is wrapped and aligned.
    func field(_ label: String, text: String) -> String { field(label, texts: [text]) }

    /// The same with several texts, each on lines of its own.
    func field(_ label: String, texts: [String]) -> String {
        let lines = texts.flatMap { wrapped($0, indent: Self.labelWidth) }
        var result = ""
        for (index, line) in lines.enumerated() {
            let label = index == 0 ? label : ""
            result += label + String(repeating: " ", count: Self.labelWidth - label.count) + line + "\n"
        }
        return result
    }

    /// Returns a hint, wrapped and indented after `hint:`.
    func hint(_ text: String) -> String {
        let lines = wrapped(safe(text, upTo: 600), indent: 6)
        return "hint: " + lines.joined(separator: "\n      ") + "\n"
    }

    private static let labelWidth = 13
    private static let widestText = 100
}
