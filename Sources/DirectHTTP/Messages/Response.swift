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
    /// Why no other try followed, if it is a response that a retry policy is for; else `nil`.
    public internal(set) var retryStop: RetryStop?
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
        self.init(head: head, body: body, url: try request.checkedURL().withoutCredentials, transaction: nil)
    }

    /// The result.
    public var status: Status { head.status }
    /// The header fields.
    public var headers: Headers { head.headers }
    /// The server's words for the status; often empty, never to be relied on.
    public var reason: String { head.reason }
    /// The version that the server spoke.
    public var version: HTTPVersion { head.version }

    /// The same response, if its status is one of success (2xx); else an error, `HTTPError.Reason.status`.
    @discardableResult
    public func requiringSuccess() throws(HTTPError) -> Response {
        guard status.isSuccess else { throw statusError }
        return self
    }

    fileprivate var statusError: HTTPError {
        let (name, endpoint) = (url.host.description, transaction?.endpoint)
        var error = HTTPError(.response, .status(status), name: name, endpoint: endpoint).after(history)
        error.retryStop = retryStop
        return error
    }

    /// The response with all of its body, unless it is larger than `limit`.
    package func collected(upTo limit: Int) async throws -> FullResponse {
        let bytes = try await body.collect(upTo: limit)
        var response = self
        // Nobody reads it again; what it came from would be kept for as long as the response.
        response.body.content = .complete([], body.trailers, nil)
        return FullResponse(response, bytes)
    }
}

/// A response with all of its body.
public struct FullResponse: Sendable {
    private let response: Response
    /// The body.
    public let body: [UInt8]

    init(_ response: consuming Response, _ body: consuming [UInt8]) {
        self.response = response
        self.body = body
    }

    /// The same response, if its status is one of success (2xx); else an error, `HTTPError.Reason.status`.
    @discardableResult
    public func requiringSuccess() throws(HTTPError) -> FullResponse {
        guard status.isSuccess else { throw response.statusError }
        return self
    }

    /// The result.
    public var status: Status { response.status }
    /// The header fields.
    public var headers: Headers { response.headers }
    /// The server's words for the status; often empty, never to be relied on.
    public var reason: String { response.reason }
    /// The version that the server spoke.
    public var version: HTTPVersion { response.version }
    /// The body as text, if it is UTF-8.
    public var text: String? { String(validating: body, as: UTF8.self) }
    /// Whether the body was decoded, and how many bytes that took.
    public var decoding: BodyDecoding { response.body.decoding }
    /// The fields that came behind a body sent in chunks.
    public var trailers: Headers { response.body.trailers }
    /// Whose response it is, after redirects; without user and password.
    public var url: HTTPURL { response.url }
    /// The responses before this one that led here: redirects, refusals without credentials, retries.
    public var history: [Hop] { response.history }
    /// Why no other try followed, if it is a response that a retry policy is for; else `nil`.
    public var retryStop: RetryStop? { response.retryStop }
    /// Where the request went, and how; nothing if it went nowhere, because a cache or a mock answered.
    public var transaction: Transaction? { response.transaction }
    /// What the cache had to do with it; nothing if the client has none.
    public var cacheUse: CacheUse? { response.cacheUse }
}
