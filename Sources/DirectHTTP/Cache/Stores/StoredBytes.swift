internal import DirectCore
internal import DirectHTTP1

/// Encodes numbers and strings as they are stored in files.
struct StoredBytesWriter {
    private(set) var bytes: [UInt8] = []

    mutating func add<Number: FixedWidthInteger>(_ number: Number) {
        for shift in stride(from: 0, to: Number.bitWidth, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    /// Adds a string, preceded by its length; at most 64 KiB - 1.
    mutating func add(_ text: some Collection<UInt8>) {
        add(UInt16(clamping: text.count))
        bytes += text.prefix(Int(UInt16.max))
    }

    mutating func add(_ digest: Digest128) {
        add(digest.high)
        add(digest.low)
    }
}

/// Decodes what `StoredBytesWriter` has encoded. It trusts no length: a value that is not there is `nil`.
struct StoredBytesReader {
    private let bytes: [UInt8]
    private var position: Int

    init(_ bytes: [UInt8], from start: Int = 0) {
        self.bytes = bytes
        position = start
    }

    var isAtEnd: Bool { position == bytes.count }

    mutating func number<Number: FixedWidthInteger>(_: Number.Type = Number.self) -> Number? {
        let count = Number.bitWidth / 8
        guard bytes.count - position >= count else { return nil }
        var number: Number = 0
        for offset in (0..<count).reversed() {
            number = number << 8 | Number(truncatingIfNeeded: bytes[position + offset])
        }
        position += count
        return number
    }

    mutating func text() -> [UInt8]? {
        guard let count = number(UInt16.self), bytes.count - position >= Int(count) else { return nil }
        defer { position += Int(count) }
        return Array(bytes[position..<position + Int(count)])
    }

    mutating func digest() -> Digest128? {
        guard let high = number(UInt64.self), let low = number(UInt64.self) else { return nil }
        return Digest128(high: high, low: low)
    }
}

/// A checksum that detects accidental changes. It does not stop an attacker: one who can write to the folder
/// can do worse.
enum Checksum {
    static func of(_ bytes: some Collection<UInt8>, seed: UInt64 = 0) -> UInt64 {
        bytes.withContiguousStorageIfAvailable { unsafe sum($0.span, seed: seed) }
            ?? Array(bytes).withSpan { sum($0, seed: seed) }
    }

    private static func sum(_ bytes: Span<UInt8>, seed: UInt64) -> UInt64 {
        var hash = FoldedHash(start: seed ^ 0x9e37_79b9_7f4a_7c15, factor: 0xd6e8_feb8_6659_fd93)
        hash.fold(bytes)
        return hash.value
    }
}
