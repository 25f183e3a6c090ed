/// Scans bytes eight at a time, and checks bytes sixteen at a time while copying them.
///
/// Each test sets the high bit of every byte that the scan must stop at. Only wrapping arithmetic is used:
/// comparisons of SIMD vectors compile to scalar loops. In a `UInt64` a subtraction may borrow from the byte
/// above, so the bits above the lowest set one have no meaning; the lowest one is exact, and so is the
/// absence of any. Scans use words and not vectors: a vector's result arrives too late for the next address,
/// and the scan takes twice as long.
enum ByteScan {
    typealias Sixteen = SIMD16<UInt8>

    /// Returns the position of the first byte in `start..<end` that is not allowed in a field value or reason
    /// phrase: a control character (CR and LF among them) other than tab, or DEL. `end` if there is none.
    @inline(__always)
    static func endOfText(_ base: UnsafePointer<UInt8>, from start: Int, to end: Int) -> Int {
        var position = start
        while position &+ 8 <= end {
            let stops = controls(unsafe base.word(at: position))
            if stops != 0 {
                position &+= stops.trailingZeroBitCount &>> 3
                // A tab is an allowed control character.
                return unsafe base[position] == .tab
                    ? endOfTextByByte(base, from: position, to: end) : position
            }
            position &+= 8
        }
        return unsafe endOfTextByByte(base, from: position, to: end)
    }

    /// The same byte by byte, for the last bytes and for text with tabs.
    @inline(never)
    private static func endOfTextByByte(_ base: UnsafePointer<UInt8>, from start: Int, to end: Int) -> Int {
        var position = start
        while position < end, unsafe !isControl(base[position]) || base[position] == .tab { position &+= 1 }
        return position
    }

    /// Returns the position of the first byte in `start..<end` that is not allowed in a token (RFC 9110,
    /// section 5.6.2), or `end`.
    static func endOfToken(_ base: UnsafePointer<UInt8>, from start: Int, to end: Int) -> Int {
        var position = start
        while position < end, unsafe base[position].isTokenCharacter { position &+= 1 }
        return position
    }

    /// Returns the position of the first byte from `start` on that is neither a letter nor a dash. It may
    /// return a position up to seven bytes before `end` instead.
    @inline(__always)
    static func endOfPlainName(_ base: UnsafePointer<UInt8>, from start: Int, to end: Int) -> Int {
        var position = start
        while position &+ 8 <= end {
            let stops = notLetterOrDash(unsafe base.word(at: position))
            if stops != 0 { return position &+ stops.trailingZeroBitCount &>> 3 }
            position &+= 8
        }
        return position
    }

    /// Copies text and returns whether every byte of it is allowed in a field value.
    @inline(never)
    static func copyText(
        _ source: UnsafePointer<UInt8>,
        count: Int,
        to target: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        let stops = unsafe copy(
            source,
            count: count,
            to: target,
            testSixteen: { controls($0) },
            test: { controls($0) }
        )
        // A tab is an allowed control character: if a test stopped, check again byte by byte.
        return unsafe stops == 0 || endOfTextByByte(source, from: 0, to: count) == count
    }

    /// Copies a request target and returns whether it is all visible ASCII.
    @inline(never)
    static func copyVisible(
        _ source: UnsafePointer<UInt8>,
        count: Int,
        to target: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        unsafe copy(
            source,
            count: count,
            to: target,
            testSixteen: { notVisible($0) },
            test: { notVisible($0) }
        ) == 0
    }

    /// Copies an authority and returns whether it has only characters that a host and a port may have.
    @inline(never)
    static func copyAuthority(
        _ source: UnsafePointer<UInt8>,
        count: Int,
        to target: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        let stops = unsafe copy(
            source,
            count: count,
            to: target,
            testSixteen: { notUsualInHost($0) },
            test: { notUsualInHost($0) }
        )
        guard stops != 0 else { return true }
        return (0..<count).allSatisfy { unsafe source[$0].isAuthorityCharacter }
    }

    /// Copies a name and returns whether it is a token.
    @inline(never)
    static func copyToken(
        _ source: UnsafePointer<UInt8>,
        count: Int,
        to target: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        let stops = unsafe copy(
            source,
            count: count,
            to: target,
            testSixteen: { notLetterOrDash($0) },
            test: { notLetterOrDash($0) }
        )
        return unsafe count > 0 && (stops == 0 || endOfToken(source, from: 0, to: count) == count)
    }

    /// Copies in large pieces, the last one overlapping the one before, and combines the test results. A rest
    /// of less than four bytes is padded with letters, which pass every test.
    @inline(__always)
    private static func copy(
        _ source: UnsafePointer<UInt8>,
        count: Int,
        to target: UnsafeMutablePointer<UInt8>,
        testSixteen: (Sixteen) -> SIMD2<UInt64>,
        test: (UInt64) -> UInt64
    ) -> UInt64 {
        if count >= 16 {
            var stops = SIMD2<UInt64>(repeating: 0)
            var position = 0
            while position < count {
                position = min(position, count &- 16)
                let bytes = unsafe source.sixteen(at: position)
                unsafe target.store(bytes, at: position)
                stops |= testSixteen(bytes)
                position &+= 16
            }
            return stops[0] | stops[1]
        }
        if count >= 8 {
            let first = unsafe source.word(at: 0)
            let last = unsafe source.word(at: count &- 8)
            unsafe target.store(first, at: 0)
            unsafe target.store(last, at: count &- 8)
            return test(first) | test(last)
        }
        if count >= 4 {
            let first = unsafe source.half(at: 0)
            let last = unsafe source.half(at: count &- 4)
            unsafe target.store(first, at: 0)
            unsafe target.store(last, at: count &- 4)
            return test(UInt64(first) | UInt64(last) &<< 32)
        }
        var word: UInt64 = 0x6161_6161_6161_6161
        var position = 0
        while position < count {
            let byte = unsafe source[position]
            unsafe target[position] = byte
            word = word &<< 8 | UInt64(byte)
            position &+= 1
        }
        return test(word)
    }

