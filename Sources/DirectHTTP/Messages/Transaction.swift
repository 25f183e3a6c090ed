public import DirectIO
public import DirectTLS

/// What happened to one request on the wire: for whom, where it went, over what, and when.
public struct Transaction: Sendable, CustomStringConvertible {
    let connection: ConnectionFacts
    let times: Times
    /// Whether the connection had served a request before.
    public let isReused: Bool

    struct Times: Sendable {
        var start: Instant
        var sent: Instant
        var response: Instant
    }

    /// The name the request was for.
    public var name: String { connection.name }
    /// The address the bytes went to.
    public var endpoint: Endpoint { connection.endpoint }
    /// Where that address came from.
    public var source: AddressSource { connection.source }
    /// The proxy that the bytes went over, without user and password. If it was given the name, the endpoint is
    /// its own.
    public var proxy: String? { connection.proxy }
    /// The IPv6 address that was dialled because there is no way to the endpoint's IPv4 address but over a
    /// translator (RFC 6052).
    public var translatedAddress: IPAddress? { connection.translated }
    /// What was agreed in the TLS handshake; nothing for `http`.
    public var tls: TLSFacts? { connection.tls }
    /// The addresses that were tried in vain before this one.
    public var failedAttempts: [Attempt] { connection.failedAttempts }

    /// Turning the name into addresses; nothing if that was not needed.
    public var resolveTime: Duration? { isReused ? nil : connection.resolveTime }
    /// Connecting to the address; nothing on a connection that was there.
    public var connectTime: Duration? { isReused ? nil : connection.connectTime }
    /// The TLS handshake; nothing on a connection that was there.
    public var tlsTime: Duration? { isReused ? nil : connection.tlsTime }
    /// From the call to the last byte of the request.
    public var requestTime: Duration { times.sent.since(times.start) }
    /// From the call to the head of the response.
    public var responseTime: Duration { times.response.since(times.start) }

    public var description: String {
        var text = "\(name) at \(endpoint) (\(source)), "
        if let proxy { text += "over \(proxy), " }
        text += isReused ? "reused" : "new connection"
        if let tls { text += ", \(tls)" }
        return text + ", response after \(responseTime)"
    }
}

/// What stays the same for all requests on one connection.
final class ConnectionFacts: Sendable {
    let name: String
    let endpoint: Endpoint
    let source: AddressSource
    let tls: TLSFacts?
    let failedAttempts: [Attempt]
    let resolveTime: Duration?
    let connectTime: Duration
    let tlsTime: Duration?
    /// When it was made.
    let birth: Instant
    /// Whether the address is a resolver's answer.
    let followsAnswers: Bool
    /// The answer none of whose addresses could be reached, so that this one had to do.
    let standsInFor: [Endpoint]?
    let proxy: String?
    let translated: IPAddress?

    init(
        name: String,
        endpoint: Endpoint,
        source: AddressSource,
        tls: TLSFacts?,
        failedAttempts: [Attempt],
        resolveTime: Duration?,
        connectTime: Duration,
        tlsTime: Duration?,
        birth: Instant,
        followsAnswers: Bool,
        standsInFor: [Endpoint]?,
        proxy: String? = nil,
        translated: IPAddress? = nil
    ) {
        self.name = name
        self.endpoint = endpoint
        self.source = source
        self.tls = tls
        self.failedAttempts = failedAttempts
        self.resolveTime = resolveTime
        self.connectTime = connectTime
        self.tlsTime = tlsTime
        self.birth = birth
        self.followsAnswers = followsAnswers
        self.standsInFor = standsInFor
        self.proxy = proxy
        self.translated = translated
    }

    /// Whether the route's own addresses could not be reached when this connection was made, and it was made
    /// in their stead: as long as it lives, nobody tries them again.
    func standsIn(for route: Route) -> Bool {
        guard let standsInFor else { return false }
        return route.answer == standsInFor
    }
}
