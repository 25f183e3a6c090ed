public import DirectCore
internal import DirectIO
public import DirectTLS

/// The connection that one request used, and when it used it.
public struct HTTPTransaction: Sendable, CustomStringConvertible {
    let connection: ConnectionFacts
    let times: Times
    /// Whether the connection had served an earlier request.
    public let isReused: Bool

    struct Times: Sendable {
        var start: Instant
        var sent: Instant
        var response: Instant
    }

    /// The name that the request was for.
    public var name: String { connection.name }
    /// The endpoint that the bytes went to.
    public var endpoint: Endpoint { connection.endpoint }
    /// The source of the endpoint's address.
    public var source: AddressSource { connection.source }
    /// The proxy, without user and password; `nil` without one. If the proxy resolved the name, the endpoint is the
    /// proxy's own.
    public var proxy: String? { connection.proxy }
    /// The IPv6 address that was dialled if the endpoint's IPv4 address can be reached through a translator only
    /// (RFC 6052).
    public var translatedAddress: IPAddress? { connection.translated }
    /// The result of the TLS handshake; `nil` for `http`.
    public var tls: TLSFacts? { connection.tls }
    /// The addresses that were tried before this one, and failed.
    public var failedAttempts: [Attempt] { connection.failedAttempts }

    /// The time to resolve the name; `nil` if that was not needed.
    public var resolveTime: Duration? { isReused ? nil : connection.resolveTime }
    /// The time to connect to the address; `nil` on a reused connection.
    public var connectTime: Duration? { isReused ? nil : connection.connectTime }
    /// The time of the TLS handshake; `nil` on a reused connection and for `http`.
    public var tlsTime: Duration? { isReused ? nil : connection.tlsTime }
    /// The time from the start of the request, before its connection was found, until it was sent or its upload began.
    public var requestTime: Duration { times.sent.since(times.start) }
    /// The time from the start of the request, before its connection was found, to the head of the response.
    public var responseTime: Duration { times.response.since(times.start) }

    /// The name, the endpoint, the proxy, the connection, TLS and the response time.
    public var description: String {
        var text = "\(name) at \(endpoint) (\(source)), "
        if let proxy { text += "over \(proxy), " }
        text += isReused ? "reused" : "new connection"
        if let tls { text += ", \(tls)" }
        return text + ", response after \(responseTime)"
    }
}

/// The properties of a connection that are the same for all of its requests.
final class ConnectionFacts: Sendable {
    let name: String
    let endpoint: Endpoint
    let source: AddressSource
    let tls: TLSFacts?
    let failedAttempts: [Attempt]
    let resolveTime: Duration?
    let connectTime: Duration
    let tlsTime: Duration?
    /// When the connection was made.
    let birth: Instant
    /// Whether the address came from a resolver's answer.
    let tracksResolver: Bool
    /// The resolver's answer whose addresses all failed, so that this connection was made instead; `nil` otherwise.
    let fallbackForAnswer: [Endpoint]?
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
        tracksResolver: Bool,
        fallbackForAnswer: [Endpoint]?,
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
        self.tracksResolver = tracksResolver
        self.fallbackForAnswer = fallbackForAnswer
        self.proxy = proxy
        self.translated = translated
    }

    /// Whether this connection was made because the route's own addresses failed. They are not tried again while it
    /// lives.
    func standsIn(for route: Route) -> Bool {
        guard let fallbackForAnswer else { return false }
        return route.answer == fallbackForAnswer
    }
}