    /// Marks bytes below SP, and DEL.
    @inline(__always)
    private static func controls(_ bytes: Sixteen) -> SIMD2<UInt64> {
        let belowSpace: Sixteen = bytes &- Sixteen(repeating: 0x20)
        let delete: Sixteen = (bytes ^ Sixteen(repeating: 0x7f)) &- Sixteen(repeating: 1)
        let stops: Sixteen = (belowSpace | delete) & ~bytes
        return unsafe unsafeBitCast(stops & Sixteen(repeating: 0x80), to: SIMD2<UInt64>.self)
    }

    @inline(__always)
    private static func controls(_ word: UInt64) -> UInt64 {
        let belowSpace = word &- 0x2020_2020_2020_2020
        let delete = (word ^ 0x7f7f_7f7f_7f7f_7f7f) &- ones
        return (belowSpace | delete) & ~word & highBits
    }

    /// Marks bytes up to SP, DEL, and all that are not ASCII.
    @inline(__always)
    private static func notVisible(_ bytes: Sixteen) -> SIMD2<UInt64> {
        let upToSpace: Sixteen = (bytes &- Sixteen(repeating: 0x21)) | bytes
        let delete: Sixteen = (bytes ^ Sixteen(repeating: 0x7f)) &- Sixteen(repeating: 1)
        let stops: Sixteen = upToSpace | delete
        return unsafe unsafeBitCast(stops & Sixteen(repeating: 0x80), to: SIMD2<UInt64>.self)
    }

    @inline(__always)
    private static func notVisible(_ word: UInt64) -> UInt64 {
        let upToSpace = word &- 0x2121_2121_2121_2121
        let delete = (word ^ 0x7f7f_7f7f_7f7f_7f7f) &- ones
        return (upToSpace | delete | word) & highBits
    }

    /// Marks bytes that are neither an ASCII letter nor a dash. Most field names have none.
    @inline(__always)
    private static func notLetterOrDash(_ bytes: Sixteen) -> SIMD2<UInt64> {
        let lower: Sixteen = bytes | Sixteen(repeating: 0x20)
        let letter: Sixteen = (lower &+ Sixteen(repeating: 0x1f)) & ~(lower &+ Sixteen(repeating: 0x05))
        let low: Sixteen = (bytes ^ Sixteen(repeating: 0x2d)) & Sixteen(repeating: 0x7f)
        let notDash: Sixteen = low &+ Sixteen(repeating: 0x7f)
        let stops: Sixteen = (~letter & notDash) | bytes
        return unsafe unsafeBitCast(stops & Sixteen(repeating: 0x80), to: SIMD2<UInt64>.self)
    }

    /// The sums stay below 256 for ASCII bytes, so they do not carry. The first byte that is not ASCII is
    /// marked anyway.
    @inline(__always)
    private static func notLetterOrDash(_ word: UInt64) -> UInt64 {
        let lower = word | 0x2020_2020_2020_2020
        let letter = (lower &+ 0x1f1f_1f1f_1f1f_1f1f) & ~(lower &+ 0x0505_0505_0505_0505)
        let notDash = ((word ^ 0x2d2d_2d2d_2d2d_2d2d) & ~highBits) &+ ~highBits
        return (~letter & notDash | word) & highBits
    }

    /// Marks bytes that are not a letter, digit, dash, dot or colon. Most hosts have none.
    @inline(__always)
    private static func notUsualInHost(_ bytes: Sixteen) -> SIMD2<UInt64> {
        let lower: Sixteen = bytes | Sixteen(repeating: 0x20)
        let letter: Sixteen = (lower &+ Sixteen(repeating: 0x1f)) & ~(lower &+ Sixteen(repeating: 0x05))
        let digitOrColon: Sixteen = (bytes &+ Sixteen(repeating: 0x50)) & ~(bytes &+ Sixteen(repeating: 0x45))
        let dashOrDot: Sixteen = (bytes &+ Sixteen(repeating: 0x53)) & ~(bytes &+ Sixteen(repeating: 0x51))
        let stops: Sixteen = ~(letter | digitOrColon | dashOrDot) | bytes
        return unsafe unsafeBitCast(stops & Sixteen(repeating: 0x80), to: SIMD2<UInt64>.self)
    }

    @inline(__always)
    private static func notUsualInHost(_ word: UInt64) -> UInt64 {
        let lower = word | 0x2020_2020_2020_2020
        let letter = (lower &+ 0x1f1f_1f1f_1f1f_1f1f) & ~(lower &+ 0x0505_0505_0505_0505)
        let digitOrColon = (word &+ 0x5050_5050_5050_5050) & ~(word &+ 0x4545_4545_4545_4545)
        let dashOrDot = (word &+ 0x5353_5353_5353_5353) & ~(word &+ 0x5151_5151_5151_5151)
        return (~(letter | digitOrColon | dashOrDot) | word) & highBits
    }

    @inline(__always)
    private static func isControl(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == 0x7f
    }

    private static var ones: UInt64 { 0x0101_0101_0101_0101 }
    private static var highBits: UInt64 { 0x8080_8080_8080_8080 }
}

/// Several bytes at once.
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
