package import DirectCore
internal import DirectIO
internal import DirectTLS

/// The server that a connection is for: the name decides everything except the address that is dialled.
package struct Destination: Hashable, Sendable {
    package let host: HTTPHost
    package let port: UInt16
    package let isSecure: Bool
    /// Whether the URL marks the name as complete by a final dot.
    private let isComplete: Bool

    init(host: HTTPHost, port: UInt16, isSecure: Bool, isComplete: Bool = false) {
        self.host = host
        self.port = port
        self.isSecure = isSecure
        self.isComplete = isComplete
    }

    init(_ url: HTTPURL) {
        self.init(
            host: url.host,
            port: url.port,
            isSecure: url.scheme == .https,
            isComplete: url.hasTrailingDot
        )
    }

    /// The name for the system's resolver. With its final dot, the resolver does not append the domains of
    /// its search list to it.
    var lookupName: String { isComplete ? host.description + "." : host.description }
}

/// One leg of the way to a server: to a proxy, or to the server itself.
///
/// The way is a list, told from its end: the server's leg, and before it that of the proxy, if there is one.
/// The first leg is a connection that leaves this machine. Each further one is a tunnel that the proxy before
/// it opens, or needs none, because that proxy forwards the requests.
final class Leg: Sendable {
    /// The leg to the proxy through which this one goes; `nil` if it leaves from this machine.
    let before: Leg?
    /// The proxy that this leg leads to; `nil` for the server.
    let proxy: ProxyEntry?
    /// The party at its end: the name decides everything but the address that is dialled.
    let destination: Destination
    /// The addresses of the party.
    let route: Route
    let profile: ConnectionProfile
    /// The options of the socket, which are those for the server also on the way to a proxy: it leaves from
    /// where a direct connection would.
    let options: SocketOptions
    /// The form of the requests if the proxy before it forwards them; `nil` if it opens a tunnel.
    let forwarding: Forwarding?

    /// Makes the leg to a server.
    init(
        to destination: Destination,
        route: Route,
        profile: ConnectionProfile,
        behind before: Leg? = nil,
        forwarding: Forwarding? = nil
    ) {
        (self.before, proxy) = (before, nil)
        (self.destination, self.route, self.profile) = (destination, route, profile)
        (options, self.forwarding) = (profile.socket, forwarding)
    }

    /// Makes the leg to a proxy: to its configured addresses, the IP address in its URL, or any address that
    /// the system's resolver returns.
    init(to proxy: ProxyEntry, options: SocketOptions) throws(DialFailure) {
        (before, self.proxy) = (nil, proxy)
        (profile, self.options, forwarding) = (proxy.profile, options, nil)
        let proxy = proxy.proxy
        destination = Destination(host: proxy.host, port: proxy.port, isSecure: proxy.scheme == .https)
        if let addresses = proxy.addresses {
            guard !addresses.isEmpty else { throw DialFailure(cause: .failed(.proxy, .noAddresses)) }
            for case let fault? in addresses.lazy.map(\.fault) {
                throw DialFailure(cause: .failed(.proxy, .address(fault)))
            }
            route = .chosen(addresses, port: proxy.port, source: .staticMap)
        } else {
            route = proxy.host.address.map { .literal($0, port: proxy.port) } ?? .system
        }
    }

    /// Whether the system's resolver may be asked for the translators of the network.
    var mayAskSystem: Bool {
        if case .chosen(let selection) = route { selection.mayAskSystem } else { true }
    }
}

/// The arrival at the party of a leg, which has proved its identity.
struct Arrival: Sendable {
    var transport: EstablishedTransport
    /// The peer that this machine is connected to.
    let place: Route.Place
    /// The endpoints that were named; `nil` for a Unix domain socket.
    let selection: EndpointSelection?
    var source: AddressSource
    /// The attempts that failed before.
    var failedAttempts: [FailedAttempt] = []
    /// When the last leg was made.
    var end: Instant
    /// Connects to the same peer once more.
    let again: @Sendable () async throws(AttemptFailure) -> EstablishedTransport

    /// The same arrival for a server behind this proxy, which has found the server's address.
    func behindProxy(_ transport: EstablishedTransport, at now: Instant) -> Arrival {
        var arrival = self
        (arrival.transport, arrival.source, arrival.end) = (transport, .proxy, now)
        return arrival
    }
}
