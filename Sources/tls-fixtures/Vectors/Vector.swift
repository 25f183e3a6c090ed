internal import DirectJSON

/// The members that every vector has.
struct VectorHead: Inlined, Equatable, Sendable {
    var topic = Topic.response
    /// The name, which is unique among all vectors and begins with the name of its file.
    @OneLine var name: String
    /// The rule, or the consequence of breaking it.
    @OneLine var why: String
    /// The section of an RFC, or a CVE.
    @Reference var reference: String
    /// What is expected, as JSON, for people.
    var expectation = ""
    /// The right by which the vector judges other clients.
    var right: Right

    private enum CodingKeys: String, CodingKey { case name, why, reference, right }
}

/// A text of one line that is not empty.
@propertyWrapper struct OneLine: FromJSON, Equatable, Sendable {
    var wrappedValue: String

    init(_ value: JSONValue) throws(FieldError) {
        wrappedValue = try value.text()
        guard !wrappedValue.isEmpty, !wrappedValue.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
            throw value.fault("is not one line")
        }
    }
}

/// A section of an RFC, or a CVE.
@propertyWrapper struct Reference: FromJSON, Equatable, Sendable {
    @OneLine var wrappedValue: String

    init(_ value: JSONValue) throws(FieldError) {
        _wrappedValue = try OneLine(value)
        guard wrappedValue.hasPrefix("RFC ") || wrappedValue.hasPrefix("CVE-") else {
            throw value.fault("begins with neither \"RFC \" nor \"CVE-\"")
        }
    }
}

/// The vector of one topic.
protocol TopicVector: Decodable, Sendable {
    var head: VectorHead { get set }
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
        func read<Body: TopicVector>() throws(FieldError) -> Body {
            var body = try StrictDecoder.decode(Body.self, from: value)
            body.head.topic = topic
            body.head.expectation = (try? value.member("expect")).map { "\($0)" } ?? ""
            return body
        }
        switch topic {
        case .response: self = .response(try read())
        case .request: self = .request(try read())
        case .decoding: self = .decoding(try read())
        case .names: self = .names(try read())
        case .handshake: self = .handshake(try read())
        case .routes: self = .routes(try read())
        case .cookies: self = .cookies(try read())
        case .cache: self = .cache(try read())
        case .redirect: self = .redirect(try read())
        }
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
