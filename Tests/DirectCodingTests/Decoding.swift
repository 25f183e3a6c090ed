@testable import DirectCoding

/// The result of decoding.
enum Decoded: Equatable {
    case content([UInt8])
    /// Some of it may have come out before.
    case fault(CodingError)
    /// The coding is unknown.
    case raw
}

/// Decodes `input`, given in pieces that end at each of `cuts`, or as a whole that is known to be all of it.
func decode(
    _ input: [UInt8],
    _ encodings: [String],
    _ limits: DecodingLimits = DecodingLimits(),
    maximumCodings: Int = 5,
    cutAt cuts: some Sequence<Int> = EmptyCollection()
) -> Decoded {
    do throws(CodingError) {
        guard let codings = try ContentCoding.chain(listedIn: encodings, atMost: maximumCodings) else {
            return .raw
        }
        if codings.isEmpty { return .content(input) }
        let decoder = ContentDecoder(undoing: codings, within: limits)
        var pieces: [ArraySlice<UInt8>] = []
        var start = 0
        for cut in cuts where cut > start && cut < input.count {
            pieces.append(input[start..<cut])
            start = cut
        }
        pieces.append(input[start...])
        let content = try decode(pieces, with: decoder)
        return .content(content)
    } catch {
        return .fault(error)
    }
}

/// Feeds the pieces one by one as they are asked for; the end comes with the last one.
func decode(_ pieces: [ArraySlice<UInt8>], with decoder: ContentDecoder) throws(CodingError) -> [UInt8] {
    var content: [UInt8] = []
    var next = 0
    while true {
        switch try decoder.next() {
        case .piece(let piece):
            precondition(!piece.isEmpty && piece.count <= ContentDecoder.pieceSize)
            content += piece
        case .needsInput:
            precondition(next <= pieces.count, "asks for more than there is")
            if next < pieces.count { decoder.feed(Array(pieces[next])) }
            next += 1
            if next >= pieces.count { decoder.endInput() }
        case .unfinished: break
        case .end: return content
        }
    }
}
