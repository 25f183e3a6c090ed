package import DirectCore
internal import DirectIO
package import DirectTLS

/// The properties of a connection that are the same for all of its requests.
package final class ConnectionFacts: Sendable {
    package let name: String
    package let path: Path
    package let tls: TLSFacts?
    package let times: Times
    package let search: Search

    @inline(never)
    init(name: String, path: Path, tls: TLSFacts? = nil, times: Times, search: Search = Search()) {
        self.name = name
        self.path = path
        self.tls = tls
        self.times = times
        self.search = search
    }

    /// The destination of the bytes.
    package struct Path: Sendable {
        package let place: Route.Place
        package let source: AddressSource
        package var proxy: String?
        package var translated: IPAddress?
        /// The address and the port that its bytes leave from; `nil` for a Unix domain socket.
        package var local: Endpoint?
    }

    /// The time it took to make the connection.
    package struct Times: Sendable {
        package var resolve: Duration?
        package var connect = Duration.zero
        package var tls: Duration?
        /// When the connection was made.
        let end: Instant
    }

    /// The search for an address that can be reached.
    package struct Search: Sendable {
        package var failedAttempts: [FailedAttempt] = []
        /// Whether the address came from a resolver's answer.
        var tracksResolver = false
        /// The resolver's answer that does not have the address, because all of its own failed or this one
        /// came later; `nil` otherwise.
        var fallbackForAnswer: [Endpoint]?
    }

    /// The endpoint that the bytes go to; `nil` for a Unix domain socket, which has none.
    package var endpoint: Endpoint? { path.place.endpoint }
    package var source: AddressSource { path.source }

    /// Whether this connection was made because the route's own addresses failed or were not all. They are
    /// not tried again while it lives.
    @inline(never)
    func standsIn(for route: Route) -> Bool {
        guard let fallbackForAnswer = search.fallbackForAnswer else { return false }
        return route.answer == fallbackForAnswer
    }
}
