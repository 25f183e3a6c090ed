import DirectCoding
import DirectTestData

extension FuzzTarget {
    /// One target for each content coding of this build, and one for chains of several.
    ///
    /// - Whether the input is decoded, and its content, do not depend on the cuts. How much content is handed
    ///   out before an error does, and so does which error it is, if there are several.
    /// - No limit is exceeded by what is handed out, and no call does more than its share of work.
    /// - What zlib compresses is decoded to the same content; no wrong bit behind its header changes it.
    static let codings: [FuzzTarget] =
        ContentCoding.available.map { coding in
            FuzzTarget(name: coding.name) { choices in checkDecoding([coding], with: &choices) }
        } + [
            FuzzTarget(name: "coding-chain") { choices in
                let count = 2 + choices.number(below: 3)
                checkDecoding((0..<count).map { _ in choices.pick(ContentCoding.available) }, with: &choices)
            },
            FuzzTarget(name: "coding-damage") { choices in checkDamage(&choices) },
        ]
}

private func checkDecoding(_ codings: [ContentCoding], with choices: inout Choices) {
    var limits = DecodingLimits(size: 1 << 20, ratio: nil, inputWithoutOutput: nil)
    if choices.flag() { limits.size = UInt64(choices.number(below: 4096)) }
    let cuts = choices.cuts(of: 4096)
    let input = choices.rest()
    let whole = Decoded(input, codings, limits, cutAt: [])
    whole.requireLike(Decoded(input, codings, limits, cutAt: cuts), rule: "cuts do not matter")
    if input.count <= 256 {
        whole.requireLike(Decoded(input, codings, limits, cutAt: Array(input.indices)), rule: "byte by byte")
    }
    let rated = DecodingLimits(size: nil, ratio: 20, unratedSize: 1000, inputWithoutOutput: 100)
    let bounded = Decoded(input, codings, rated, cutAt: cuts)
    // The piece that exceeds the ratio is not handed out.
    require(bounded.content.count <= max(1000, 20 * input.count), "the limit of the ratio")
}

private func checkDamage(_ choices: inout Choices) {
    let (bits, coding) = choices.pick([(Int32(31), ContentCoding.gzip), (Int32(15), ContentCoding.deflate)])
    let place = choices.number(below: 65536)
    let bit = UInt8(choices.number(below: 8))
    let cuts = choices.cuts(of: 4096)
    let content = choices.rest()
    var coded = deflated(content, windowBits: bits)
    let limits = DecodingLimits()
    let whole = Decoded(coded, [coding], limits, cutAt: cuts)
    require(whole.isComplete && whole.content == content, "what was compressed is decoded")
    // Without a zlib header it is bare deflated data, which has no check.
    let first = coding == .deflate ? 2 : 0
    coded[first + place % (coded.count - first)] ^= 1 << bit
    let damaged = Decoded(coded, [coding], limits, cutAt: cuts)
    guard damaged.isComplete, damaged.content != content else { return }
    // The sums of little content are small numbers, and often the same.
    let isUnnoticeable = coding == .deflate && adler32(damaged.content) == adler32(content)
    require(isUnnoticeable, "a wrong bit never gives other content")
}

/// The check of the zlib format (RFC 1950, section 9).
private func adler32(_ bytes: [UInt8]) -> UInt32 {
    var (low, high): (UInt32, UInt32) = (1, 0)
    for byte in bytes {
        low = (low + UInt32(byte)) % 65521
        high = (high + low) % 65521
    }
    return high << 16 | low
}

/// What the decoder makes of an input.
private struct Decoded {
    private(set) var content: [UInt8] = []
    private(set) var isComplete = false
    private var hasFailed = false

    init(_ input: [UInt8], _ codings: [ContentCoding], _ limits: DecodingLimits, cutAt cuts: [Int]) {
        let decoder = ContentDecoder(undoing: codings, within: limits)
        var pieces = input.pieces(cutAt: cuts)[...]
        do throws(CodingError) {
            while !isComplete { try step(decoder, feeding: &pieces) }
        } catch {
            hasFailed = true
        }
        if let size = limits.size { require(content.count <= size, "the limit of size") }
        require(isComplete != hasFailed, "an end or an error")
    }

    func requireLike(_ other: Decoded, rule: String) {
        requireEqual(isComplete, other.isComplete, rule)
        if isComplete { return requireEqual(content, other.content, rule) }
        let count = min(content.count, other.content.count)
        require(content.prefix(count) == other.content.prefix(count), "the same content before an error")
    }

    private mutating func step(
        _ decoder: ContentDecoder,
        feeding pieces: inout ArraySlice<[UInt8]>
    ) throws(CodingError) {
        switch try decoder.next() {
        case .piece(let piece):
            require(!piece.isEmpty && piece.count <= ContentDecoder.pieceSize, "a piece has bytes")
            content += piece
        case .needsInput:
            if let piece = pieces.popFirst() { decoder.feed(piece) }
            if pieces.isEmpty { decoder.endInput() }
        case .unfinished: break
        case .end: isComplete = true
        }
        require(decoder.lastWork <= 16 * ContentDecoder.pieceSize, "a bounded share of work")
    }
}
