internal import DirectCore

extension Charset {
    /// Decodes bytes as the Encoding Standard says: what is invalid becomes U+FFFD. A byte order mark is
    /// decoded like any other character.
    public func decode(_ bytes: [UInt8]) -> String { decode(bytes[...]) }

    func decode(_ bytes: ArraySlice<UInt8>) -> String {
        switch self {
        case .utf8: String(decoding: bytes, as: UTF8.self)
        case .windows1252: Self.windows1252(bytes)
        case .utf16LE: Self.utf16(bytes, low: 0)
        case .utf16BE: Self.utf16(bytes, low: 1)
        case .gb18030: GB18030.decode(bytes)
        }
    }

    /// Decodes a text by its byte order mark, which is removed; `nil` if it has none.
    static func decodeMarked(_ bytes: [UInt8]) -> String? {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return Charset.utf8.decode(bytes.dropFirst(3)) }
        if bytes.starts(with: [0xFE, 0xFF]) { return Charset.utf16BE.decode(bytes.dropFirst(2)) }
        if bytes.starts(with: [0xFF, 0xFE]) { return Charset.utf16LE.decode(bytes.dropFirst(2)) }
        return nil
    }

    private static func windows1252(_ bytes: ArraySlice<UInt8>) -> String {
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count)
        for byte in bytes { units.append(byte &- 0x80 < 0x20 ? c1[Int(byte - 0x80)] : UInt16(byte)) }
        return String(decoding: units, as: UTF16.self)
    }

    /// The characters of windows-1252 from 0x80 to 0x9F. Bytes without a character are control characters.
    private static let c1: [UInt16] = [
        0x20AC, 0x81, 0x201A, 0x192, 0x201E, 0x2026, 0x2020, 0x2021, 0x2C6, 0x2030, 0x160, 0x2039, 0x152,
        0x8D,
        0x17D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x2DC, 0x2122, 0x161,
        0x203A,
        0x153, 0x9D, 0x17E, 0x178,
    ]

    /// - Parameter low: the place of the low byte in each pair.
    private static func utf16(_ bytes: ArraySlice<UInt8>, low: Int) -> String {
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2 + 1)
        var index = bytes.startIndex
        while index + 1 < bytes.endIndex {
            units.append(UInt16(bytes[index + low]) | UInt16(bytes[index + 1 - low]) << 8)
            index += 2
        }
        // Half a unit is an error, but half a pair of surrogates before it is the same one.
        let endsInPair = units.last.map(UTF16.isLeadSurrogate) ?? false
        if index < bytes.endIndex, !endsInPair { units.append(0xFFFD) }
        return String(decoding: units, as: UTF16.self)
    }
}
