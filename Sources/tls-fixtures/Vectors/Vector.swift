internal import DirectJSON

/// The members that every vector has.
struct VectorHead: Equatable, Sendable {
    var topic: Topic
    /// The name, which is unique among all vectors and begins with the name of its file.
    var name: String
    /// The rule, or the consequence of breaking it.
    var why: String
    /// The section of an RFC, or a CVE.
    var reference: String
    /// What is expected, as JSON, for people.
    var expectation = ""
    /// The right by which the vector judges other clients.
    var right: Right

    init(_ topic: Topic, _ fields: inout Fields) throws(FieldError) {
        self.topic = topic
        name = try fields.required("name", read: Self.line)
        why = try fields.required("why", read: Self.line)
        reference = try fields.required("reference") { value throws(FieldError) in
            let text = try Self.line(value)
            guard text.hasPrefix("RFC ") || text.hasPrefix("CVE-") else {
                throw FieldError(line: value.line, what: "begins with neither \"RFC \" nor \"CVE-\"")
            }
            return text
        }
        right = try fields.required("right", read: Read.choice)
    }

    /// Reads a text that must be one non-empty line.
    private static func line(_ value: JSONValue) throws(FieldError) -> String {
        let text = try Read.text(value)
        guard !text.isEmpty, !text.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
            throw FieldError(line: value.line, what: "is not one line")
        }
        return text
    }
}

/// A vector of any topic.
enum Vector: Sendable {
    case response(ResponseVector)
    case request(RequestVector)
    case decoding(DecodingVector)
    case names(NameVector)
    case handshake(HandshakeVector)
    case routes(RouteVector)
    case cookies(CookieVector)
    case cache(CacheVector)
    case redirect(RedirectVector)

    init(_ topic: Topic, _ value: JSONValue) throws(FieldError) {
        var fields = try Fields(value)
        var head = try VectorHead(topic, &fields)
        head.expectation = (try? Read.member("expect", of: value)).map { "\($0)" } ?? ""
        switch topic {
        case .response: self = .response(try ResponseVector(head, &fields))
        case .request: self = .request(try RequestVector(head, &fields))
        case .decoding: self = .decoding(try DecodingVector(head, &fields))
        case .names: self = .names(try NameVector(head, &fields))
        case .handshake: self = .handshake(try HandshakeVector(head, &fields))
        case .routes: self = .routes(try RouteVector(head, &fields))
        case .cookies: self = .cookies(try CookieVector(head, &fields))
        case .cache: self = .cache(try CacheVector(head, &fields))
        case .redirect: self = .redirect(try RedirectVector(head, &fields))
        }
        try fields.end()
    }

    var head: VectorHead {
        switch self {
        case .response(let vector): vector.head
        case .request(let vector): vector.head
        case .decoding(let vector): vector.head
        case .names(let vector): vector.head
        case .handshake(let vector): vector.head
        case .routes(let vector): vector.head
        case .cookies(let vector): vector.head
        case .cache(let vector): vector.head
        case .redirect(let vector): vector.head
        }
    }

    /// The certificates and servers that the vector refers to. They must exist.
    var mentions: Mentions {
        switch self {
        case .response, .request, .decoding, .cookies, .cache, .redirect: Mentions()
        case .names(let vector): Mentions(certificates: [vector.certificate])
        case .handshake(let vector): vector.mentions
        case .routes(let vector): vector.mentions
        }
    }
}

/// References from a vector to other files.
struct Mentions {
    var certificates: [String] = []
    var servers: [String] = []
}
