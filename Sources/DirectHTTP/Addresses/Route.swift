internal import DirectIO

/// The ways a request may go.
enum Route: Sendable {
    /// To whatever address the system's resolver gives for the name.
    case system
    /// To the address that the URL has for a host.
    case literal(IPAddress, port: UInt16)
    /// To one of these and to no other.
    case chosen(Choice)

    /// To these and to no other; an endpoint without a port has this one.
    static func chosen(_ endpoints: [Endpoint], port: UInt16, _ source: AddressSource) -> Route {
        .chosen(Choice(endpoints, port: port, source))
    }

    /// Whether a connection to `endpoint`, whose address `source` named, goes this way.
    ///
    /// What somebody chose may be a trap or a test: a request that follows the system never rides on it.
    func leads(to endpoint: Endpoint, from source: AddressSource) -> Bool {
        switch self {
        case .system: source.author == .system
        case .literal: source.author == .url
        case .chosen(let choice): choice.endpoints.contains(endpoint)
        }
    }

    /// The same way without that endpoint, as long as another one is left.
    func avoiding(_ endpoint: Endpoint) -> Route {
        guard case .chosen(var choice) = self else { return self }
        let others = choice.endpoints.filter { $0 != endpoint }
        guard !others.isEmpty else { return self }
        choice.endpoints = others
        return .chosen(choice)
    }
}

/// The endpoints that a request may be sent to, who named them, and what there is to do about them.
struct Choice: Sendable {
    /// In order of preference, never empty, each with its port.
    fileprivate(set) var endpoints: [Endpoint]
    let source: AddressSource
    /// Whether the first is to be tried until it has failed, before any other: no race, no memory.
    var isStrictlyOrdered = false
    /// How long it took to be told; nothing if no question had to be asked.
    var resolveTime: Duration?
    /// Where else to go, asked for when no endpoint would do: nothing if nowhere else. The answer, whichever
    /// it is, comes by the given moment.
    var fallback: (@Sendable (Instant) async -> Result<Choice?, HTTPError.Reason>)?
    /// Takes what came of dialling, so that who named the endpoint knows better next time. Never blocks.
    var report: (@Sendable (Endpoint, DialOutcome) -> Void)?

    init(_ endpoints: [Endpoint], port: UInt16, _ source: AddressSource) {
        self.endpoints =
            endpoints.allSatisfy { $0.port != nil }
            ? endpoints : endpoints.map { Endpoint($0.address, port: $0.port ?? port) }
        self.source = source
    }
}
