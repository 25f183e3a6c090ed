/// A set of ASCII bytes as two words; bytes above 127 are never in it.
struct ByteSet: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    /// The bytes of the text, without those of the set taken away.
    init(_ members: some Sequence<UInt8>, without removed: String = "") {
        for byte in members { insert(byte) }
        for byte in removed.utf8 { remove(byte) }
    }

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        let word = byte & 0x40 == 0 ? low : high
        return byte < 0x80 && (word &>> UInt64(byte & 0x3F)) & 1 == 1
    }

    private mutating func insert(_ byte: UInt8) {
        if byte < 0x40 { low |= 1 << UInt64(byte) } else if byte < 0x80 { high |= 1 << UInt64(byte - 0x40) }
    }

    private mutating func remove(_ byte: UInt8) {
        if byte < 0x40 { low &= ~(1 << UInt64(byte)) } else if byte < 0x80 { high &= ~(1 << UInt64(byte - 0x40)) }
    }
}

/// The bytes that stand unescaped in each part: the complements of the percent-encode sets of the WHATWG
/// URL Standard, section 1.3. A percent sign always stands, even where no two digits follow it.
extension ByteSet {
    static let fragment = ByteSet(0x21...0x7E, without: "\"<>`")
    static let query = ByteSet(0x21...0x7E, without: "\"#<>'")
    static let path = ByteSet(0x21...0x7E, without: "\"#<>?^`{}")
    static let userinfo = ByteSet(0x21...0x7E, without: "\"#<>?^`{}/:;=@[\\]|")

    /// The bytes of a path that mean nothing to the scanner: neither a dot segment nor an end.
    static let plainPath = ByteSet(0x21...0x7E, without: "\"#<>?^`{}.%\\")

    /// Letters, digits, hyphen, and the underscore, which DNS carries and browsers take.
    static let hostName = ByteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
}
