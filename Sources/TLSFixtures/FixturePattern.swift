/// A byte pattern in which each byte depends on its position (position modulo 251), so that lost, repeated
/// and misplaced bytes show.
public enum FixturePattern {
    /// Returns `count` bytes of the pattern, starting at `position`.
    public static func bytes(at position: Int, count: Int) -> [UInt8] {
        let start = position % period
        if start + count <= table.count { return Array(table[start..<start + count]) }
        return (0..<count).map { UInt8((position + $0) % period) }
    }

    /// Whether `bytes` equal the pattern from `position` on.
    public static func matches(_ bytes: Span<UInt8>, at position: Int) -> Bool {
        var expected = position % period
        for index in bytes.indices {
            guard Int(bytes[index]) == expected else { return false }
            expected = expected + 1 == period ? 0 : expected + 1
        }
        return true
    }

    private static let period = 251
    /// Long enough for 64 KiB from any starting position.
    private static let table = (0..<(64 << 10) + period).map { UInt8($0 % period) }
}
