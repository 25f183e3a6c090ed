/// Decodes `deflate`: the zlib format (RFC 1950), as RFC 9110 defines it, or the bare deflated data (RFC
/// 1951) that some servers send instead.
///
/// The first two bytes decide which it is, before there is any output: a zlib header is a multiple of 31, and
/// the lower half of its first byte is 8. Bare deflated data can only begin like that with a stored block
/// whose padding is not zero.
final class DeflateDecoder: StreamDecoder {
    private var inflater: Inflater?
    /// The first byte, if it came alone and may begin a zlib header.
    private var held: UInt8?
    private(set) var isAtEnd = false

    func decode(
        _ input: UnsafeRawBufferPointer,
        isLast: Bool,
        into room: UnsafeMutableRawBufferPointer
    ) throws(CodingError) -> DecodingProgress {
        guard !input.isEmpty || inflater != nil else { return DecodingProgress() }
        if isAtEnd {
            guard input.isEmpty else { throw .trailingBytes(.deflate) }
            return DecodingProgress()
        }
        guard let inflater else { return try begin(input, isLast: isLast, into: room) }
        let step = try inflater.inflate(input, isLast: isLast, into: room)
        if step.hasEnded {
            isAtEnd = true
            guard step.progress.used == input.count else { throw .trailingBytes(.deflate) }
        }
        return step.progress
    }

    private func begin(
        _ input: UnsafeRawBufferPointer,
        isLast: Bool,
        into room: UnsafeMutableRawBufferPointer
    ) throws(CodingError) -> DecodingProgress {
        if held == nil, input.count == 1, Self.mayBeginHeader(input[0]) {
            held = input[0]
            return DecodingProgress(used: 1)
        }
        let first = held ?? input[0]
        let second = held == nil ? input.dropFirst().first : input[0]
        let isHeader = second.map { Self.isHeader(first, second: $0) } ?? false
        let inflater = try Inflater(isHeader ? .zlib : .raw, for: .deflate)
        if let held {
            // One byte has no output, except that it has no room to write to either.
            let one = try withUnsafeBytes(of: held) { byte throws(CodingError) in
                try inflater.inflate(byte, isLast: false, into: room)
            }
            guard one.progress.used == 1, one.progress.made == 0, !one.hasEnded else {
                throw .corrupt(.deflate, detail: "invalid")
            }
        }
        self.inflater = inflater
        held = nil
        return try decode(input, isLast: isLast, into: room)
    }

    private static func mayBeginHeader(_ byte: UInt8) -> Bool {
        byte & 0x0F == 8 && byte >> 4 <= 7
    }

    private static func isHeader(_ first: UInt8, second: UInt8) -> Bool {
        mayBeginHeader(first) && (Int(first) << 8 | Int(second)) % 31 == 0
    }
}
