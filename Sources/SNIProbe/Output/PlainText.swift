/// Text of others made harmless: certificates and headers are written by whoever runs the server, or attacks it.
enum PlainText {
    /// The text with everything escaped that could move the cursor, hide or reorder what follows; without Unicode
    /// everything beyond ASCII.
    static func harmless(_ text: String, unicode: Bool) -> String {
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if scalar.isASCII ? (0x20..<0x7F).contains(scalar.value) : unicode && !isDeceptive(scalar) {
                result.unicodeScalars.append(scalar)
            } else {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return result
    }

    /// Controls, marks that turn the direction of writing, invisible and unassigned characters.
    static func isDeceptive(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned, .surrogate:
            true
        case .nonspacingMark, .enclosingMark: false
        default: scalar.properties.isDefaultIgnorableCodePoint
        }
    }

    /// So many characters at most, with a mark where some are missing.
    static func cut(_ text: String, to limit: Int, mark: String) -> String {
        guard text.count > limit else { return text }
        return text.prefix(max(0, limit - mark.count)) + mark
    }
}
