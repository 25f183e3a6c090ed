extension String {
    /// The bytes that the characters stand for. `nil` if one of them is above U+00FF and stands for none.
    var latin1Bytes: [UInt8]? {
        let bytes = unicodeScalars.compactMap { UInt8(exactly: $0.value) }
        return bytes.count == unicodeScalars.count ? bytes : nil
    }

    /// The bytes of a name or a method in a message. If a character is above U+00FF, they are those of UTF-8.
    var bytesOfField: [UInt8] { latin1Bytes ?? Array(utf8) }
}

extension [UInt8] {
    /// The bytes as Latin-1 text: one character for each byte.
    var latin1: String {
        var text = String.UnicodeScalarView()
        for byte in self { text.append(Unicode.Scalar(byte)) }
        return String(text)
    }
}

extension ArraySlice<UInt8> {
    var latin1: String { Array(self).latin1 }

    /// Without blanks at both ends.
    var trimmed: ArraySlice<UInt8> {
        let rest = drop { $0 == 32 || $0 == 9 }
        return rest.lastIndex { $0 != 32 && $0 != 9 }.map { rest[...$0] } ?? []
    }
}

extension UInt8 {
    var isDigit: Bool { (0x30...0x39).contains(self) }
    var isHexDigit: Bool { isDigit || (0x41...0x46).contains(self & 0xDF) }
    /// Whether the byte may stand in a token (RFC 9110, section 5.6.2).
    var isTokenByte: Bool {
        isDigit || (0x41...0x5A).contains(self & 0xDF) || Array("!#$%&'*+-.^_`|~".utf8).contains(self)
    }
}
