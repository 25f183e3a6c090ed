internal import DirectJSON

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
    case hsts(HSTSVector)
    case path(PathVector)
    case exchange(ExchangeVector)

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
        case .routes, .eyeballs: self = .routes(try read())
        case .cookies: self = .cookies(try read())
        case .cache: self = .cache(try read())
        case .redirect: self = .redirect(try read())
        case .hsts: self = .hsts(try read())
        case .path: self = .path(try read())
        case .values, .proxy, .auth, .exchange, .events: self = .exchange(try read())
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
        case .hsts(let vector): vector.head
        case .path(let vector): vector.head
        case .exchange(let vector): vector.head
        }
    }

    /// The certificates and servers that the vector refers to. They must exist.
    var mentions: Mentions {
        switch self {
        case .response, .request, .decoding, .cookies, .cache, .redirect, .hsts, .path, .exchange: Mentions()
        case .names(let vector): Mentions(certificates: [vector.certificate])
        case .handshake(let vector): vector.mentions
        case .routes(let vector): vector.mentions
        }
    }
}
