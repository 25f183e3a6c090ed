internal import DirectCore
public import DirectHTTP1
internal import DirectTransport

/// The summary of a call, made at its end.
///
/// In the terms of OpenTelemetry: a transaction's `name` is `server.address`, its `endpoint` is
/// `network.peer.address` and `network.peer.port`, and an exchange's index in the list is
/// `http.request.resend_count`.
public struct CallReport: Sendable, CustomStringConvertible {
    /// The result of a call.
    public enum Outcome: Sendable {
        /// With this response, whose body was read or abandoned.
        case response(HTTPStatus)
        /// With this error: the client's, or one of an interceptor.
        case failed(any Error)
        /// The task was cancelled.
        case cancelled
    }

    /// One request on the network, and its result.
    public struct Exchange: Sendable {
        /// The method of the request.
        public let method: HTTPMethod
        /// The URL of the request.
        public let url: HTTPURL
        /// The reason that the request followed the one before; `nil` for the first.
        public let reason: Hop.Reason?
        /// The time from the start of the call to the start of the request.
        public let start: Duration
        /// The time from the start of the request to the end of the body, or to the failure.
        public internal(set) var duration: Duration = .zero
        /// The bytes of the head, and of as much of the body as was sent with it.
        public internal(set) var requestBytes = 0
        /// The status of the response; `nil` if there was none.
        public internal(set) var status: HTTPStatus?
        /// The connection and the times of the request; `nil` if it got no response.
        public internal(set) var transaction: HTTPTransaction?
        /// The failures of resolvers, even if another one of their chain named the addresses. The servers of
        /// a service count one by one.
        public internal(set) var resolverFailures: [ResolverError] = []
        /// The attempts at other addresses that failed.
        public internal(set) var failedAttempts: [Attempt] = []
        /// The bytes of content that were received, before decoding.
        public internal(set) var bodyBytes: UInt64 = 0
        /// Whether the body was read to its end.
        public internal(set) var isBodyWhole = false
        /// The error of a request without a response; `nil` if there was one.
        public internal(set) var error: HTTPError?
        /// The endpoint that it was sent to, also if no response came; `nil` if none was reached.
        public var endpoint: Endpoint? { transaction?.endpoint ?? error?.endpoint }

        init(_ method: HTTPMethod, _ url: HTTPURL, _ reason: Hop.Reason?, start: Duration) {
            self.method = method
            self.url = url
            self.reason = reason
            self.start = start
        }
    }

    /// The method of the caller's request.
    public let method: HTTPMethod
    /// The URL of the caller's request; `nil` if it was invalid.
    public let url: HTTPURL?
    /// The result of the call.
    public let outcome: Outcome
    /// The time until the body was read or abandoned.
    public let duration: Duration
    /// The requests that went over the network, in order; none if a cache or a mock answered.
    public let exchanges: [Exchange]
    /// The reason that the last request was not retried; `nil` if no retry policy applies to its result.
    public let retryStop: RetryStop?

    /// The method, the URL, the outcome, the number of requests and the duration, and the resolvers that
    /// failed.
    public var description: String {
        let target = url.map { "\($0)" } ?? "without a URL"
        let times = exchanges.count == 1 ? "1 request" : "\(exchanges.count) requests"
        let stop = retryStop.map { ", not retried: \($0)" } ?? ""
        let failures = exchanges.flatMap(\.resolverFailures).map { ", not resolved by \($0)" }.joined()
        return "\(method) \(target): \(outcome), \(times), \(duration.text)\(stop)\(failures)"
    }
}

extension CallReport.Outcome: CustomReflectable {
    /// An empty mirror, which hides the error of other code.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension CallReport.Outcome: CustomStringConvertible {
    /// The status or the error.
    public var description: String {
        switch self {
        case .response(let status): "\(status)"
        case .failed(let error as HTTPError): "failed: \(error)"
        // The error of other code may contain anything, even secrets.
        case .failed: "failed in an interceptor"
        case .cancelled: "cancelled"
        }
    }
}
