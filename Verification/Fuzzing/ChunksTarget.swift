@testable import DirectHTTP1

extension FuzzTarget {
    /// The decoder of the chunked coding, and the writer of chunk heads.
    ///
    /// - It accepts exactly the bodies that a simple parser of RFC 9112, section 7.1, accepts, extensions
    ///   included, and finds the same content; with leniency for blanks after sizes also those that have
    ///   some.
    /// - The result does not depend on the cuts.
    /// - Content that is written in chunks of any size is read back unchanged.
    static let chunks = FuzzTarget(name: "chunks") { choices in
        let leniency = HTTP1Leniency(chunks: choices.number(below: 4))
        let cuts = choices.cuts(of: 1024)
        let sizes = (0..<4).map { _ in 1 + choices.number(below: 300) }
        let input = choices.rest()
        let whole = DecodedChunks(input, cutAt: [], leniency)
        requireEqual(whole, DecodedChunks(input, cutAt: cuts, leniency), "cuts do not matter")
        requireEqual(
            whole,
            DecodedChunks(input, cutAt: Array(input.indices), leniency),
            "byte by byte is the same"
        )
        if leniency == HTTP1Leniency() {
            require(!whole.isDoubtful, "nothing is doubtful without leniency")
        }
        if !leniency.acceptsBareLineFeedsInChunks {
            var simple = SimpleChunks(input, allowsBlanks: leniency.acceptsWhitespaceAfterChunkSizes)
            requireEqual(whole.body, simple.body(), "the grammar decides")
        }
        requireEqual(
            DecodedChunks(chunked(input, sizes: sizes), cutAt: cuts, HTTP1Leniency()).body,
            input,
            "round trip"
        )
    }
}

/// Returns the content in chunks of these sizes, used one after the other.
private func chunked(_ content: [UInt8], sizes: [Int]) -> [UInt8] {
    var (bytes, rest, turn) = ([UInt8](), content[...], 0)
    while !rest.isEmpty {
        let chunk = rest.prefix(sizes[turn % sizes.count])
        let head = [UInt8](unsafeUninitializedCapacity: RequestWriter.chunkHeadSizeBound) { memory, count in
            count = RequestWriter.writeChunkHead(
                size: chunk.count,
                into: UnsafeMutableRawBufferPointer(memory)
            )
        }
        bytes += head + chunk + RequestWriter.chunkEnd
        rest = rest.dropFirst(chunk.count)
        turn += 1
    }
    return bytes + Array("0\r\n".utf8)
}

/// What the decoder makes of a body.
private struct DecodedChunks: Equatable {
    private var content: [UInt8] = []
    private var isComplete = false
    private var fault: HTTP1Error?
    private(set) var isDoubtful = false

    init(_ input: [UInt8], cutAt cuts: [Int], _ leniency: HTTP1Leniency) {
        var decoder = ChunkDecoder(leniency: leniency)
        var position = 0
        do throws(HTTP1Error) {
            for end in cuts.filter({ $0 < input.count }) + [input.count] where !isComplete {
                try decode(with: &decoder, input, position: &position, to: end)
            }
        } catch {
            fault = error
        }
        isDoubtful = decoder.isDoubtful
    }

    private mutating func decode(
        with decoder: inout ChunkDecoder,
        _ input: [UInt8],
        position: inout Int,
        to end: Int
    ) throws(HTTP1Error) {
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: max(1, end))
        defer { memory.deallocate() }
        memory.initialize(from: input, count: end)
        while true {
            switch try decoder.next(memory, position: &position, count: end, extensionLimit: 1 << 20) {
            case .needsMore:
                requireEqual(position, end, "all bytes are used before more are asked for")
                return
            case .content(let range):
                require(!range.isEmpty && range.upperBound == position, "content ends at the position")
                content += input[range]
            case .lastChunk:
                isComplete = true
                return
            }
        }
    }

    /// The content if the body is complete.
    var body: [UInt8]? { isComplete ? content : nil }
}

extension HTTP1Leniency {
    /// Whether a bare LF, and whether blanks after sizes are accepted, as the lowest two bits.
    fileprivate init(chunks bits: Int) {
        self.init()
        acceptsBareLineFeedsInChunks = bits & 1 != 0
        acceptsWhitespaceAfterChunkSizes = bits & 2 != 0
    }
}

/// The grammar of RFC 9112, section 7.1, read from the start of a complete body.
struct SimpleChunks {
    private var rest: ArraySlice<UInt8>
    /// Whether a size may have blanks behind it, which are not in the grammar.
    private let allowsBlanks: Bool

    init(_ input: [UInt8], allowsBlanks: Bool = false) {
        rest = input[...]
        self.allowsBlanks = allowsBlanks
    }

    /// The content up to the size line of the last chunk; `nil` if the body is wrong or incomplete.
    mutating func body() -> [UInt8]? {
        var content: [UInt8] = []
        while let size = size(), takeBlanks(), takeExtensions(), take("\r\n") {
            if size == 0 { return content }
            guard rest.count >= size else { return nil }
            content += rest.prefix(size)
            rest = rest.dropFirst(size)
            guard take("\r\n") else { return nil }
        }
        return nil
    }

    /// At most 16 digits, and at most 2^63 - 1.
    private mutating func size() -> Int? {
        let digits = rest.prefix { Character(Unicode.Scalar($0)).isHexDigit && $0 < 128 }
        rest = rest[digits.endIndex...]
        guard digits.count <= 16 else { return nil }
        return Int(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    private mutating func takeBlanks() -> Bool {
        if allowsBlanks { skipBlanks() }
        return true
    }

    private mutating func takeExtensions() -> Bool {
        while true {
            let start = rest
            skipBlanks()
            guard take(";") else {
                rest = start
                return true
            }
            skipBlanks()
            guard takeToken() else { return false }
            guard takeValue() else { return false }
        }
    }

    /// `[ BWS "=" BWS ( token / quoted-string ) ]`
    private mutating func takeValue() -> Bool {
        let start = rest
        skipBlanks()
        guard take("=") else {
            rest = start
            return true
        }
        skipBlanks()
        return rest.first == 0x22 ? takeQuoted() : takeToken()
    }

    private mutating func takeQuoted() -> Bool {
        rest = rest.dropFirst()
        while let byte = rest.popFirst(), isTextByte(byte) {
            if byte == 0x22 { return true }
            guard byte == 0x5C else { continue }
            guard let escaped = rest.popFirst(), isTextByte(escaped) else { return false }
        }
        return false
    }

    private mutating func takeToken() -> Bool {
        let token = rest.prefix(while: isTokenByte)
        rest = rest[token.endIndex...]
        return !token.isEmpty
    }

    private mutating func skipBlanks() {
        rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
    }

    private mutating func take(_ text: String) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }
}
