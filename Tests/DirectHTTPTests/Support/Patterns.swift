import Foundation
import TLSFixtures

/// Whether these are the pattern's bytes from that position on; by `memcmp`, as loops are slow in debug builds.
func isPattern(_ bytes: [UInt8], at position: Int) -> Bool {
    bytes.withUnsafeBytes { bytes in
        var checked = 0
        while checked < bytes.count {
            let count = min(60_000, bytes.count - checked)
            let expected = FixturePattern.bytes(at: position + checked, count: count)
            let part = UnsafeRawBufferPointer(rebasing: bytes[checked..<checked + count])
            guard let start = part.baseAddress, memcmp(start, expected, count) == 0 else { return false }
            checked += count
        }
        return true
    }
}

/// The pattern's bytes from that position on, of any length.
func pattern(at position: Int, count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count {
        bytes += FixturePattern.bytes(at: position + bytes.count, count: min(60_000, count - bytes.count))
    }
    return bytes
}
