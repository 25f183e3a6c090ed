internal import DirectCore

/// Makes untrusted text safe to print. The operator of a server, or an attacker, controls its certificates
/// and headers.
enum PlainText {
    /// Returns the text with all characters escaped that could move the cursor, or hide or reorder text.
    ///
    /// - Parameters:
    ///   - text: The untrusted text.
    ///   - unicode: Whether non-ASCII characters can be shown. If not, all of them are escaped.
    static func harmless(_ text: String, unicode: Bool) -> String {
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if scalar.isASCII ? (0x20..<0x7F).contains(scalar.value) : unicode && !scalar.isDeceptive {
                result.unicodeScalars.append(scalar)
            } else {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return result
    }

    /// Returns at most `limit` characters. If some were cut, the text ends with `mark`.
    static func cut(_ text: String, to limit: Int, mark: String = "…") -> String {
        guard text.count > limit else { return text }
        return text.prefix(max(0, limit - mark.count)) + mark
    }
}
