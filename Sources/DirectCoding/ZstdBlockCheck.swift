#if Zstd
/// Follows the structure of zstd frames in parallel with libzstd, to refuse what it overlooks, at least up to
/// version 1.5.4: bytes after a block that has no sequences, if the number of sequences is encoded as zero in
/// two bytes (RFC 8878, section 3.1.1.3.2.1), and, if an empty block is the last one, content of another size
/// than the frame has announced (section 3.1.1.1.4).
struct ZstdBlockCheck {
    private enum Place {
        case frameHeader
        case contentSize
        case blockHeader
        case literalsHeader
        case sequencesHeader
    }

    private var place = Place.frameHeader
    /// The number of bytes to skip before the next header.
    private var skipped: UInt64 = 0
    /// The bytes of the next header so far, as a number, the first byte lowest.
    private var held: UInt64 = 0
    private var heldCount = 0
    private var hasChecksum = false
    /// The size of the content of the last frame, as its header says; `nil` if it says nothing.
    private(set) var announced: UInt64?
    /// The number of bytes of that size in the header.
    private var sizeLength = 0
    private var isLastBlock = false
    /// The number of bytes left in a compressed block.
    private var left: UInt64 = 0

    /// Checks bytes that libzstd has consumed.
    mutating func add(_ bytes: UnsafeRawBufferPointer) throws(CodingError) {
        var position = 0
        while position < bytes.count {
            if skipped > 0 {
                let count = min(skipped, UInt64(bytes.count - position))
                skipped -= count
                position += Int(count)
                continue
            }
            held |= UInt64(bytes[position]) << (8 * heldCount)
            heldCount += 1
            position += 1
            switch place {
            case .frameHeader: readFrameHeader()
            case .contentSize: readContentSize()
            case .blockHeader: readBlockHeader()
            case .literalsHeader: try readLiteralsHeader()
            case .sequencesHeader: try readSequencesHeader()
            }
        }
    }

    private mutating func go(to place: Place, over count: UInt64 = 0) {
        self.place = place
        skipped = count
        (held, heldCount) = (0, 0)
    }

    /// Reads a frame header (section 3.1.1.1), or a skippable frame's (section 3.1.2).
    private mutating func readFrameHeader() {
        announced = nil
        if heldCount == 8, held & 0xFFFF_FFF0 == 0x184D_2A50 { return go(to: .frameHeader, over: held >> 32) }
        guard heldCount == 5, held & 0xFFFF_FFF0 != 0x184D_2A50 else { return }
        let descriptor = UInt8(truncatingIfNeeded: held >> 32)
        let isSingleSegment = descriptor & 0x20 != 0
        hasChecksum = descriptor & 4 != 0
        var rest: UInt64 = isSingleSegment ? 0 : 1
        rest += [0, 1, 2, 4][Int(descriptor & 3)]
        sizeLength = [isSingleSegment ? 1 : 0, 2, 4, 8][Int(descriptor >> 6)]
        go(to: sizeLength > 0 ? .contentSize : .blockHeader, over: rest)
    }

    /// Reads the size of the content (section 3.1.1.1.4).
    private mutating func readContentSize() {
        guard heldCount == sizeLength else { return }
        announced = held &+ (sizeLength == 2 ? 256 : 0)
        go(to: .blockHeader)
    }

    /// Reads a block header (section 3.1.1.2).
    private mutating func readBlockHeader() {
        guard heldCount == 3 else { return }
        isLastBlock = held & 1 != 0
        let size = held >> 3
        switch held >> 1 & 3 {
        case 0: endBlock(over: size)
        case 1: endBlock(over: 1)
        default:
            left = size
            go(to: .literalsHeader)
        }
    }

    /// Reads the header of the literals section (section 3.1.1.3.1.1).
    private mutating func readLiteralsHeader() throws(CodingError) {
        let form = held >> 2 & 3
        let isCoded = held & 2 != 0
        let length = isCoded ? [3, 3, 4, 5][Int(form)] : [1, 2, 1, 3][Int(form)]
        guard heldCount == length else { return }
        let size: UInt64 =
            switch (isCoded, form) {
            case (true, 0), (true, 1): held >> 14 & 0x3FF
            case (true, 2): held >> 18 & 0x3FFF
            case (true, _): held >> 22 & 0x3FFFF
            // One literal, repeated.
            case (false, _) where held & 1 != 0: 1
            case (false, 0), (false, 2): held >> 3
            case (false, _): held >> 4
            }
        try take(UInt64(length) + size)
        go(to: .sequencesHeader, over: size)
    }

    /// Reads the number of sequences (section 3.1.1.3.2.1).
    private mutating func readSequencesHeader() throws(CodingError) {
        // From 128 on, the number has a second byte.
        if heldCount == 1, held == 0x80 { return try take(1) }
        try take(1)
        let isNone = heldCount == 1 ? held == 0 : held == 0x80
        guard !isNone || left == 0 else { throw Self.fault }
        endBlock(over: left)
    }

    private mutating func take(_ count: UInt64) throws(CodingError) {
        guard left >= count else { throw Self.fault }
        left -= count
    }

    private mutating func endBlock(over count: UInt64) {
        guard isLastBlock else { return go(to: .blockHeader, over: count) }
        go(to: .frameHeader, over: count + (hasChecksum ? 4 : 0))
    }

    private static let fault = CodingError.corrupt(.zstd, detail: "a block is longer than its contents")
}
#endif
