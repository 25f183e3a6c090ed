/// The encoding of bytes as text with padding (RFC 4648, section 4).
package enum Base64 {
    /// Returns the text of the bytes, with padding and without line breaks.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let count = min(3, bytes.count - start)
            var bits: UInt32 = 0
            for offset in 0..<3 { bits = bits << 8 | (offset < count ? UInt32(bytes[start + offset]) : 0) }
            for place in 0..<4 {
                let value = UInt8(truncatingIfNeeded: bits >> UInt32(18 - 6 * place)) & 63
                text.append(place <= count ? character(of: value) : padding)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes of a text whose padding is complete or left out; `nil` for any other text.
    ///
    /// Unused bits of the last character must be zero (RFC 4648, section 3.5), so that there are no two
    /// spellings of the same bytes, apart from the padding.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        guard let characters = withoutPadding(text) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(characters.count * 3 / 4)
        var bits: UInt32 = 0
        var count: UInt32 = 0
        for character in characters {
            guard let value = value(of: character) else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            bits &= 1 << count - 1
        }
        return bits == 0 ? bytes : nil
    }

    private static let padding = UInt8(ascii: "=")

    /// Returns the characters before the padding; `nil` if their number, or that of the padding, is
    /// impossible.
    private static func withoutPadding(_ text: some StringProtocol) -> [UInt8]? {
        let all = Array(text.utf8)
        let characters = Array(all.prefix { $0 != padding })
        guard characters.count % 4 != 1, all[characters.count...].allSatisfy({ $0 == padding }) else {
            return nil
        }
        return all.count == characters.count || all.count == (characters.count + 3) / 4 * 4
            ? characters : nil
    }

    private static func character(of value: UInt8) -> UInt8 {
        switch value {
        case 0..<26: value + UInt8(ascii: "A")
        case 26..<52: value - 26 + UInt8(ascii: "a")
        case 52..<62: value - 52 + UInt8(ascii: "0")
        case 62: UInt8(ascii: "+")
        default: UInt8(ascii: "/")
        }
    }

    private static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
