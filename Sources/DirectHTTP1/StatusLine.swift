/// Checks the part of a status line that has a fixed shape: `HTTP/1.x NNN`, and the byte after it.
enum StatusLine {
    /// The number of bytes before the space that precedes the reason phrase.
    static let prefixCount = 12

    /// Whether the line begins correctly; false if more bytes are needed to tell. Throws for the first wrong
    /// byte.
    @inline(__always)
    static func check(_ base: UnsafePointer<UInt8>, count: Int) throws(HTTP1Error) -> Bool {
        if unsafe count > prefixCount && looksRight(base) { return true }
        return try unsafe checkByByte(base, count: count)
    }

    @inline(__always)
    static func code(_ base: UnsafePointer<UInt8>) -> UInt16 {
        unsafe UInt16(base[9] &- 0x30) &* 100 &+ UInt16(base[10] &- 0x30) &* 10 &+ UInt16(base[11] &- 0x30)
    }

    @inline(__always)
    private static func looksRight(_ base: UnsafePointer<UInt8>) -> Bool {
        // "HTTP/1.1", or with the lowest bit of the last byte cleared, "HTTP/1.0".
        guard unsafe base.word(at: 0) & ~(1 &<< 56) == 0x302e_312f_5054_5448 else { return false }
        return unsafe base[8] == .space && base[9] &- 0x31 < 9 && base[10] &- 0x30 < 10
            && base[11] &- 0x30 < 10
            && (base[12] == .space || base[12] == .carriageReturn)
    }

    @inline(never)
    private static func checkByByte(_ base: UnsafePointer<UInt8>, count: Int) throws(HTTP1Error) -> Bool {
        for position in 0..<min(count, prefixCount + 1) {
            if let fault = unsafe fault(of: base[position], at: position) { throw fault }
        }
        return count > prefixCount
    }

    private static func fault(of byte: UInt8, at position: Int) -> HTTP1Error? {
        let slash: StaticString = "HTTP/"
        switch position {
        case 0..<5: return unsafe byte == slash.utf8Start[position] ? nil : .notHTTP
        case 5: return byte == 0x31 ? nil : .unsupportedVersion
        case 6: return byte == 0x2e ? nil : .unsupportedVersion
        // A later minor version is read like HTTP/1.1 (RFC 9110, section 6.2).
        case 7: return byte.digit != nil ? nil : .unsupportedVersion
        case 8: return byte == .space ? nil : .malformedStatusLine
        case 9: return (0x31...0x39).contains(byte) ? nil : .malformedStatusCode
        case 10, 11: return byte.digit != nil ? nil : .malformedStatusCode
        default:
            return byte == .space || byte == .carriageReturn || byte == .lineFeed ? nil : .malformedStatusCode
        }
    }
}
