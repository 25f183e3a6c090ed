internal import DirectJSON
internal import DirectHTTP1

/// A test of the response reader: the bytes of a response and what the reader must make of them.
struct ResponseVector: TopicVector {
    var head: VectorHead
    let bytes: ResponseBytes
    /// The settings of the reader as they are in the file.
    let settings: (leniency: JSONValue?, limits: JSONValue?)
    /// Every right result. This package's client has the first.
    let answers: [Expectation]
    var expect: Expectation { answers[0] }

    /// The expected results. Values that are `nil` are not compared.
    struct Expectation: Decodable, Sendable {
        var outcome: String
        var status: UInt16?
        var reason: String?
        var version: String?
        private var headerPairs: [Pair<String>]?
        private var trailerPairs: [Pair<String>]?
        var interims: [UInt16]?
        var framing: String?
        var content: [UInt8]?
        var leftover: Int?
        var reuse: String?
        var keepAlive: Pair<UInt32?>?

        var headers: [[String]]? { headerPairs?.map(\.elements) }
        var trailers: [[String]]? { trailerPairs?.map(\.elements) }

        private enum CodingKeys: String, CodingKey {
            case outcome, status, reason, version, headerPairs = "headers", trailerPairs = "trailers",
                interims
            case framing, content, leftover, reuse, keepAlive
        }
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.strict
        head = try VectorHead(from: decoder)
        var bytes = ResponseBytes(input: try members.required("input"))
        bytes.method = try members.optional("method") ?? bytes.method
        bytes.upgrade = try members.optional("upgrade") ?? bytes.upgrade
        bytes.hasCleanEnd = try members.optional("close", as: Close.self).map { $0 == .clean }
        bytes.leniency = try members.optional("leniency") ?? bytes.leniency
        bytes.limits = try members.optional("limits") ?? bytes.limits
        self.bytes = bytes
        settings = (try members.optional("leniency"), try members.optional("limits"))
        answers = try members.required("expect", as: RightAnswers<Expectation>.self).all
    }

    private enum Close: String, Choice {
        case clean, unclean
    }

    /// Reads the bytes whole, byte by byte, and cut in two at every position. Every way must give the same
    /// result.
    func differences() -> [Difference] {
        let whole = bytes.read(cutAt: [])
        let wrong = differences(whole)
        guard wrong.isEmpty else { return wrong }
        let places = 0...bytes.input.count
        guard bytes.read(cutAt: places) == whole else {
            return [Difference(what: "byte by byte", expected: whole.outcome, got: "something else")]
        }
        for cut in places {
            let halves = bytes.read(cutAt: CollectionOfOne(cut))
            guard halves == whole else {
                return [
                    Difference(
                        what: "cut at \(cut)",
                        expected: whole.outcome,
                        got: "\(halves.outcome), or different values"
                    )
                ]
            }
        }
        return []
    }

    /// Compares the transcript with the expectation.
    private func differences(_ got: Transcript) -> [Difference] {
        let head = got.head
        return Difference.between("outcome", expected: expect.outcome, got: got.outcome)
            + Difference.between("status", expected: expect.status, got: head?.status.code)
            + Difference.between("reason", expected: expect.reason, got: head?.reason)
            + Difference.between("version", expected: expect.version, got: head?.version.description)
            + Difference.between(
                "headers",
                expected: expect.headers,
                got: head.map { Self.pairs($0.headers) }
            )
            + Difference.between("trailers", expected: expect.trailers, got: got.trailers.map(Self.pairs))
            + Difference.between("interims", expected: expect.interims, got: got.interims)
            + Difference.between("framing", expected: expect.framing, got: got.framing.label)
            + Difference.between("content", expected: expect.content, got: got.content)
            + Difference.between("leftover", expected: expect.leftover, got: got.leftover)
            + Difference.between("reuse", expected: expect.reuse, got: got.reuse.label)
            + Difference.between(
                "keepAlive",
                expected: expect.keepAlive?.elements,
                got: [got.keepAlive?.timeout, got.keepAlive?.max]
            )
    }

    private static func pairs(_ headers: HTTPHeaders) -> [[String]] {
        headers.map { [$0.name, $0.value] }
    }
}

extension HTTP1Leniency: FromJSON {
    private enum Switch: String, Choice {
        case acceptsBareLineFeeds, acceptsDoubtfulFraming, acceptsBareLineFeedsInChunks,
            acceptsWhitespaceAfterChunkSizes
    }

    /// Reads the list of switches that are on.
    init(_ value: JSONValue) throws(FieldError) {
        self.init()
        for flag in try StrictDecoder.decode([Switch].self, from: value) {
            switch flag {
            case .acceptsBareLineFeeds: acceptsBareLineFeeds = true
            case .acceptsDoubtfulFraming: acceptsDoubtfulFraming = true
            case .acceptsBareLineFeedsInChunks: acceptsBareLineFeedsInChunks = true
            case .acceptsWhitespaceAfterChunkSizes: acceptsWhitespaceAfterChunkSizes = true
            }
        }
    }
}

extension HTTP1Limits: Decodable {
    init(from decoder: any Decoder) throws {
        let members = try decoder.strict
        self.init()
        headBytes = try members.optional("headBytes") ?? headBytes
        lineBytes = try members.optional("lineBytes") ?? lineBytes
        fieldCount = try members.optional("fieldCount") ?? fieldCount
        interimCount = try members.optional("interimCount") ?? interimCount
        chunkExtensionBytes = try members.optional("chunkExtensionBytes") ?? chunkExtensionBytes
        trailerBytes = try members.optional("trailerBytes") ?? trailerBytes
        trailerCount = try members.optional("trailerCount") ?? trailerCount
    }
}

extension HTTPMethod: FromJSON {
    init(_ value: JSONValue) throws(FieldError) { self.init(stringLiteral: try value.bytes().latin1) }
}
