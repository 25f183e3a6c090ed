/// Text for elements and attributes of XML. Attributes are always in double quotes.
enum MarkupText {
    /// Returns the text with the characters of the markup as references. Characters that XML forbids are
    /// escaped like others that deceive.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in PlainText.harmless(text, unicode: true).unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
