internal import DirectIO

/// The ways a request may go.
enum Route: Sendable {
    /// To whatever address the system's resolver gives for the name.
    case system
    /// To the address that the URL has for a host.
    case literal(IPAddress, port: UInt16)
    /// To one of these and to no other.
    case chosen(Choice)
    /// To wherever a proxy finds the name.
    case byProxy

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
        case .byProxy: source.author == .proxy
        // Where the endpoint is a proxy's own, the bytes went on to wherever it found the name.
        case .chosen(let choice): source.author != .proxy && choice.contains(endpoint)
        }
    }

    /// Where a resolver's answer leads; nothing if it was not a resolver that said so.
    var answer: [Endpoint]? {
        guard case .chosen(let choice) = self, choice.report != nil else { return nil }
        return choice.given
    }
}

/// The endpoints that a request may be sent to, who named them, and what there is to do about them.
struct Choice: Sendable {
    /// As they were named: one without a port has this one. A request on a connection that is there needs no
    /// more, and allocates nothing.
    fileprivate let given: [Endpoint]
    private let port: UInt16
    let source: AddressSource
    private var extras: Extras?

    /// What there is to say of a resolver's answer only, in a place of its own: each request carries a choice about.
    private final class Extras: Sendable {
        struct Values: Sendable {
            var isStrictlyOrdered = false
            var resolveTime: Duration?
            var fallback: (@Sendable (Instant) async -> Result<Choice?, HTTPError.Reason>)?
            var report: (@Sendable (Endpoint, DialOutcome) -> Void)?
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

    /// Whether the first is to be tried until it has failed, before any other: no race, no memory.
    var isStrictlyOrdered: Bool {
        get { values.isStrictlyOrdered }
        set { values.isStrictlyOrdered = newValue }
    }

    /// How long it took to be told; nothing if no question had to be asked.
    var resolveTime: Duration? {
        get { values.resolveTime }
        set { values.resolveTime = newValue }
    }

    /// Where else to go, asked for when no endpoint would do: nothing if nowhere else. The answer, whichever
    /// it is, comes by the given moment.
    var fallback: (@Sendable (Instant) async -> Result<Choice?, HTTPError.Reason>)? {
        get { values.fallback }
        set { values.fallback = newValue }
    }

    /// Takes what came of dialling, so that who named the endpoint knows better next time. Never blocks.
    var report: (@Sendable (Endpoint, DialOutcome) -> Void)? {
        get { values.report }
        set { values.report = newValue }
    }

    init(_ endpoints: [Endpoint], port: UInt16, _ source: AddressSource) {
        given = endpoints
        self.port = port
        self.source = source
    }

    /// In order of preference, never empty, each with its port.
    var endpoints: [Endpoint] {
        given.map { $0.port == nil ? Endpoint($0.address, port: port) : $0 }
    }

    /// Whether an endpoint that has its port is one of them.
    func contains(_ endpoint: Endpoint) -> Bool {
        given.contains { $0.address == endpoint.address && ($0.port ?? port) == endpoint.port }
    }
}
