public import DirectCoding
public import DirectCore
public import DirectHTTP1
public import DirectIO
public import DirectTLS
internal import DirectTransport

/// The error of a request: the phase and the reason, and the request, the name and the endpoint if they are
/// known.
///
/// Cancelling the task is not such an error: it throws `CancellationError`. The description and the dump of
/// an error contain no header value, no user part or query value of a URL and no byte of a body; ``response``
/// has those of a response.
public struct HTTPError: Error, Sendable, CustomStringConvertible {
    /// The phase that a request had reached.
    public enum Phase: String, Hashable, Sendable {
        /// Nothing was done yet: the request is invalid, its deadline had passed, or the authenticator
        /// failed. One that fails when it has to answer a 401 leaves the phase ``response``.
        case request
        /// Resolving the name.
        case resolve
        /// Waiting in the queue for a connection.
        case queue
        /// Connecting to a proxy and asking it for the tunnel.
        case proxy
        /// Connecting to an address.
        case connect
        /// The TLS handshake, with all checks of the certificate.
        case tls
        /// Sending the request, also if ``Timeouts/total`` ends before it has been sent whole.
        case write
        /// Waiting for the head of the response and receiving it.
        case response
        /// Receiving the body of the response.
        case body
        /// Following a redirect.
        case redirect
    }

    /// The reason of a failure.
    @nonexhaustive
    public enum Reason: Error, Sendable {
        /// The URL is invalid.
        case url(HTTPURLError)
        /// An address is invalid.
        case address(AddressError)
        /// The list of addresses to connect to is empty; that never means "ask the system".
        case noAddresses
        /// The system's resolver failed.
        case lookup(LookupError)
        /// The client's resolver has no address for the name.
        indirect case resolver(ResolverError)
        /// ``HTTPClient/Configuration/vetting`` refused the address.
        case refused(AddressRefusal)
        /// A system call failed: over `http` also when a connection is lost
        /// (``HTTPError/isConnectionLoss``).
        case system(SystemError)
        /// The attempt was abandoned, because the attempt at another address settled the matter first. A
        /// network interceptor also gets this for a hedge that is not sent: there is no other address for it,
        /// or the interceptor has made a request of it that may be sent only once.
        case overtaken
        /// The TLS handshake or the TLS connection failed, also because the connection was lost
        /// (``HTTPError/isConnectionLoss``).
        case tls(TLSError)
        /// The proxy failed, or it refused to connect to the server.
        indirect case proxy(ProxyError)
        /// The peer, or the request, violated the syntax of HTTP/1.1.
        case http(HTTP1Error)
        /// The phase, or the request as a whole, took longer than this limit.
        case timedOut(after: Duration)
        /// The peer closed the connection while the request was being sent, or cut off a stream. Its end
        /// within a response is ``http(_:)``; ``HTTPError/isConnectionLoss`` asks for all of them.
        case connectionClosed
        /// The redirect was not followed.
        case redirect(RedirectError)
        /// The body is larger than the limit for bodies held in memory.
        case bodyTooLarge(limit: Int)
        /// The request's body has more or fewer bytes than announced.
        case bodyLength(announced: UInt64, given: UInt64)
        /// The source of the request's body failed.
        case bodySource(any Error)
        /// The authenticator that has to provide the credentials for the server failed, for example with an
        /// ``AuthenticationError``. One for a proxy: ``ProxyError/authenticator(_:)``.
        case authenticator(any Error)
        /// The body of the response has been read, or another task is reading it: it can be read once, by one
        /// task.
        case bodyAlreadyRead
        /// The cache's copy of the response turned out to be damaged while it was read.
        case cache(CacheError)
        /// The body could not be decoded.
        case coding(CodingError)
        /// The request's body cannot be made.
        case requestBody(RequestBodyError)
        /// Fewer bytes were received or sent than ``Timeouts/minimumSpeed`` requires.
        case tooSlow(Timeouts.Speed)
        /// Settings of the request make no sense together, or where they are set.
        case settings(ConnectionSettingsError)
        /// There is no stream: the protocol was not switched, or the stream has been taken.
        case noStream
        /// The stream was closed on this side, or its writing side has ended.
        case streamClosed
        /// The status is not one of success, and the caller required one.
        case status(HTTPStatus)
        /// The body is text in this charset, which is not supported. Of a long label the beginning.
        case unsupportedCharset(String)
        /// A line of the body is longer than the limit.
        case lineTooLong(limit: Int)
        /// A line or the data of a server-sent event is larger than the limit.
        case eventTooLong(limit: Int)
        /// The content of the response is no stream of server-sent events.
        case notEventStream
        /// The file of a download cannot be completed.
        case download(DownloadError)
        /// A call of ``HTTPClient/Blocking`` was made inside a task or on an event loop, where it could block
        /// itself.
        case blockingInTask
    }

