extension UInt8 {
    static var tab: UInt8 { 0x09 }
    static var lineFeed: UInt8 { 0x0a }
    static var carriageReturn: UInt8 { 0x0d }
    static var space: UInt8 { 0x20 }
    static var quote: UInt8 { 0x22 }
    static var comma: UInt8 { 0x2c }
    static var colon: UInt8 { 0x3a }
    static var semicolon: UInt8 { 0x3b }
    static var equals: UInt8 { 0x3d }
    static var backslash: UInt8 { 0x5c }

    /// Whether this is optional whitespace within a line (RFC 9110, section 5.6.3).
    @inline(__always)
    var isBlank: Bool { self == .space || self == .tab }

    /// The digit's value if this is an ASCII digit.
    @inline(__always)
    var digit: UInt8? {
        let value = self &- 0x30
        return value < 10 ? value : nil
    }

    /// Whether this is allowed in a token. The table has one bit for each ASCII character.
    @inline(__always)
    var isTokenCharacter: Bool {
        let half: UInt64 = self < 64 ? 0x03ff_6cfa_0000_0000 : 0x57ff_ffff_c7ff_fffe
        return self < 128 && half &>> UInt64(self & 63) & 1 == 1
    }

    /// The byte in lower case if it is an ASCII letter, else unchanged.
    @inline(__always)
    var lowercased: UInt8 {
        self &- 0x41 < 26 ? self | 0x20 : self
    }
}

extension String {
    /// Whether the text is a token (RFC 9110, section 5.6.2).
    var isToken: Bool {
        !isEmpty && utf8.allSatisfy(\.isTokenCharacter)
    }
}
