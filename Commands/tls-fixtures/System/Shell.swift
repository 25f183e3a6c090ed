/// Quoting for a POSIX shell.
enum Shell {
    /// Returns the text as one word of a command.
    static func quoted(_ text: String) -> String {
        let plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/:@%+=,"
        if !text.isEmpty && text.allSatisfy({ plain.contains($0) }) { return text }
        // By scalars: a quotation mark can be part of a longer Character, which the shell does not know.
        var quoted = "'"
        for scalar in text.unicodeScalars {
            if scalar == "'" { quoted += "'\\''" } else { quoted.unicodeScalars.append(scalar) }
        }
        return quoted + "'"
    }
}
