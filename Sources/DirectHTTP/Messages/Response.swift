public import DirectHTTP1

/// A response whose head has arrived, and whose body can be read once.
public struct Response: Sendable {
    let head: ResponseHead
    /// The body, as it arrives.
    public internal(set) var body: ResponseBody
    /// Whose response it is, after redirects; without user and password.
    public let url: HTTPURL
    /// Where the request went, and how; nothing if it went nowhere, because a cache or a mock answered.
    public let transaction: Transaction?
    /// The responses before this one that led here: redirects, refusals without credentials, retries.
    public internal(set) var history: [Hop] = []
    /// What the cache had to do with it; nothing if the client has none.
    public internal(set) var cacheUse: CacheUse?

    init(head: ResponseHead, body: ResponseBody, url: HTTPURL, transaction: Transaction?) {
        self.head = head
        self.body = body
        self.url = url
        self.transaction = transaction
    }

    /// A response that came from no server: from an interceptor, or from a transport for tests.
    public init(to request: Request, _ status: Status, headers: Headers = [:], body: [UInt8] = []) throws {
        let head = ResponseHead(status: status, headers: headers)
        let body = ResponseBody(content: .complete(body, Headers(), nil))
        self.init(head: head, body: body, url: try request.checkedURL(), transaction: nil)
    }

    /// The result.
    public var status: Status { head.status }
    /// The header fields.
    public var headers: Headers { head.headers }
    /// The server's words for the status; often empty, never to be relied on.
    public var reason: String { head.reason }
    /// The version that the server spoke.
    public var version: HTTPVersion { head.version }
}

/// A response with all of its body.
public struct FullResponse: Sendable {
    let head: ResponseHead
    /// The body.
    public let body: [UInt8]
    /// Whether the body was decoded, and how many bytes that took.
    public let decoding: BodyDecoding
    /// The fields that came behind a body sent in chunks.
    public let trailers: Headers
    /// Whose response it is, after redirects; without user and password.
    public let url: HTTPURL
    /// The responses before this one that led here: redirects, refusals without credentials, retries.
    public let history: [Hop]
    /// Where the request went, and how; nothing if it went nowhere, because a cache or a mock answered.
    public let transaction: Transaction?
    /// What the cache had to do with it; nothing if the client has none.
    public let cacheUse: CacheUse?

    package init(_ response: Response, _ body: [UInt8]) {
        head = response.head
        self.body = body
        decoding = response.body.decoding
        trailers = response.body.trailers
        url = response.url
        history = response.history
        transaction = response.transaction
        cacheUse = response.cacheUse
    }

    /// The result.
    public var status: Status { head.status }
    /// The header fields.
    public var headers: Headers { head.headers }
    /// The server's words for the status; often empty, never to be relied on.
    public var reason: String { head.reason }
    /// The version that the server spoke.
    public var version: HTTPVersion { head.version }
    /// The body as text, if it is UTF-8.
    public var text: String? { String(validating: body, as: UTF8.self) }
}
