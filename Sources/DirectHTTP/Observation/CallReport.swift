public import DirectHTTP1

/// A whole call, looked at from its end.
///
/// In the terms of OpenTelemetry: a transaction's `name` is `server.address`, its `endpoint` is
/// `network.peer.address` and `network.peer.port`, and an exchange's place in the list is
/// `http.request.resend_count`.
public struct CallReport: Sendable, CustomStringConvertible {
    /// How a call can end.
    public enum Outcome: Sendable {
        /// With this response, whose body was read or given up.
        case response(Status)
        /// With this error: one of ours, or an interceptor's own.
        case failed(any Error)
        /// The task was cancelled.
        case cancelled
    }

    /// One request on the network, and what came of it.
    public struct Exchange: Sendable {
        public let method: Method
        public let url: HTTPURL
        /// Why it followed the one before; nothing for the first.
        public let reason: Hop.Reason?
        /// From the beginning of the call to its own.
        public let start: Duration
        /// From its beginning to the end of the body, or to the failure.
        public internal(set) var duration: Duration = .zero
        /// Bytes of the request's head, and of as much of the body as went with it.
        public internal(set) var requestBytes = 0
        public internal(set) var status: Status?
        /// Where it went, and when; nothing if it got no response.
        public internal(set) var transaction: Transaction?
        /// The addresses that were tried for it in vain.
        public internal(set) var failedAttempts: [Attempt] = []
        /// Bytes of the response's content that were read, as they came: still coded.
        public internal(set) var bodyBytes: UInt64 = 0
        /// Whether the body was read to its end.
        public internal(set) var isBodyWhole = false
        /// Why there is no response.
        public internal(set) var error: HTTPError?

        init(_ method: Method, _ url: HTTPURL, _ reason: Hop.Reason?, start: Duration) {
            self.method = method
            self.url = url
            self.reason = reason
            self.start = start
        }
    }

    /// What the caller asked for.
    public let method: Method
    /// The URL that the caller asked for; nothing if it could not be used.
    public let url: HTTPURL?
    public let outcome: Outcome
    /// Until the body was read or given up.
    public let duration: Duration
    /// The requests that went over the network, in their order; none if a cache or a mock answered.
    public let exchanges: [Exchange]
    /// Why no other try followed the last one, if it ended in what a retry policy is for; else `nil`.
    public let retryStop: RetryStop?

    public var description: String {
        let target = url.map { "\($0)" } ?? "without a URL"
        let times = exchanges.count == 1 ? "1 request" : "\(exchanges.count) requests"
        let stop = retryStop.map { ", not tried again: \($0)" } ?? ""
        return "\(method) \(target): \(outcome), \(times), \(duration)\(stop)"
    }
}

extension CallReport.Outcome: CustomStringConvertible {
    public var description: String {
        switch self {
        case .response(let status): "\(status)"
        case .failed(let error as HTTPError): "failed: \(error)"
        // Somebody else's error may say anything.
        case .failed: "failed in an interceptor"
        case .cancelled: "cancelled"
        }
    }
}
