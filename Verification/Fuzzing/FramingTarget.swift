import DirectHTTP1

extension FuzzTarget {
    /// The framing of responses with any fields of Transfer-Encoding, each with any list of codings, also
    /// over several lines.
    ///
    /// - The content is framed as a simple reading of RFC 9112, sections 6.1 to 6.3, says for a client that
    ///   sends no TE, or the response is refused.
    /// - Content that is reported whole is what the grammar of section 7.1, or the length, makes of the
    ///   bytes: nothing that was cut off within a chunk.
    /// - A response that has no content has none, whatever is listed.
    static let framing = FuzzTarget(name: "framing") { choices in
        let response = FramedResponse(&choices)
        let reading = FramedReading(response)
        guard response.hasContent else {
            require(reading.content.isEmpty, "a response without content has none")
            guard let framing = reading.framing else { return }
            requireEqual(framing, .none, "no framing without content")
            return
        }
        requireEqual(reading.framing, response.framing, "the codings and the length decide")
        guard reading.isWhole else { return }
        requireEqual(reading.content, response.wholeContent, "only whole content is whole")
    }
}

/// A response whose head has only fields that frame it.
private struct FramedResponse {
    let leniency: HTTP1Leniency
    let isHead: Bool
    private let version: String
    private let status: String
    private let length: UInt64?
    private let codings: [[UInt8]]
    /// Whether each list goes on in a new line behind its commas (RFC 9112, section 5.2).
    private let isFolded: Bool
    private let body: [UInt8]

    init(_ choices: inout Choices) {
        var leniency = HTTP1Leniency()
        leniency.acceptsDoubtfulFraming = choices.flag()
        self.leniency = leniency
        isHead = choices.number(below: 8) == 7
        version = choices.pick(["1.0", "1.1"])
        length = choices.pick([nil, 5, 0])
        status = choices.pick(["200", "200", "204", "304", "500"])
        isFolded = choices.flag()
        let texts = choices.texts()
        body = texts[texts.count - 1]
        // The bytes that a value may have: what it must not have is the target of others.
        codings = texts.dropLast().map { $0.filter(isTextByte) }
    }

    var hasContent: Bool { !isHead && status != "204" && status != "304" }

    /// The head, and the bytes behind it.
    var bytes: [UInt8] {
        var bytes = Array("HTTP/\(version) \(status) OK\r\n".utf8)
        for coding in codings {
            bytes +=
                Array("Transfer-Encoding:".utf8) + (isFolded ? Self.folded(coding) : coding)
                + Array("\r\n".utf8)
        }
        if let length { bytes += Array("Content-Length: \(length)\r\n".utf8) }
        return bytes + Array("\r\n".utf8) + body
    }

    /// `nil` if the response has to be refused.
    var framing: ResponseFraming? {
        let byLength = length.map { $0 == 0 ? ResponseFraming.none : .length($0) } ?? .untilClose
        guard !codings.isEmpty else { return byLength }
        let comma = UInt8(ascii: ",")
        // A folded field that frames the content is refused.
        guard !isFolded || !codings.contains(where: { $0.contains(comma) }) else { return nil }
        let lists = codings.map(Self.names)
        // A field without a coding says nothing that could be meant.
        guard lists.allSatisfy({ !$0.isEmpty }) else { return nil }
        let names = Array(lists.joined())
        if names == ["chunked"], version == "1.1", length == nil { return .chunked }
        guard leniency.acceptsDoubtfulFraming else { return nil }
        // In RFC 2616, section 3.6, identity was no coding; behind chunked it is not known to old servers.
        let applied = names.drop { $0 == "identity" }
        guard applied.allSatisfy({ $0 == "chunked" }) else { return nil }
        return applied.isEmpty ? byLength : .chunked
    }

    /// The content if all of it is there.
    var wholeContent: [UInt8]? {
        switch framing {
        case .chunked:
            var chunks = SimpleChunks(body)
            return chunks.body()
        case .length(let length): return body.count < length ? nil : Array(body.prefix(Int(length)))
        case .untilClose: return body
        case .some(.none): return []
        case .tunnel, nil: return nil
        }
    }

    /// The elements of a list without the empty ones (RFC 9110, section 5.6.1.2), in lower case.
    private static func names(_ value: [UInt8]) -> [String] {
        value.split(separator: UInt8(ascii: ",")).map { element in
            let trimmed = element.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
            return Array(trimmed).lowered.text
        }
        .filter { !$0.isEmpty }
    }

    private static func folded(_ list: [UInt8]) -> [UInt8] {
        list.flatMap { $0 == UInt8(ascii: ",") ? Array(",\r\n\t".utf8) : [$0] }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

/// What the reader makes of a response, and a clean end behind it.
private struct FramedReading {
    /// `nil` if the head is refused.
    private(set) var framing: ResponseFraming?
    private(set) var content: [UInt8] = []
    private(set) var isWhole = false

    init(_ response: FramedResponse) {
        var reader = ResponseReader(leniency: response.leniency)
        reader.begin(response.isHead ? .head : .get)
        var rest = response.bytes[...]
        do throws(HTTP1Error) {
            while try step(of: &reader, &rest) {}
            if case .end = try reader.endOfInput(clean: true) { isWhole = true }
        } catch {}
    }

    private mutating func step(
        of reader: inout ResponseReader,
        _ rest: inout ArraySlice<UInt8>
    ) throws(HTTP1Error) -> Bool {
        let step = try reader.next(rest.span)
        let used = Array(rest.prefix(step.used))
        rest = rest.dropFirst(step.used)
        switch step.event {
        case .needsMore, .end: return false
        case .content(let range): content += used[range]
        case .head: framing = reader.framing
        case .interim, .trailers: break
        }
        return true
    }
}
