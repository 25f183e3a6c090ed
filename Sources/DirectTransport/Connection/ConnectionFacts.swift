package import DirectCore
package import DirectIO
package import DirectTLS

/// The properties of a connection that are the same for all of its requests.
package final class ConnectionFacts: Sendable {
    package let name: String
    package let endpoint: Endpoint
    package let source: AddressSource
    package let tls: TLSFacts?
    package let failedAttempts: [FailedAttempt]
    package let resolveTime: Duration?
    package let connectTime: Duration
    package let tlsTime: Duration?
    /// When the connection was made.
    let createdAt: Instant
    /// Whether the address came from a resolver's answer.
    package let tracksResolver: Bool
    /// The resolver's answer whose addresses all failed, so that this connection was made instead; `nil`
    /// otherwise.
    let fallbackForAnswer: [Endpoint]?
    package let proxy: String?
    package let translated: IPAddress?
    package let unixSocket: UnixSocketPath?
    /// The address and the port that its bytes leave from; `nil` for a Unix domain socket.
    package let local: Endpoint?

    /// The endpoint for errors: `nil` for a Unix domain socket, which has none.
    package var dialledEndpoint: Endpoint? { unixSocket == nil ? endpoint : nil }

    package init(
        name: String,
        endpoint: Endpoint,
        source: AddressSource,
        tls: TLSFacts?,
        failedAttempts: [FailedAttempt],
        resolveTime: Duration?,
        connectTime: Duration,
        tlsTime: Duration?,
        createdAt: Instant,
        tracksResolver: Bool,
        fallbackForAnswer: [Endpoint]?,
        proxy: String? = nil,
        translated: IPAddress? = nil,
        unixSocket: UnixSocketPath? = nil,
        local: Endpoint? = nil
    ) {
        self.name = name
        self.endpoint = endpoint
        self.source = source
        self.tls = tls
        self.failedAttempts = failedAttempts
        self.resolveTime = resolveTime
        self.connectTime = connectTime
        self.tlsTime = tlsTime
        self.createdAt = createdAt
        self.tracksResolver = tracksResolver
        self.fallbackForAnswer = fallbackForAnswer
        self.proxy = proxy
        self.translated = translated
        self.unixSocket = unixSocket
        self.local = local
    }

    /// Whether this connection was made because the route's own addresses failed. They are not tried again
    /// while it lives.
    func standsIn(for route: Route) -> Bool {
        guard let fallbackForAnswer else { return false }
        return route.answer == fallbackForAnswer
    }
}