    /// The phase in which the request failed.
    public let phase: Phase
    /// The reason of the failure.
    public internal(set) var reason: Reason
    /// The method of the request that failed, which after a redirect is not the caller's; `nil` if it is no
    /// token, or if no layer that knows it has reported the error.
    public internal(set) var method: HTTPMethod?
    /// The URL of the request that failed, as a log may show it: ``HTTPURL/redacted``. `nil` if it is
    /// invalid, or if no layer that knows it has reported the error.
    public internal(set) var url: HTTPURL?
    /// The host of the URL, as it stands there; `nil` if the URL is invalid.
    public let name: String?
    /// The endpoint of the connection; `nil` if the request had not come so far.
    public let endpoint: Endpoint?
    /// The endpoints that were tried before without success, and why they failed.
    public let attempts: [Attempt]
    /// The earlier requests of the call: those whose response led to the next request, and those that failed
    /// and were retried.
    public internal(set) var history: [Hop] = []
    /// The reason that the failure was not retried; `nil` if no retry policy applies to it.
    public internal(set) var retryStop: RetryStop?
    /// The response that the caller refused with `requiringSuccess`, with the beginning of its body. Or the
    /// response that arrived whole before the request could be sent whole: the server has accepted the
    /// request, but not received all of it. `nil` for every other failure.
    public var response: ReceivedResponse?

    /// The certificates that the server sent, unread; `nil` if the failure is not about them.
    var chain: CertificateChain?

    /// The certificates that the server sent, its own first, if the handshake failed because of them.
    /// Otherwise empty. Parsed at each call.
    public var certificates: [CertificateSummary] { chain?.summaries ?? [] }

    /// Makes an error, for a transport in tests, an interceptor or a resolver.
    ///
    /// - Parameters:
    ///   - phase: The phase in which the request failed.
    ///   - reason: The reason of the failure.
    ///   - method: The method of the request. The client adds it, and the URL, to errors that have none.
    ///   - url: The URL of the request. The error keeps ``HTTPURL/redacted``.
    ///   - endpoint: The endpoint of the connection.
    ///   - attempts: The endpoints that were tried before.
    @inline(never)
    public init(
        _ phase: Phase,
        _ reason: Reason,
        method: HTTPMethod? = nil,
        url: HTTPURL? = nil,
        endpoint: Endpoint? = nil,
        attempts: [Attempt] = []
    ) {
        self.init(phase, reason, name: url?.host.description, endpoint: endpoint, attempts: attempts)
        self.method = method?.ifValid
        self.url = url?.redacted
    }

    /// Makes an error of code that does not know the request.
    @inline(never)
    init(
        _ phase: Phase,
        _ reason: Reason,
        name: String?,
        endpoint: Endpoint? = nil,
        attempts: [Attempt] = []
    ) {
        self.phase = phase
        self.reason = reason
        self.name = name
        self.endpoint = endpoint
        self.attempts = attempts
    }

    /// The highest number of failed attempts in a description: an answer may have thousands of addresses.
    private static let mostShown = 8

    /// The method and the URL, the phase, the endpoint and the reason, then the first failed attempts and the
    /// retries.
    /// Without a URL the name follows the phase.
    public var description: String {
        var text = url.map { "\(method.map { "\($0) " } ?? "")\($0): " } ?? ""
        text += phase.rawValue
        if url == nil, let name { text += " \(name)" }
        if let endpoint { text += " at \(endpoint)" }
        text += ": \(reason)"
        // The only attempt may be the one that the error describes already.
        if attempts.count > 1 || attempts.first?.endpoint != endpoint {
            for attempt in attempts.prefix(Self.mostShown) { text += "; \(attempt)" }
            let more = attempts.count - Self.mostShown
            if more > 0 { text += "; \(more) more attempts failed" }
        }
        for hop in history where hop.reason == .retry { text += "; earlier attempt: \(hop.result)" }
        if let retryStop { text += "; not retried: \(retryStop)" }
        return text
    }
}

