internal import DirectHTTP
internal import DirectJSON

/// A request, answers that point elsewhere, and the requests that come of it.
struct RedirectVector: Sendable {
    /// What the caller asks for.
    struct Question: Sendable {
        var method: String
        var url: String
        var fields: [(name: String, value: String)]
        var body: String?
        /// Whether the body can be had only once.
        var isSentOnce: Bool
        /// Where to connect for the host of the URL.
        var addresses: [String]?
    }

    /// How the client is set up; the defaults where nothing is said.
    struct Settings: Sendable {
        var follows = true
        var limit: Int?
        var allowsDowngrade = false
        var carriesBodyAcrossOrigins = true
        var sendsReferer = false
        var surviving: [String] = []
        /// Fields that the client sends with every request.
        var fields: [(name: String, value: String)] = []
        /// Whether it keeps cookies, and who wants TLS.
        var keepsCookies = false
        var keepsHSTS = false
    }

    struct Answer: Sendable {
        var status: Int
        var fields: [(name: String, value: [UInt8])]
    }

    /// A request that the network sees.
    struct Sent: Sendable {
        var method: String
        var url: String
        /// Fields that are there with that value, or are not there.
        var fields: [(name: String, value: String?)]
        var body: String?
        /// Whether it goes where the caller said, or where nobody has said; nothing if that is not looked at.
        var addresses: [String]??
    }

    /// What the caller gets in the end.
    enum Ending: Equatable, Sendable {
        /// This status, and the URL whose response it is.
        case answered(Int, String)
        case fault(String)
    }

    let head: VectorHead
    let question: Question
    let settings: Settings
    /// One after the other; when all have been given, it is 200 with nothing.
    let answers: [Answer]
    let sent: [Sent]
    let ending: Ending

    init(_ head: VectorHead, _ fields: inout Fields) throws(FieldFault) {
        self.head = head
        question = try fields.required("request", Question.init)
        settings = try fields.optional("client", Settings.init) ?? Settings()
        answers = try fields.required("answers", Read.list(of: Answer.init))
        (sent, ending) = try fields.required("expect") { value throws(FieldFault) in
            var fields = try Fields(value)
            let sent = try fields.required("requests", Read.list(of: Sent.init))
            guard let last = sent.last else { throw value.wrong("at least one request") }
            let ending: Ending
            if let fault = try fields.optional("error", Read.choice) as Fault? {
                ending = .fault(fault.rawValue)
            } else {
                let url = try fields.optional("url", Read.text)
                ending = .answered(try fields.optional("status", Read.integer) ?? 200, url ?? last.url)
            }
            try fields.end()
            return (sent, ending)
        }
    }

    /// Why a redirect is not followed.
    enum Fault: String, CaseIterable {
        case tooMany, loop, severalLocations, badLocation, downgrade, bodySentOnce, bodyAcrossOrigins
    }
}

extension RedirectVector.Question {
    fileprivate init(_ value: JSONValue) throws(FieldFault) {
        var fields = try Fields(value)
        method = try fields.optional("method", Read.text) ?? "GET"
        url = try fields.required("url", Read.text)
        self.fields = try fields.optional("headers", Read.fieldLines) ?? []
        body = try fields.optional("body", Read.text)
        isSentOnce = try fields.optional("once", Read.flag) ?? false
        addresses = try fields.optional("addresses", Read.texts)
        try fields.end()
    }
}

extension RedirectVector.Settings {
    fileprivate init(_ value: JSONValue) throws(FieldFault) {
        var fields = try Fields(value)
        follows = try fields.optional("follows", Read.flag) ?? true
        limit = try fields.optional("limit", Read.integer)
        allowsDowngrade = try fields.optional("downgrade", Read.flag) ?? false
        carriesBodyAcrossOrigins = try fields.optional("bodyAcrossOrigins", Read.flag) ?? true
        sendsReferer = try fields.optional("referer", Read.flag) ?? false
        surviving = try fields.optional("surviving", Read.texts) ?? []
        self.fields = try fields.optional("headers", Read.fieldLines) ?? []
        keepsCookies = try fields.optional("cookies", Read.flag) ?? false
        keepsHSTS = try fields.optional("hsts", Read.flag) ?? false
        try fields.end()
    }
}

extension RedirectVector.Answer {
    fileprivate init(_ value: JSONValue) throws(FieldFault) {
        var fields = try Fields(value)
        status = try fields.required("status", Read.integer)
        let location = try fields.optional("location", Read.bytes)
        self.fields = location.map { [(name: "Location", value: $0)] } ?? []
        for pair in try fields.optional("headers", Read.list(of: Read.elements)) ?? [] {
            guard pair.count == 2 else { throw value.wrong("a list of names and values") }
            self.fields.append((try Read.text(pair[0]), try Read.bytes(pair[1])))
        }
        try fields.end()
    }
}

extension RedirectVector.Sent {
    fileprivate init(_ value: JSONValue) throws(FieldFault) {
        var fields = try Fields(value)
        method = try fields.optional("method", Read.text) ?? "GET"
        url = try fields.required("url", Read.text)
        self.fields = try fields.optional("headers", Read.wantedLines) ?? []
        body = try fields.optional("body", Read.text)
        addresses = try fields.optional("addresses") { value throws(FieldFault) -> [String]? in
            value.isNull ? nil : try Read.texts(value)
        }
        try fields.end()
    }
}

extension Read {
    /// Names and values, where null stands for no field.
    fileprivate static func wantedLines(_ value: JSONValue) throws(FieldFault) -> [(
        name: String, value: String?
    )] {
        var lines: [(name: String, value: String?)] = []
        for pair in try list(of: elements)(value) {
            guard pair.count == 2 else { throw value.wrong("a list of names and values") }
            lines.append((try text(pair[0]), try textOrNull(pair[1])))
        }
        return lines
    }

    /// Names and values.
    fileprivate static func fieldLines(_ value: JSONValue) throws(FieldFault) -> [(
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
