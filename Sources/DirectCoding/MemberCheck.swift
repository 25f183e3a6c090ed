internal import CDirectZlib

/// The CRC and the length of a gzip member (RFC 1952, section 2.3.1), computed outside zlib where this
/// processor has instructions that make it faster than zlib.
struct MemberCheck {
    /// Whether this processor computes the CRC faster than zlib.
    static let isFaster = direct_crc_folds() != 0

    private var crc: UInt32 = 0
    private var count: UInt32 = 0
    /// The last eight bytes of the member seen so far, the last one highest. At the member's end they are its
    /// CRC and length.
    private var trailer: UInt64 = 0

    /// Adds inflated bytes, and the input that they came from.
    mutating func add(_ made: UnsafeRawBufferPointer, from used: UnsafeRawBufferPointer) {
        if let bytes = made.baseAddress, !made.isEmpty {
            crc = direct_crc(crc, bytes.assumingMemoryBound(to: UInt8.self), made.count)
            count &+= UInt32(truncatingIfNeeded: made.count)
        }
        for byte in used.suffix(8) { trailer = trailer >> 8 | UInt64(byte) << 56 }
    }

    /// Compares CRC and length with the member's trailer. The errors have zlib's wording.
    func finish() throws(CodingError) {
        guard UInt32(truncatingIfNeeded: trailer) == crc else {
            throw .corrupt(.gzip, detail: "incorrect data check")
        }
        guard trailer >> 32 == count else { throw .corrupt(.gzip, detail: "incorrect length check") }
    }
}
