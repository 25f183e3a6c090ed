public import DirectHTTP1

/// A response whose head has arrived, and whose body can be read once.
public struct Response: Sendable {
    let head: ResponseHead
    /// The body, as it arrives.
    public internal(set) var body: ResponseBody
    /// Where the request went, and how; nothing if it went nowhere, because a cache or a mock answered.
    public let transaction: Transaction?

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
    /// Where the request went, and how; nothing if it went nowhere, because a cache or a mock answered.
    public let transaction: Transaction?

    init(_ response: Response, _ body: [UInt8]) {
        head = response.head
        self.body = body
        decoding = response.body.decoding
        trailers = response.body.trailers
        transaction = response.transaction
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
