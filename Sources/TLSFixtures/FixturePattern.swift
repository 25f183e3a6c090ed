/// Bytes that tell by themselves where they belong: position modulo 251.
public enum FixturePattern {
    /// The bytes from that position on.
    public static func bytes(at position: Int, count: Int) -> [UInt8] {
        let start = position % period
        if start + count <= table.count { return Array(table[start..<start + count]) }
        return (0..<count).map { UInt8((position + $0) % period) }
    }

    /// Whether the bytes are the pattern's from that position on.
    public static func matches(_ bytes: Span<UInt8>, at position: Int) -> Bool {
        var expected = position % period
        for index in bytes.indices {
            guard Int(bytes[index]) == expected else { return false }
            expected = expected + 1 == period ? 0 : expected + 1
        }
        return true
    }

    private static let period = 251
    /// Long enough for a piece of 64 KiB from any position.
    private static let table = (0..<(64 << 10) + period).map { UInt8($0 % period) }
}
