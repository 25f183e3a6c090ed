internal import DirectHTTP
internal import DirectJSON

/// A test of the cache: requests in turn, the origin's answer to each, and what the cache must do.
struct CacheVector: Sendable {
    /// A request, and the origin's answer in case it is asked.
    struct Exchange: Sendable {
        /// The time of the request in seconds after ``CacheVector/start``.
        var time: Int64
        var method: String
        /// The URL, relative to `https://a.example/`.
        var url: String
        var fields: [(name: String, value: String)]
        var body: String?
        /// The protocols in the request's Upgrade field.
        var upgrade: [String]
        /// Header fields that an interceptor between cache and origin sets in the request.
        var added: [(name: String, value: String)]
        var origin: Origin
        /// The time that the origin takes to answer, in seconds.
        var delay: Int64
    }

    /// The origin's behaviour.
    enum Origin: Sendable {
        case answers(status: Int, fields: [(name: String, value: String)], body: String)
        /// The origin cannot be reached.
        case isUnreachable
    }

    /// The response that the caller must get, and the request that the origin must see. Values that are `nil` are
    /// not compared.
    struct Answer: Sendable {
        var use: String
        var status: Int?
        var body: String?
        /// Header fields with their required values. `nil` means that the field must be absent.
        var fields: [(name: String, value: String?)]
        /// Whether the origin must be asked.
        var isAsked: Bool?
        /// Header fields of the request to the origin, in the same form.
        var sent: [(name: String, value: String?)]
    }

    let head: VectorHead
    let exchanges: [Exchange]
    let answers: [Answer]
    /// The time for which the cache may use stale responses if the origin cannot be reached, in seconds.
    let staleWhenUnreachable: Int64?

    init(_ head: VectorHead, _ fields: inout Fields) throws(FieldError) {
        self.head = head
        staleWhenUnreachable = try fields.optional("staleWhenUnreachable", read: Read.integer)
        let exchanges = try fields.required("exchanges", read: Read.list(of: Exchange.init))
        let line = fields.line
        answers = try fields.required("expect") { value throws(FieldError) in
            var fields = try Fields(value)
            let answers = try fields.required("answers", read: Read.list(of: Answer.init))
            try fields.end()
            return answers
        }
        self.exchanges = exchanges
        guard answers.count == exchanges.count else {
            throw FieldError(line: line, what: "\(exchanges.count) exchanges and \(answers.count) answers")
        }
    }

    /// The time at which every vector begins. Dates in vectors are relative to it.
    static let start = UnixTime(seconds: 1_800_000_000)
}

extension CacheVector.Exchange {
    fileprivate init(_ value: JSONValue) throws(FieldError) {
        var fields = try Fields(value)
        time = try fields.optional("at", read: Read.integer) ?? 0
        method = try fields.optional("method", read: Read.text) ?? "GET"
        url = try fields.optional("url", read: Read.text) ?? "/"
        self.fields = try fields.optional("request", read: Read.fieldLines) ?? []
        body = try fields.optional("content", read: Read.text)
        upgrade = try fields.optional("upgrade", read: Read.list(of: Read.text)) ?? []
        added = try fields.optional("added", read: Read.fieldLines) ?? []
        (origin, delay) = try fields.required("response", read: Read.origin)
        try fields.end()
    }
}

extension CacheVector.Answer {
    fileprivate init(_ value: JSONValue) throws(FieldError) {
        var fields = try Fields(value)
        use = try fields.required("use", read: Read.text)
        guard Self.uses.contains(use) else {
            let what = "use: \"\(use)\" is not one of \(Self.uses.joined(separator: ", "))"
            throw FieldError(line: value.line, what: what)
        }
        status = try fields.optional("status", read: Read.integer)
        body = try fields.optional("body", read: Read.text)
        self.fields = try fields.optional("headers", read: Read.wantedFields) ?? []
        isAsked = try fields.optional("asked", read: Read.flag)
        sent = try fields.optional("sent", read: Read.wantedFields) ?? []
        try fields.end()
    }

    private static let uses = ["hit", "stale", "revalidated", "miss", "bypassed", "error"]
}

extension Read {
    /// Reads names and values. A number stands for the date that many seconds after the start.
    fileprivate static func fieldLines(_ value: JSONValue) throws(FieldError) -> [(
        name: String, value: String
    )] {
        var lines: [(name: String, value: String)] = []
        for pair in try list(of: elements)(value) {
            guard pair.count == 2 else { throw value.wrong("an array of names and values") }
            lines.append((try text(pair[0]), try fieldValue(pair[1])))
        }
        return lines
    }

    /// Reads names and values like ``fieldLines(_:)``. Null means that the field must be absent.
    fileprivate static func wantedFields(_ value: JSONValue) throws(FieldError) -> [(
        name: String, value: String?
    )] {
        var wanted: [(name: String, value: String?)] = []
        for pair in try list(of: elements)(value) {
            guard pair.count == 2 else { throw value.wrong("an array of names and values") }
            wanted.append((try text(pair[0]), pair[1].isNull ? nil : try fieldValue(pair[1])))
        }
        return wanted
    }

    private static func fieldValue(_ value: JSONValue) throws(FieldError) -> String {
        guard case .number = value.content else { return try text(value) }
        return HTTPDate.text(CacheVector.start.advanced(bySeconds: try integer(value)))
    }

    fileprivate static func origin(_ value: JSONValue) throws(FieldError) -> (CacheVector.Origin, Int64) {
        if case .string("unreachable") = value.content { return (.isUnreachable, 0) }
        var fields = try Fields(value)
        let status: Int = try fields.optional("status", read: Read.integer) ?? 200
        let lines = try fields.optional("headers", read: Read.fieldLines) ?? []
        let body = try fields.optional("body", read: Read.text) ?? ""
        let delay: Int64 = try fields.optional("delay", read: Read.integer) ?? 0
        try fields.end()
        return (.answers(status: status, fields: lines, body: body), delay)
    }
}
