internal import CDirectZlib

/// The CRC and the length of a gzip member (RFC 1952, section 2.3.1), reckoned beside zlib where this processor
/// is faster at it than zlib.
struct MemberCheck {
    static let isFaster = direct_crc_folds() != 0

    private var crc: UInt32 = 0
    private var count: UInt32 = 0
    /// The last eight bytes of the member that have been seen, the last one in front: CRC and length, at its end.
    private var trailer: UInt64 = 0

    /// Takes notice of what was inflated, and of what it came from.
    mutating func add(_ made: UnsafeRawBufferPointer, from used: UnsafeRawBufferPointer) {
        if let bytes = made.baseAddress, !made.isEmpty {
            crc = direct_crc(crc, bytes.assumingMemoryBound(to: UInt8.self), made.count)
            count &+= UInt32(truncatingIfNeeded: made.count)
        }
        for byte in used.suffix(8) { trailer = trailer >> 8 | UInt64(byte) << 56 }
    }

    /// Compares, in zlib's words.
    func finish() throws(CodingError) {
        guard UInt32(truncatingIfNeeded: trailer) == crc else {
            throw .corrupt(.gzip, detail: "incorrect data check")
        }
        guard trailer >> 32 == count else { throw .corrupt(.gzip, detail: "incorrect length check") }
    }
}
