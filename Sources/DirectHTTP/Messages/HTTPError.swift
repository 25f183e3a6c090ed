public import DirectCoding
public import DirectHTTP1
public import DirectIO
public import DirectTLS

/// A request that failed: in which phase, why, for which name and at which address.
///
/// Cancelling the task is not an error of ours: it throws `CancellationError`. No header value, no user
/// part of a URL and no byte of a body ever appears in here.
public struct HTTPError: Error, Sendable, CustomStringConvertible {
    /// How far the request had come.
    public enum Phase: String, Hashable, Sendable {
        /// Nothing was done yet: the request itself is at fault, its time was over, or who was to vouch for it did
        /// not answer.
        case request
        /// Turning the name into addresses.
        case resolve
        /// Waiting for a connection to become free.
        case queue
        /// Reaching a proxy, and asking it for the way to the server.
        case proxy
        /// Connecting to an address.
        case connect
        /// The TLS handshake, which includes all checks of the certificate.
        case tls
        /// Sending the request.
        case write
        /// Waiting for and reading the head of the response.
        case response
        /// Reading the body of the response.
        case body
        /// Going where the response points.
        case redirect
    }

    /// What went wrong.
    @nonexhaustive
    public enum Reason: Error, Sendable {
        case url(URLFault)
        case address(AddressError)
        /// The request names no address to go to, and an empty list never means "ask the system".
        case noAddresses
        case lookup(LookupError)
        /// The client's resolver has no address for the name.
        indirect case resolver(ResolverError)
        /// The client's vetting refused the address.
        case refused(AddressRefusal)
        case system(SystemError)
        /// The attempt was stopped, because another address decided the matter first.
        case overtaken
        case tls(TLSError)
        /// The proxy did not lead to the server.
        indirect case proxy(ProxyFault)
        /// The peer, or the request, broke the grammar of HTTP/1.1.
        case http(HTTP1Error)
        /// The phase, or the request as a whole, took longer than this.
        case timedOut(after: Duration)
        /// The peer ended the connection before the response was whole.
        case connectionClosed
        /// The response points where we do not go.
        case redirect(RedirectFault)
        /// The body is larger than the caller was ready to hold.
        case bodyTooLarge(limit: Int)
        /// The body that was to be sent gave more or fewer bytes than announced.
        case bodyLength(announced: UInt64, given: UInt64)
        /// The source of the body that was to be sent failed.
        case bodySource(any Error)
        /// The body of a response is read by one task, once.
        case bodyAlreadyRead
        /// What the cache had kept of the response turned out to be damaged while it was read.
        case cache(CacheFault)
        /// The body could not be decoded.
        case coding(CodingError)
        /// The body that was to be sent cannot be made.
        case requestBody(RequestBodyFault)
        /// Fewer bytes came, or were taken, than the least that the timeouts ask for.
        case tooSlow(Timeouts.Speed)
        /// There is no stream to take: the protocol was not switched, or somebody has taken it.
        case noStream
        /// The stream has been closed on this side, or its writing side has been ended.
        case streamClosed
        /// The status of the response says no success, and the caller would have nothing else.
        case status(Status)
    }

    public let phase: Phase
    public let reason: Reason
    /// The name the request was for, as it stands in the URL; nothing if the URL has none.
    public let name: String?
    /// The address that the connection was made to, if it had come so far.
    public let endpoint: Endpoint?
    /// Every address that was tried in vain before, and what came of it.
    public let attempts: [Attempt]
    /// The requests before the one that failed: with a response that led to the next one, or with a failure after which
    /// the request was sent again.
    public internal(set) var history: [Hop] = []
    /// Why no other try followed, if a retry policy is for such a failure; else `nil`.
    public internal(set) var retryStop: RetryStop?
    /// The response that had come whole before the request could be sent to its end: the server has accepted, and
    /// not received, what was sent. `nil` for every other failure.
    public internal(set) var response: ReceivedResponse?

    package init(
        _ phase: Phase,
        _ reason: Reason,
        name: String? = nil,
        endpoint: Endpoint? = nil,
        attempts: [Attempt] = []
    ) {
        self.phase = phase
        self.reason = reason
        self.name = name
        self.endpoint = endpoint
        self.attempts = attempts
    }

    public var description: String {
        var text = phase.rawValue
        if let name { text += " \(name)" }
        if let endpoint { text += " at \(endpoint)" }
        text += ": \(reason)"
        // The only attempt may be what the error is about: that has been said.
        if attempts.count > 1 || attempts.first?.endpoint != endpoint {
            for attempt in attempts { text += "; \(attempt)" }
        }
        for hop in history where hop.reason == .retry { text += "; earlier try: \(hop.result)" }
        if let retryStop { text += "; not tried again: \(retryStop)" }
        return text
    }
}

extension HTTPError.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .url(let fault): "\(fault)"
        case .address(let fault): "\(fault)"
        case .noAddresses: "an empty list of addresses"
        case .lookup(let error): "\(error)"
        case .resolver(let error): "\(error)"
        case .refused(let refusal): "\(refusal)"
        case .system(let error): "\(error)"
        case .proxy(let fault): "\(fault)"
        case .overtaken: "overtaken by another address"
        case .tls(let error): "\(error)"
        case .http(let error): "\(error)"
        case .timedOut(let limit): "timed out after \(limit)"
        case .connectionClosed: "the peer closed the connection before the response was complete"
        case .redirect(let fault): "\(fault)"
        case .bodyTooLarge(let limit): "the body is larger than \(limit) bytes"
        case .bodyLength(let announced, let given):
            "the body was announced with \(announced) bytes and has \(given)\(given > announced ? " or more" : "")"
        case .bodySource: "the source of the request's body failed"
        case .bodyAlreadyRead: "the body has been read, or is being read, elsewhere"
        case .cache(let fault): "\(fault)"
        case .coding(let error): "\(error)"
        case .requestBody(let fault): "\(fault)"
        case .tooSlow(let speed): "slower than \(speed)"
        case .noStream: "there is no stream to take: the protocol was not switched, or it has been taken"
        case .status(let status): "the server answered \(status)"
        case .streamClosed: "the stream has been closed on this side"
        }
    }
}

/// One address that was tried, and why it did not do.
public struct Attempt: Sendable, CustomStringConvertible {
    public let endpoint: Endpoint
    /// Who named the address.
    public let source: AddressSource
    /// How far it came.
    public let phase: HTTPError.Phase
    public let reason: HTTPError.Reason
    /// From the first step towards it to the failure.
    public let elapsed: Duration

    public var description: String {
        "\(endpoint) (\(source)): \(phase.rawValue): \(reason) (\(elapsed))"
    }
}
