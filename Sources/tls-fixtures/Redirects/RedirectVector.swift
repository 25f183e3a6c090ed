internal import DirectHTTP
internal import DirectJSON

/// A test of redirects: a request, the answers to it and to the redirected requests, and the requests that must be
/// sent.
struct RedirectVector: Sendable {
    /// The caller's request.
    struct Question: Sendable {
        var method: String
        var url: String
        var fields: [(name: String, value: String)]
        var body: String?
        /// Whether the body is a stream that can be sent only once.
        var isSentOnce: Bool
        /// The addresses to connect to for the host of the URL.
        var addresses: [String]?
    }

    /// The client's settings, with its defaults.
    struct Settings: Sendable {
        var follows = true
        var limit: Int?
        var allowsDowngrade = false
        var carriesBodyAcrossOrigins = true
        var sendsReferer = false
        var surviving: [String] = []
        /// Header fields that the client sends with every request.
        var fields: [(name: String, value: String)] = []
        /// Whether the client stores cookies.
        var keepsCookies = false
        /// Whether the client stores HSTS policies.
        var keepsHSTS = false
    }

    /// A response of the simulated network.
    struct Answer: Sendable {
        var status: Int
        var fields: [(name: String, value: [UInt8])]
    }

    /// A request that the network must see.
    struct Sent: Sendable {
        var method: String
        var url: String
        /// Header fields with their required values. `nil` means that the field must be absent.
        var fields: [(name: String, value: String?)]
        var body: String?
        /// The addresses that the request must carry, with a null value if it must carry none. `nil` if they are
        /// not compared.
        var addresses: [String]??
    }

    /// The outcome for the caller.
    enum Ending: Equatable, Sendable {
        /// A response with this status, from this URL.
        case answered(Int, String)
        case fault(String)
    }

    let head: VectorHead
    let question: Question
    let settings: Settings
    /// The answers in turn. After the last one, every request is answered with an empty 200.
    let answers: [Answer]
    let sent: [Sent]
    let ending: Ending

    init(_ head: VectorHead, _ fields: inout Fields) throws(FieldError) {
        self.head = head
        question = try fields.required("request", read: Question.init)
        settings = try fields.optional("client", read: Settings.init) ?? Settings()
        answers = try fields.required("answers", read: Read.list(of: Answer.init))
        (sent, ending) = try fields.required("expect") { value throws(FieldError) in
            var fields = try Fields(value)
            let sent = try fields.required("requests", read: Read.list(of: Sent.init))
            guard let last = sent.last else { throw value.wrong("at least one request") }
            let ending: Ending
            if let fault = try fields.optional("error", read: Read.choice) as Fault? {
                ending = .fault(fault.rawValue)
            } else {
                let url = try fields.optional("url", read: Read.text)
                ending = .answered(try fields.optional("status", read: Read.integer) ?? 200, url ?? last.url)
            }
            try fields.end()
            return (sent, ending)
        }
    }

    /// The reasons for not following a redirect.
    enum Fault: String, CaseIterable {
        case tooMany, loop, severalLocations, badLocation, downgrade, bodySentOnce, bodyAcrossOrigins
    }
}

extension RedirectVector.Question {
    fileprivate init(_ value: JSONValue) throws(FieldError) {
        var fields = try Fields(value)
        method = try fields.optional("method", read: Read.text) ?? "GET"
        url = try fields.required("url", read: Read.text)
        self.fields = try fields.optional("headers", read: Read.fieldLines) ?? []
        body = try fields.optional("body", read: Read.text)
        isSentOnce = try fields.optional("once", read: Read.flag) ?? false
        addresses = try fields.optional("addresses", read: Read.texts)
        try fields.end()
    }
}

extension RedirectVector.Settings {
    fileprivate init(_ value: JSONValue) throws(FieldError) {
        var fields = try Fields(value)
        follows = try fields.optional("follows", read: Read.flag) ?? true
        limit = try fields.optional("limit", read: Read.integer)
        allowsDowngrade = try fields.optional("downgrade", read: Read.flag) ?? false
        carriesBodyAcrossOrigins = try fields.optional("bodyAcrossOrigins", read: Read.flag) ?? true
        sendsReferer = try fields.optional("referer", read: Read.flag) ?? false
        surviving = try fields.optional("surviving", read: Read.texts) ?? []
        self.fields = try fields.optional("headers", read: Read.fieldLines) ?? []
        keepsCookies = try fields.optional("cookies", read: Read.flag) ?? false
        keepsHSTS = try fields.optional("hsts", read: Read.flag) ?? false
        try fields.end()
    }
}

extension RedirectVector.Answer {
    fileprivate init(_ value: JSONValue) throws(FieldError) {
        var fields = try Fields(value)
        status = try fields.required("status", read: Read.integer)
        let location = try fields.optional("location", read: Read.bytes)
        self.fields = location.map { [(name: "Location", value: $0)] } ?? []
        for pair in try fields.optional("headers", read: Read.list(of: Read.elements)) ?? [] {
            guard pair.count == 2 else { throw value.wrong("an array of names and values") }
            self.fields.append((try Read.text(pair[0]), try Read.bytes(pair[1])))
        }
        try fields.end()
    }
}

extension RedirectVector.Sent {
    fileprivate init(_ value: JSONValue) throws(FieldError) {
        var fields = try Fields(value)
        method = try fields.optional("method", read: Read.text) ?? "GET"
        url = try fields.required("url", read: Read.text)
        self.fields = try fields.optional("headers", read: Read.wantedLines) ?? []
        body = try fields.optional("body", read: Read.text)
        addresses = try fields.optional("addresses") { value throws(FieldError) -> [String]? in
            value.isNull ? nil : try Read.texts(value)
        }
        try fields.end()
    }
}

extension Read {
    /// Reads names and values. Null means that the field must be absent.
    fileprivate static func wantedLines(_ value: JSONValue) throws(FieldError) -> [(
        name: String, value: String?
    )] {
        var lines: [(name: String, value: String?)] = []
        for pair in try list(of: elements)(value) {
            guard pair.count == 2 else { throw value.wrong("an array of names and values") }
            lines.append((try text(pair[0]), try textOrNull(pair[1])))
        }
        return lines
    }

    /// Reads names and values.
    fileprivate static func fieldLines(_ value: JSONValue) throws(FieldError) -> [(
        name: String, value: String
    )] {
        var lines: [(name: String, value: String)] = []
        for (name, text) in try wantedLines(value) {
            guard let text else { throw value.wrong("a value") }
            lines.append((name, text))
        }
        return lines
    }
}
