internal import DirectIO

/// The ways a request may go.
enum Route: Sendable {
    /// To whatever address the system's resolver gives for the name.
    case system
    /// To the address that the URL has for a host.
    case literal(IPAddress, port: UInt16)
    /// To one of these and to no other; an endpoint without a port has this one.
    case chosen([Endpoint], port: UInt16, AddressSource)

    /// Whether a connection to `endpoint`, whose address `source` named, goes this way.
    ///
    /// What somebody chose may be a trap or a test: a request that follows the system never rides on it.
    func leads(to endpoint: Endpoint, from source: AddressSource) -> Bool {
        switch self {
        case .system: source == .system
        case .literal: source == .url
        case .chosen(let endpoints, let port, _):
            endpoints.contains { $0.address == endpoint.address && ($0.port ?? port) == endpoint.port }
        }
    }

    /// The same way without that endpoint, as long as another one is left.
    func avoiding(_ endpoint: Endpoint) -> Route {
        guard case .chosen(let endpoints, let port, let source) = self else { return self }
        let others = endpoints.filter { $0.address != endpoint.address || ($0.port ?? port) != endpoint.port }
        return others.isEmpty ? self : .chosen(others, port: port, source)
    }
}
