import DirectCoding

extension FuzzTarget {
    /// One target for each content coding of this build, and one for chains of several.
    ///
    /// - Whether the input is decoded, and its content, do not depend on the cuts. How much content is handed
    ///   out before an error does, and so does which error it is, if there are several.
    /// - No limit is exceeded by what is handed out, and no call does more than its share of work.
    static let codings: [FuzzTarget] =
        ContentCoding.available.map { coding in
            FuzzTarget(name: coding.name) { choices in checkDecoding([coding], with: &choices) }
        } + [
            FuzzTarget(name: "coding-chain") { choices in
                let count = 2 + choices.number(below: 3)
                checkDecoding((0..<count).map { _ in choices.pick(ContentCoding.available) }, with: &choices)
            }
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
