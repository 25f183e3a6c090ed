import Foundation
import TLSFixtures

/// Whether these are the pattern's bytes from that position on; by `memcmp`, as loops are slow in debug
/// builds.
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

/// Answers with the number of the body's bytes, how they were framed, and whether they are the pattern's.
let patternJudge: FixtureHandler = { request in
    let framing = request.headers["transfer-encoding"] ?? request.headers["content-length"] ?? "none"
    var count = 0
    var isRight = true
    try request.readBody { piece in
        isRight = isRight && FixturePattern.matches(piece, at: count)
        count += piece.count
    }
    return .text("\(count) \(framing) \(isRight)")
}