extension HTTPError.Reason: CustomStringConvertible {
    /// The reason in words, without secrets.
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
        case .timedOut(let limit): "timed out after \(limit.text)"
        case .connectionClosed: "the peer closed the connection before the response was complete"
        case .redirect(let fault): "\(fault)"
        case .bodyTooLarge(let limit): "the body is larger than \(limit) bytes"
        case .bodyLength(let announced, let given):
            "the body was announced with \(announced) bytes and has \(given)\(given > announced ? " or more" : "")"
        case .bodySource: "the source of the request's body failed"
        case .authenticator(let fault as AuthenticationError): "the authenticator failed: \(fault)"
        case .authenticator: "the authenticator failed"
        case .bodyAlreadyRead: "the body has already been read, or another task is reading it"
        case .cache(let fault): "\(fault)"
        case .coding(let error): "\(error)"
        case .requestBody(let fault): "\(fault)"
        case .tooSlow(let speed): "slower than \(speed)"
        case .settings(let fault): "\(fault)"
        case .noStream: "there is no stream to take: the protocol was not switched, or it has been taken"
        case .status(let status): "the server answered \(status)"
        case .streamClosed: "the stream has been closed on this side"
        case .unsupportedCharset(let label): "the charset \(label.debugDescription) is not supported"
        case .lineTooLong(let limit): "a line of the body is longer than \(limit) bytes"
        case .eventTooLong(let limit): "an event of the body is larger than \(limit) bytes"
        case .notEventStream: "the content is no stream of server-sent events (text/event-stream)"
        case .download(let error): "\(error)"
        case .blockingInTask: "a blocking call inside a task or on an event loop"
        }
    }
}

extension HTTPError.Reason: CustomReflectable {
    /// An empty mirror: an error of other code may contain anything, even secrets. The description says the
    /// rest.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// An address that was tried, and why the attempt failed.
public struct Attempt: Sendable, CustomStringConvertible {
    /// The endpoint that was tried.
    public let endpoint: Endpoint
    /// The source of the address.
    public let source: AddressSource
    /// The phase in which the attempt failed.
    public let phase: HTTPError.Phase
    /// The reason of the failure.
    public let reason: HTTPError.Reason
    /// The time from the attempt's first step to its failure.
    public let elapsed: Duration

    /// The certificates that the server sent, unread; `nil` if the failure is not about them.
    var chain: CertificateChain?

    /// The certificates that the server sent, its own first, if the attempt failed because of them. Otherwise
    /// empty. Parsed at each call.
    public var certificates: [CertificateSummary] { chain?.summaries ?? [] }

    /// Makes an attempt, for an error that a test or an interceptor makes.
    public init(
        _ endpoint: Endpoint,
        source: AddressSource,
        phase: HTTPError.Phase,
        reason: HTTPError.Reason,
        elapsed: Duration
    ) {
        self.endpoint = endpoint
        self.source = source
        self.phase = phase
        self.reason = reason
        self.elapsed = elapsed
    }

    /// The endpoint, the source of its address, the phase, the reason and the time.
    public var description: String {
        "\(endpoint) (\(source)): \(phase.rawValue): \(reason) (\(elapsed.text))"
    }
}

extension HTTPError {
    /// Returns the error with the method and the URL of its request, unless it has them already: the
    /// innermost layer that knows the request is right, because a call may make several.
    @inline(never)
    func about(_ method: HTTPMethod, _ url: HTTPURL?) -> HTTPError {
        guard self.method == nil else { return self }
        var error = self
        error.method = method.ifValid
        error.url = url?.redacted
        return error
    }

    /// Returns the error with the method and the URL of the request, unless it has them already.
    @inline(never)
    func about(_ request: Request) -> HTTPError {
        about(request.method, try? request.url)
    }

    /// Returns the error with the method and the URL of the request, unless it has them already.
    @inline(never)
    func about(_ line: RequestLine?) -> HTTPError {
        line.map { about($0.method, $0.url) } ?? self
    }
}

extension HTTPMethod {
    /// The method; `nil` if it is no token. A text that could be anything must not get into a log.
    package var ifValid: HTTPMethod? { HTTPMethod(validating: description) }
}
