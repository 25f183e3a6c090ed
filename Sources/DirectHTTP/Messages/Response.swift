internal import DirectCore
public import DirectHTTP1
internal import DirectTransport

extension HTTPClient {
    /// A response whose head has arrived. Its body can be read once.
    public struct Response: Sendable {
        let head: ResponseHead
        /// The body, which is received as it is read.
        public internal(set) var body: ResponseBody
        /// The URL that was answered, after redirects; without user and password.
        public let url: HTTPURL
        /// The connection and the times of the request; `nil` if a cache or a mock answered.
        public let transaction: HTTPTransaction?
        /// The earlier requests of the call: redirects, refusals and retries.
        public internal(set) var history: [Hop] = []
        /// The reason that the response was not retried; `nil` if no retry policy applies to it.
        public internal(set) var retryStop: RetryStop?
        /// The use of the cache for this response; `nil` if the client has none.
        public internal(set) var cacheUse: CacheUse?

        init(head: ResponseHead, body: ResponseBody, url: HTTPURL, transaction: HTTPTransaction?) {
            self.head = head
            self.body = body
            self.url = url
            self.transaction = transaction
        }

        /// Makes a response for an interceptor, or for a transport in tests.
        ///
        /// - Throws: ``HTTPError`` if the URL of the request is invalid.
        public init(
            to request: HTTPClient.Request,
            _ status: HTTPStatus,
            headers: HTTPHeaders = [:],
            body: [UInt8] = []
        )
            throws
        {
            let head = ResponseHead(status: status, headers: headers)
            let body = ResponseBody(content: .complete(body, HTTPHeaders(), nil))
            self.init(
                head: head,
                body: body,
                url: try request.checkedURL().withoutCredentials,
                transaction: nil
            )
        }

        /// The status code.
        public var status: HTTPStatus { head.status }
        /// The header fields.
        public var headers: HTTPHeaders { head.headers }
        /// The reason phrase of the server; often empty, and never reliable.
        public var reason: String { head.reason }
        /// The HTTP version of the response.
        public var version: HTTPVersion { head.version }

        /// Returns this response if its status is one of success (2xx).
        ///
        /// - Throws: ``HTTPError/Reason/status(_:)`` for any other status.
        @discardableResult
        public func requiringSuccess() throws(HTTPError) -> HTTPClient.Response {
            guard status.isSuccess else { throw statusError }
            return self
        }

        fileprivate var statusError: HTTPError {
            let (name, endpoint) = (url.host.description, transaction?.endpoint)
            var error = HTTPError(.response, .status(status), name: name, endpoint: endpoint).after(history)
            error.retryStop = retryStop
            return error
        }

        /// Returns the response with its whole body; throws if that is larger than `limit`.
        package func collected(upTo limit: Int) async throws -> BufferedResponse {
            let bytes = try await body.collect(upTo: limit)
            var response = self
            // The body is not read again, and its source would stay in memory as long as the response.
            response.body.content = .complete([], body.trailers, nil)
            return BufferedResponse(response, bytes)
        }
    }
}

/// The short name within the package.
package typealias Response = HTTPClient.Response

extension HTTPClient {
    /// A response with its whole body.
    public struct BufferedResponse: Sendable {
        private let response: Response
        /// The body.
        public let body: [UInt8]

        init(_ response: consuming Response, _ body: consuming [UInt8]) {
            self.response = response
            self.body = body
        }

        /// Returns this response if its status is one of success (2xx).
        ///
        /// - Throws: ``HTTPError/Reason/status(_:)`` for any other status.
        @discardableResult
        public func requiringSuccess() throws(HTTPError) -> HTTPClient.BufferedResponse {
            guard status.isSuccess else { throw response.statusError }
            return self
        }

        /// The status code.
        public var status: HTTPStatus { response.status }
        /// The header fields.
        public var headers: HTTPHeaders { response.headers }
        /// The reason phrase of the server; often empty, and never reliable.
        public var reason: String { response.reason }
        /// The HTTP version of the response.
        public var version: HTTPVersion { response.version }
        /// The body as text; `nil` if it is not UTF-8.
        public var text: String? { String(validating: body, as: UTF8.self) }
        /// Whether the body was decoded, and its length before and after that.
        public var decoding: BodyDecoding { response.body.decoding }
        /// The trailer fields of a body sent in chunks.
        public var trailers: HTTPHeaders { response.body.trailers }
        /// The URL that was answered, after redirects; without user and password.
        public var url: HTTPURL { response.url }
        /// The earlier requests of the call: redirects, refusals and retries.
        public var history: [Hop] { response.history }
        /// The reason that the response was not retried; `nil` if no retry policy applies to it.
        public var retryStop: RetryStop? { response.retryStop }
        /// The connection and the times of the request; `nil` if a cache or a mock answered.
        public var transaction: HTTPTransaction? { response.transaction }
        /// The use of the cache for this response; `nil` if the client has none.
        public var cacheUse: CacheUse? { response.cacheUse }
    }
}

/// The short name within the package.
package typealias BufferedResponse = HTTPClient.BufferedResponse
