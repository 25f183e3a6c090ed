import DirectJSON

extension FuzzTarget {
    /// JSON.
    ///
    /// - A value that was read is written as text that is read as the same value, and written as the same
    ///   text.
    /// - Space around a value does not change it; a byte behind it, or a missing one at its end, is an error.
    /// - Only UTF-8 is read.
    static let json = FuzzTarget(name: "json") { choices in
        let bytes = choices.rest()
        guard let value = try? JSONReader.read(bytes) else { return }
        require(String(validating: bytes, as: UTF8.self) != nil, "only UTF-8")
        let text = Array(value.description.utf8)
        guard let again = try? JSONReader.read(text) else { return require(false, "what is written is read") }
        requireEqual(Array(again.description.utf8), text, "the same text again")
        requireEqual(
            try? JSONReader.read([0x0A] + bytes + [0x20]).description,
            value.description,
            "space around"
        )
        requireEqual(try? JSONReader.read(text + [0x7D]), nil, "a byte behind the value")
        if case .number = value.content { return }
        requireEqual(try? JSONReader.read(text.dropLast()), nil, "a missing byte")
    }
}
