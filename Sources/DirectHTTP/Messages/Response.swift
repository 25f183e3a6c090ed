internal import DirectCore
public import DirectHTTP1
internal import DirectTransport

extension HTTPClient {
    /// A response whose head has arrived. Its body can be read once.
    public struct Response: Sendable {
        let head: ResponseHead
        /// The body, which is received as it is read.
        public package(set) var body: ResponseBody
        /// The URL that was answered, after redirects; without user and password.
        public let url: HTTPURL
        /// The connection and the times of the request; `nil` if a cache or a mock answered.
        public let transaction: HTTPTransaction?
        /// The earlier requests of the call: redirects, refusals and retries.
        public internal(set) var history: [Hop] = []
        /// The reason that the response was not retried; `nil` if no retry policy applies to it. For a 401
        /// that an authenticator has an answer to, ``RetryStop/notRepeatable``.
        public internal(set) var retryStop: RetryStop?
        /// The use of the cache for this response; `nil` if the client has none.
        public internal(set) var cacheUse: CacheUse?

        package init(head: ResponseHead, body: ResponseBody, url: HTTPURL, transaction: HTTPTransaction?) {
            self.head = head
            self.body = body
            self.url = url
            self.transaction = transaction
        }

        /// Makes a response for an interceptor, or for a transport in tests, with its whole body, which needs
        /// no `Content-Length` to be stored by a cache.
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

        /// Returns this response if its status is one of success (2xx). The beginning of the body of any
        /// other response is read for the error, so that the time limits of the call apply.
        ///
        /// - Parameter limit: The number of bytes of the body that ``HTTPError/response`` keeps at most. The
        ///   rest is given up, as that of a body that is dropped.
        /// - Throws: ``HTTPError/Reason/status(_:)`` for any other status, with the response; also if its
        ///   body fails. `CancellationError` if the task is cancelled meanwhile.
        @discardableResult
        public func requiringSuccess(keeping limit: Int = 65_536) async throws -> HTTPClient.Response {
            guard !status.isSuccess else { return self }
            throw statusError(try await body.beginning(upTo: limit))
        }

        /// The error of a status that the caller does not accept, with the beginning of the body.
        func statusError(_ body: [UInt8]) -> HTTPError {
            let (method, endpoint) = (self.body.request?.method, transaction?.endpoint)
            var error = HTTPError(.response, .status(status), method: method, url: url, endpoint: endpoint)
                .after(history)
            error.response = ReceivedResponse(head, body: body)
            error.retryStop = retryStop
            return error
        }

        /// Returns the response for a caller that reads its body.
        func delivered(to request: Request) -> Response {
            var response = self
            response.body = body.delivered(for: line(to: request))
            return response
        }

        /// Returns the request that the response is to: the last one of the redirects, or the caller's.
        func line(to request: Request) -> RequestLine { body.request ?? RequestLine(request.method, url) }

        /// Returns the response to a request with its whole body; throws if that is larger than `limit`.
        // Not inlined: most bodies arrive with their head, and a call would need the room while it waits for
        // that.
        @inline(never)
        func collected(for request: Request, upTo limit: Int) async throws -> BufferedResponse {
            var response = self
            response.body.request = line(to: request)
            return try await response.collected(upTo: limit)
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
        /// The response without its body, which has been read.
        package let head: Response
        /// The body.
        public let body: [UInt8]

        private var response: Response { head }

        init(_ response: consuming Response, _ body: consuming [UInt8]) {
            head = response
            self.body = body
        }

        /// Returns this response if its status is one of success (2xx).
        ///
        /// - Parameter limit: The number of bytes of the body that ``HTTPError/response`` keeps at most.
        /// - Throws: ``HTTPError/Reason/status(_:)`` for any other status, with the response.
        @discardableResult
        public func requiringSuccess(keeping limit: Int = 65_536) throws(HTTPError)
            -> HTTPClient.BufferedResponse
        {
            guard !status.isSuccess else { return self }
            throw response.statusError(Array(body.prefix(max(0, limit))))
        }

        /// The status code.
        public var status: HTTPStatus { response.status }
        /// The header fields.
        public var headers: HTTPHeaders { response.headers }
        /// The reason phrase of the server; often empty, and never reliable.
        public var reason: String { response.reason }
        /// The HTTP version of the response.
        public var version: HTTPVersion { response.version }
        /// The body as text; `nil` if the response declares a charset that is not supported. See
        /// ``decodedText(fallback:)``.
        public var text: String? { try? decodedText() }

        /// Returns the body as text, decoded as its byte order mark says, or else the `charset` of
        /// `Content-Type`. Bytes that are invalid in that encoding become U+FFFD (Encoding Standard of the
        /// WHATWG).
        ///
        /// - Parameter fallback: The encoding if there is neither.
        /// - Throws: ``HTTPError/Reason/unsupportedCharset(_:)`` if `Content-Type` says another one.
        public func decodedText(fallback: Charset = .utf8) throws(HTTPError) -> String {
            do throws(HTTPError) {
                return try headers.text(of: body, fallback: fallback)
            } catch {
                var error = error
                error.url = url.redacted
                throw error
            }
        }

        /// Whether the body was decoded, and its length before and after that.
        public var decoding: BodyDecoding { response.body.decoding }
        /// The trailer fields of a body sent in chunks.
        public var trailers: HTTPHeaders { response.body.trailers }
        /// The URL that was answered, after redirects; without user and password.
        public var url: HTTPURL { response.url }
        /// The earlier requests of the call: redirects, refusals and retries.
        public var history: [Hop] { response.history }
        /// The reason that the response was not retried; `nil` if no retry policy applies to it. For a 401
        /// that an authenticator has an answer to, ``RetryStop/notRepeatable``.
        public var retryStop: RetryStop? { response.retryStop }
        /// The connection and the times of the request; `nil` if a cache or a mock answered.
        public var transaction: HTTPTransaction? { response.transaction }
        /// The use of the cache for this response; `nil` if the client has none.
        public var cacheUse: CacheUse? { response.cacheUse }
    }
}

/// The short name within the package.
package typealias BufferedResponse = HTTPClient.BufferedResponse
