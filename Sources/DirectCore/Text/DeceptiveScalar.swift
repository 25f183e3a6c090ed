extension Unicode.Scalar {
    /// Whether this is a control, bidirectional, invisible or unassigned character: one that could move the
    /// cursor of a terminal, or hide or reorder the text around it.
    package var isDeceptive: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: true
        case .nonspacingMark, .enclosingMark: false
        default: properties.isDefaultIgnorableCodePoint
        }
    }
}

extension String {
    /// The text with all characters escaped that could break a line, be invisible, or reorder the text that
    /// follows.
    package var printable: String {
        guard unicodeScalars.contains(where: \.isDeceptive) else { return self }
        var result = ""
        for scalar in unicodeScalars {
            if scalar.isDeceptive {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
