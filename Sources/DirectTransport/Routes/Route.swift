package import DirectCore
package import DirectIO

/// The addresses that a request may be sent to, by the source that names them.
package enum Route: Sendable {
    /// Any address that the system's resolver returns for the name.
    case system
    /// The address literal in the URL.
    case literal(IPAddress, port: UInt16)
    /// One of these endpoints and no other.
    case chosen(EndpointSelection)
    /// Any address at which a proxy finds the name.
    case byProxy
    /// A Unix domain socket, which has no address.
    case unixSocket(UnixSocketPath)

    /// The destination of a connection's bytes, as seen from this machine.
    package enum Place: Hashable, Sendable, CustomStringConvertible {
        case endpoint(Endpoint)
        case unixSocket(UnixSocketPath)

        /// The endpoint; `nil` for a Unix domain socket, which has none.
        package var endpoint: Endpoint? {
            if case .endpoint(let endpoint) = self { endpoint } else { nil }
        }

        package var description: String {
            switch self {
            case .endpoint(let endpoint): "\(endpoint)"
            case .unixSocket(let path): "unix:\(path)"
            }
        }
    }

    /// A route to these endpoints and no others; an endpoint without a port gets this one.
    package static func chosen(_ endpoints: [Endpoint], port: UInt16, source: AddressSource) -> Route {
        .chosen(EndpointSelection(endpoints, port: port, source))
    }

    /// Whether a request on this route may use a connection to `place`, which `source` named.
    ///
    /// Addresses that a caller or a resolver chose may be a trap or a test. A request that follows the
    /// system's resolver therefore never uses a connection to them.
    package func allows(_ place: Place, from source: AddressSource) -> Bool {
        guard case .endpoint(let endpoint) = place else {
            // The path is part of the pool's key.
            if case .unixSocket = self { return true } else { return false }
        }
        return switch self {
        case .system: source.author == .system
        case .literal: source.author == .url
        case .byProxy: source.author == .proxy
        // If the endpoint is the proxy itself, the bytes went on to whatever address the proxy found.
        case .chosen(let selection): source.author != .proxy && selection.contains(endpoint)
        case .unixSocket: false
        }
    }

    /// The endpoints of an answer of the client's resolver; `nil` if the route did not come from that.
    package var answer: [Endpoint]? {
        if case .chosen(let selection) = self, selection.isAnswer { selection.named } else { nil }
    }
}

