extension String {
    /// Returns the text with another one in place of each occurrence of a scalar.
    ///
    /// By scalars, not by characters: a quote with a combining mark behind it is one character, and not a
    /// quote to Swift.
    package func replacing(scalar: Unicode.Scalar, with text: String) -> String {
        var replaced = "".unicodeScalars
        for each in unicodeScalars {
            if each == scalar { replaced += text.unicodeScalars } else { replaced.append(each) }
        }
        return String(replaced)
    }
}
