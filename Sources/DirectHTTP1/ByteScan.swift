/// Scanning and checking bytes eight at a time.
///
/// Each test below sets the high bit of every byte that is to be stopped at. A subtraction may borrow from the
/// byte above, so bits above the lowest set one mean nothing; the lowest one is exact, and so is "none".
/// Only wrapping arithmetic on `UInt64` is used: comparing SIMD vectors is compiled to scalar loops.
enum ByteScan {
    /// The first byte in `start..<end` that may not stand in a field value or reason phrase: a control
    /// character (CR and LF among them) other than tab, or DEL. `end` if there is none.
    @inline(__always)
    static func endOfText(_ base: UnsafePointer<UInt8>, from start: Int, to end: Int) -> Int {
        var position = start
        while true {
            while position &+ 8 <= end {
                let stops = controls(unsafe base.word(at: position))
                if stops != 0 {
                    position &+= stops.trailingZeroBitCount &>> 3
                    break
                }
                position &+= 8
            }
            while position < end, unsafe !isControl(base[position]) { position &+= 1 }
            guard position < end, unsafe base[position] == .tab else { return position }
            position &+= 1
        }
    }

    /// The first byte in `start..<end` that may not stand in a token (RFC 9110, section 5.6.2), or `end`.
    @inline(__always)
    static func endOfToken(_ base: UnsafePointer<UInt8>, from start: Int, to end: Int) -> Int {
        var position = start
        while true {
            while position &+ 8 <= end {
                let stops = notLetterOrDash(unsafe base.word(at: position))
                if stops != 0 {
                    position &+= stops.trailingZeroBitCount &>> 3
                    break
                }
                position &+= 8
            }
            guard position < end, unsafe base[position].isTokenCharacter else { return position }
            position &+= 1
        }
    }

    /// Copies text and says whether every byte of it may stand in a field value.
    @inline(__always)
    static func copyText(
        _ source: UnsafePointer<UInt8>,
        count: Int,
        to target: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        var stops: UInt64 = 0
        unsafe copy(source, count: count, to: target) { stops |= controls($0) }
        // A tab is a control character that is allowed: look again, more closely.
        return unsafe stops == 0 || hasNoControlButTab(source, count: count)
    }

    /// Copies a request target or the like and says whether it is all visible ASCII.
    @inline(__always)
    static func copyVisible(
        _ source: UnsafePointer<UInt8>,
        count: Int,
        to target: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        var stops: UInt64 = 0
        unsafe copy(source, count: count, to: target) { stops |= notVisible($0) }
        return stops == 0
    }

    /// Copies a name and says whether it is a token.
    @inline(__always)
    static func copyToken(
        _ source: UnsafePointer<UInt8>,
        count: Int,
        to target: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        var stops: UInt64 = 0
        unsafe copy(source, count: count, to: target) { stops |= notLetterOrDash($0) }
        guard count > 0 else { return false }
        return unsafe stops == 0 || isToken(source, count: count)
    }

    @inline(never)
    static func isToken(_ base: UnsafePointer<UInt8>, count: Int) -> Bool {
        unsafe count > 0 && endOfToken(base, from: 0, to: count) == count
    }

    @inline(never)
    private static func hasNoControlButTab(_ base: UnsafePointer<UInt8>, count: Int) -> Bool {
        unsafe endOfText(base, from: 0, to: count) == count
    }

    /// Copies in words, showing each to `look`; a short rest is padded with letters, a long one overlaps.
    @inline(__always)
    private static func copy(
        _ source: UnsafePointer<UInt8>,
        count: Int,
        to target: UnsafeMutablePointer<UInt8>,
        look: (UInt64) -> Void
    ) {
        guard count >= 8 else {
            var word: UInt64 = 0x6161_6161_6161_6161
            var position = 0
            while position < count {
                let byte = unsafe source[position]
                unsafe target[position] = byte
                word = word &<< 8 | UInt64(byte)
                position &+= 1
            }
            look(word)
            return
        }
        var position = 0
        while position &+ 8 <= count {
            let word = unsafe source.word(at: position)
            unsafe target.store(word, at: position)
            look(word)
            position &+= 8
        }
        if position < count {
            let word = unsafe source.word(at: count &- 8)
            unsafe target.store(word, at: count &- 8)
            look(word)
        }
    }