/// The endpoints that a request may be sent to, with their source and, for a resolver's answer, what to do
/// when they fail.
package struct EndpointSelection: Sendable {
    /// The endpoints as they were named; `port` applies to one without a port. A request on an existing
    /// connection needs only these and `port`, and allocates nothing.
    fileprivate let named: [Endpoint]
    private let port: UInt16
    /// The source that named the endpoints.
    package let source: AddressSource
    private var extras: Extras?

    /// The values that only a resolver's answer has. They are in an object of their own because every request
    /// carries a selection of endpoints, which has to stay small.
    private final class Extras: Sendable {
        struct Values: Sendable {
            var isStrictlyOrdered = false
            var isOfRequest = false
            var isProvisional = false
            var mayAskSystem = true
            var resolveTime: Duration?
            var failures: [any Error] = []
            var rest: (@Sendable () async -> EndpointSelection?)?
            var fallback: Fallback?
            var report: (@Sendable (Endpoint, DialReport) -> Void)?
            var echConfig: (@Sendable (Endpoint) -> ECHConfigList?)?
        }

        let values: Values

        init(_ values: Values) {
            self.values = values
        }
    }

    private var values: Extras.Values {
        get { extras?.values ?? Extras.Values() }
        set { extras = Extras(newValue) }
    }

    /// Whether the first endpoint is tried until it has failed, before any other: without a race, and without
    /// regard to earlier failures.
    package var isStrictlyOrdered: Bool {
        get { extras?.values.isStrictlyOrdered ?? false }
        set { values.isStrictlyOrdered = newValue }
    }

    /// Whether the request has brought the resolver along. A different answer of the client's resolver then
    /// does not make this one outdated, nor the other way around.
    package var isOfRequest: Bool {
        get { extras?.values.isOfRequest ?? false }
        set { if newValue != isOfRequest { values.isOfRequest = newValue } }
    }

    /// Whether they are an answer of the client's resolver.
    package var isAnswer: Bool { report != nil && !isOfRequest }

    /// Whether the endpoints stand in for those of the resolver in charge, which the fallback asks: a wrong
    /// certificate at one of them is no reason to give up.
    package var isProvisional: Bool {
        get { extras?.values.isProvisional ?? false }
        set { if newValue != isProvisional { values.isProvisional = newValue } }
    }
    /// Whether the system's resolver may be asked for the translators of the network.
    package var mayAskSystem: Bool {
        get { extras?.values.mayAskSystem ?? true }
        set { if newValue != mayAskSystem { values.mayAskSystem = newValue } }
    }

    /// The time that the resolver took; `nil` if no resolver was asked.
    package var resolveTime: Duration? {
        get { extras?.values.resolveTime }
        set { values.resolveTime = newValue }
    }

    /// The errors of the resolvers that were asked before the one that named the endpoints.
    package var failures: [any Error] {
        get { extras?.values.failures ?? [] }
        set { if !newValue.isEmpty { values.failures = newValue } }
    }

    /// Waits until more is known, and returns all of it, with what is to come after that; `nil` if nothing
    /// more comes. `nil` itself if these endpoints are all.
    package var rest: (@Sendable () async -> EndpointSelection?)? {
        get { extras?.values.rest }
        set { values.rest = newValue }
    }

    /// Asks for other endpoints, and returns by the given deadline, whatever the result.
    ///
    /// - Parameter isForCallerAlone: Whether the caller has refused some, which others may use.
    package typealias Fallback =
        @Sendable (_ end: Instant, _ isForCallerAlone: Bool) async
        -> Result<EndpointSelection?, TransportError.Reason>

    /// Asks for other endpoints when none of these could be reached; `nil` if there is no fallback.
    package var fallback: Fallback? {
        get { extras?.values.fallback }
        set { values.fallback = newValue }
    }

    /// Reports the outcome of dialling an endpoint to the resolver that named it; `nil` if that was not a
    /// resolver. Never blocks.
    package var report: (@Sendable (Endpoint, DialReport) -> Void)? {
        get { extras?.values.report }
        set { values.report = newValue }
    }

    /// Returns the configurations for Encrypted Client Hello of the server at an endpoint, from the same
    /// source as the endpoint; `nil` if it has none at all.
    package var echConfig: (@Sendable (Endpoint) -> ECHConfigList?)? {
        get { extras?.values.echConfig }
        set { values.echConfig = newValue }
    }

    package init(_ endpoints: [Endpoint], port: UInt16, _ source: AddressSource) {
        named = endpoints
        self.port = port
        self.source = source
    }

    /// Returns the selection with these of its endpoints only, and without its fallback.
    func limited(to endpoints: [Endpoint]) -> EndpointSelection {
        var limited = EndpointSelection(endpoints, port: port, source)
        limited.extras = extras
        if limited.fallback != nil { limited.fallback = nil }
        if limited.rest != nil { limited.rest = nil }
        return limited
    }

    /// The endpoints in order of preference, each with its port. Never empty.
    package var endpoints: [Endpoint] {
        named.map { $0.port == nil ? Endpoint($0.address, port: port) : $0 }
    }

    /// Whether the given endpoint, which has its port, is one of these.
    package func contains(_ endpoint: Endpoint) -> Bool {
        named.contains { $0.address == endpoint.address && ($0.port ?? port) == endpoint.port }
    }
}

/// The outcome of dialling an endpoint, for the resolver that named it.
package enum DialReport: Sendable {
    /// The connection was established after this time.
    case connected(after: Duration)
    /// No connection was established: the phase that failed, and the reason.
    case failed(TransportError.Phase, TransportError.Reason)
}
