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

extension UnsafePointer<UInt8> {
    /// The sixteen bytes from `position` on.
    @inline(__always)
    func sixteen(at position: Int) -> SIMD16<UInt8> {
        unsafe UnsafeRawPointer(self).loadUnaligned(fromByteOffset: position, as: SIMD16<UInt8>.self)
    }

    /// The eight bytes from `position` on, the first one lowest.
    @inline(__always)
    func word(at position: Int) -> UInt64 {
        let word = unsafe UnsafeRawPointer(self).loadUnaligned(fromByteOffset: position, as: UInt64.self)
        return UInt64(littleEndian: word)
    }

    /// The four bytes from `position` on, the first one lowest.
    @inline(__always)
    func half(at position: Int) -> UInt32 {
        let half = unsafe UnsafeRawPointer(self).loadUnaligned(fromByteOffset: position, as: UInt32.self)
        return UInt32(littleEndian: half)
    }

    /// Whether CR LF stands at `position`.
    @inline(__always)
    func isLineEnd(at position: Int) -> Bool {
        let two = unsafe UnsafeRawPointer(self).loadUnaligned(fromByteOffset: position, as: UInt16.self)
        return UInt16(littleEndian: two) == 0x0a0d
    }

    /// Whether the bytes equal `name`, which is in lower-case letters and dashes, ignoring case.
    ///
    /// Setting the bit that distinguishes lower case from upper case turns no other byte into a letter. It
    /// turns CR into a dash, but names and values that come here have been checked and contain none.
    @inline(__always)
    func spells(_ name: StaticString, count: Int) -> Bool {
        guard count == name.utf8CodeUnitCount else { return false }
        let letters = unsafe name.utf8Start
        guard count >= 8 else {
            for position in 0..<count where unsafe self[position].lowercased != letters[position] {
                return false
            }
            return true
        }
        var position = 0
        while position &+ 8 < count {
            guard unsafe word(at: position) | 0x2020_2020_2020_2020 == letters.word(at: position) else {
                return false
            }
            position &+= 8
        }
        return unsafe word(at: count &- 8) | 0x2020_2020_2020_2020 == letters.word(at: count &- 8)
    }
}

extension UnsafeMutablePointer<UInt8> {
    /// Stores two, four or eight bytes, the lowest one first.
    @inline(__always)
    func store(_ word: some FixedWidthInteger & BitwiseCopyable, at position: Int) {
        unsafe UnsafeMutableRawPointer(self + position).storeBytes(of: word.littleEndian, as: type(of: word))
    }

    /// Stores two bytes at the start.
    @inline(__always)
    func storePair(_ first: UInt8, second: UInt8) {
        unsafe store(UInt16(first) | UInt16(second) &<< 8, at: 0)
    }

    /// Stores sixteen bytes.
    @inline(__always)
    func store(_ bytes: SIMD16<UInt8>, at position: Int) {
        unsafe UnsafeMutableRawPointer(self + position).storeBytes(of: bytes, as: SIMD16<UInt8>.self)
    }
}

extension String {
    /// Whether the text is a token (RFC 9110, section 5.6.2).
    var isToken: Bool {
        !isEmpty && utf8.allSatisfy(\.isTokenCharacter)
    }
}