    /// Bytes below SP, and DEL.
    @inline(__always)
    private static func controls(_ word: UInt64) -> UInt64 {
        let belowSpace = word &- 0x2020_2020_2020_2020
        let delete = (word ^ 0x7f7f_7f7f_7f7f_7f7f) &- ones
        return (belowSpace | delete) & ~word & highBits
    }

    /// Bytes up to SP, DEL, and everything that is not ASCII.
    @inline(__always)
    private static func notVisible(_ word: UInt64) -> UInt64 {
        let upToSpace = word &- 0x2121_2121_2121_2121
        let delete = (word ^ 0x7f7f_7f7f_7f7f_7f7f) &- ones
        return (upToSpace | delete | word) & highBits
    }

    /// Bytes that are neither an ASCII letter nor a dash: most field names have no others.
    /// Sums stay below 256 while bytes are ASCII, so they do not carry; the first that is not stops anyway.
    @inline(__always)
    private static func notLetterOrDash(_ word: UInt64) -> UInt64 {
        let lower = word | 0x2020_2020_2020_2020
        let letter = (lower &+ 0x1f1f_1f1f_1f1f_1f1f) & ~(lower &+ 0x0505_0505_0505_0505)
        let notDash = ((word ^ 0x2d2d_2d2d_2d2d_2d2d) & ~highBits) &+ ~highBits
        return (~letter & notDash | word) & highBits
    }

    @inline(__always)
    private static func isControl(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == 0x7f
    }

    private static var ones: UInt64 { 0x0101_0101_0101_0101 }
    private static var highBits: UInt64 { 0x8080_8080_8080_8080 }
}

extension UInt8 {
    static var tab: UInt8 { 0x09 }
    static var lineFeed: UInt8 { 0x0a }
    static var carriageReturn: UInt8 { 0x0d }
    static var space: UInt8 { 0x20 }
    static var comma: UInt8 { 0x2c }
    static var colon: UInt8 { 0x3a }
    static var semicolon: UInt8 { 0x3b }
    static var equals: UInt8 { 0x3d }

    /// Whether this is optional whitespace inside a line (RFC 9110, section 5.6.3).
    @inline(__always)
    var isBlank: Bool { self == .space || self == .tab }

    /// The digit's value if this is an ASCII digit.
    @inline(__always)
    var digit: UInt8? {
        let value = self &- 0x30
        return value < 10 ? value : nil
    }

    /// Whether this may stand in a token: a set of 128 bits, one for each ASCII character.
    @inline(__always)
    var isTokenCharacter: Bool {
        let half: UInt64 = self < 64 ? 0x03ff_6cfa_0000_0000 : 0x57ff_ffff_c7ff_fffe
        return self < 128 && half &>> UInt64(self & 63) & 1 == 1
    }

    /// An ASCII letter in lower case; any other byte unchanged.
    @inline(__always)
    var lowercased: UInt8 {
        self &- 0x41 < 26 ? self | 0x20 : self
    }
}

extension UnsafePointer<UInt8> {
    /// The eight bytes from `position` on, the first one lowest.
    @inline(__always)
    func word(at position: Int) -> UInt64 {
        unsafe UInt64(
            littleEndian: UnsafeRawPointer(self).loadUnaligned(fromByteOffset: position, as: UInt64.self)
        )
    }

    /// Whether the bytes spell `name`, given in lower case, in whatever case.
    @inline(__always)
    func equals(_ name: StaticString, count: Int) -> Bool {
        guard count == name.utf8CodeUnitCount else { return false }
        let letters = unsafe name.utf8Start
        for position in 0..<count where unsafe self[position].lowercased != letters[position] { return false }
        return true
    }
}

extension UnsafeMutablePointer<UInt8> {
    @inline(__always)
    fileprivate func store(_ word: UInt64, at position: Int) {
        unsafe UnsafeMutableRawPointer(self).storeBytes(
            of: word.littleEndian,
            toByteOffset: position,
            as: UInt64.self
        )
    }
}

extension String {
    /// Whether the text is a token (RFC 9110, section 5.6.2).
    var isToken: Bool {
        !isEmpty && utf8.allSatisfy(\.isTokenCharacter)
    }
}
