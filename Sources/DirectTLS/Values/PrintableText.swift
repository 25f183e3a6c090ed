internal import DirectCore

/// Returns the text with all characters escaped that could break a line, be invisible, or reorder the text
/// that follows.
func printable(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: \.isDeceptive) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
        if scalar.isDeceptive {
            result += "\\u{\(String(scalar.value, radix: 16))}"
        } else {
            result.unicodeScalars.append(scalar)
        }
    }
    return result
}
