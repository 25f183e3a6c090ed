internal import DirectJSON
internal import DirectHTTP1

/// A test of the response reader: the bytes of a response and what the reader must make of them.
struct ResponseVector: Sendable {
    let head: VectorHead
    let bytes: ResponseBytes
    /// The settings of the reader as they are in the file.
    let settings: (leniency: JSONValue?, limits: JSONValue?)
    let expect: Expectation

    /// The expected results. Values that are `nil` are not compared.
    struct Expectation: Sendable {
        var outcome: String
        var status: UInt16?
        var reason: String?
        var version: String?
        var headers: [[String]]?
        var trailers: [[String]]?
        var interims: [UInt16]?
        var framing: String?
        var content: [UInt8]?
        var leftover: Int?
        var reuse: String?
        var keepAlive: [UInt32?]?
        var otherCodings: Bool?

        init(_ value: JSONValue) throws(FieldError) {
            var fields = try Fields(value)
            outcome = try fields.required("outcome", read: Read.text)
            status = try fields.optional("status", read: Read.integer)
            reason = try fields.optional("reason", read: Read.text)
            version = try fields.optional("version", read: Read.text)
            headers = try fields.optional("headers", read: Read.list(of: Read.pair(of: Read.text)))
            trailers = try fields.optional("trailers", read: Read.list(of: Read.pair(of: Read.text)))
            interims = try fields.optional("interims", read: Read.list(of: Read.integer))
            framing = try fields.optional("framing", read: Read.text)
            content = try fields.optional("content", read: Read.bytes)
            leftover = try fields.optional("leftover", read: Read.integer)
            reuse = try fields.optional("reuse", read: Read.text)
            keepAlive = try fields.optional("keepAlive", read: Read.pair(of: Self.hint))
            otherCodings = try fields.optional("otherCodings", read: Read.flag)
            try fields.end()
        }

        private static func hint(_ value: JSONValue) throws(FieldError) -> UInt32? {
            value.isNull ? nil : try Read.integer(value)
        }
    }

    init(_ head: VectorHead, _ fields: inout Fields) throws(FieldError) {
        self.head = head
        var bytes = ResponseBytes(input: try fields.required("input", read: Read.bytes))
        if let method = try fields.optional("method", read: Read.text) {
            bytes.method = HTTPMethod(stringLiteral: method)
        }
        bytes.upgrade = try fields.optional("upgrade", read: Read.flag) ?? false
        bytes.hasCleanEnd = try fields.optional("close", read: Read.close).map { $0 == .clean }
        let leniency = try fields.optional("leniency", read: Read.anything)
        let limits = try fields.optional("limits", read: Read.anything)
        if let leniency { bytes.leniency = try Read.leniency(leniency) }
        if let limits { bytes.limits = try Read.limits(limits) }
        settings = (leniency, limits)
        self.bytes = bytes
        expect = try fields.required("expect", read: Expectation.init)
    }

    /// Reads the bytes whole, byte by byte, and cut in two at every position. Every way must give the same result.
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
                expected: expect.keepAlive,
                got: [got.keepAlive?.timeout, got.keepAlive?.max]
            )
            + Difference.between("otherCodings", expected: expect.otherCodings, got: got.hasOtherCodings)
    }

    private static func pairs(_ headers: HTTPHeaders) -> [[String]] {
        headers.map { [$0.name, $0.value] }
    }
}

extension Read {
    fileprivate enum Close: String, CaseIterable {
        case clean, unclean
    }

    fileprivate enum Leniency: String, CaseIterable {
        case acceptsBareLineFeeds, unfoldsLines, acceptsDoubtfulFraming, acceptsBareLineFeedsInChunks
    }

    fileprivate static func close(_ value: JSONValue) throws(FieldError) -> Close { try choice(value) }

    /// Reads the list of switches that are on.
    static func leniency(_ value: JSONValue) throws(FieldError) -> HTTP1Leniency {
        let switches: [Leniency] = try list(of: choice)(value)
        var leniency = HTTP1Leniency()
        leniency.acceptsBareLineFeeds = switches.contains(.acceptsBareLineFeeds)
        leniency.unfoldsLines = switches.contains(.unfoldsLines)
        leniency.acceptsDoubtfulFraming = switches.contains(.acceptsDoubtfulFraming)
        leniency.acceptsBareLineFeedsInChunks = switches.contains(.acceptsBareLineFeedsInChunks)
        return leniency
    }

    /// Reads the limits of the reader.
    static func limits(_ value: JSONValue) throws(FieldError) -> HTTP1Limits {
        var limits = HTTP1Limits()
        var fields = try Fields(value)
        for (name, limit) in limitNames {
            if let value: Int = try fields.optional(name, read: integer) { limits[keyPath: limit] = value }
        }
        try fields.end()
        return limits
    }

    private static var limitNames: [(String, WritableKeyPath<HTTP1Limits, Int>)] {
        [
            ("headBytes", \.headBytes), ("lineBytes", \.lineBytes), ("fieldCount", \.fieldCount),
            ("interimCount", \.interimCount), ("chunkExtensionBytes", \.chunkExtensionBytes),
            ("trailerBytes", \.trailerBytes), ("trailerCount", \.trailerCount),
        ]
    }

    /// Returns a reader for a list of exactly two elements.
    static func pair<Element>(
        of read: @escaping (JSONValue) throws(FieldError) -> Element
    ) -> (JSONValue) throws(FieldError) -> [Element] {
        { value throws(FieldError) in
            let pair = try list(of: read)(value)
            guard pair.count == 2 else { throw value.wrong("a pair") }
            return pair
        }
    }
}
