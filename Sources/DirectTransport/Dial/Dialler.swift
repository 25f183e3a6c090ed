internal import DirectCore
internal import DirectHTTP1
package import DirectIO
internal import DirectTLS

/// Makes connections: from a URL's name and a route to a connection to one of the name's addresses.
///
/// One call of `dial` makes the way, which is one leg or two (`Leg`), and travels it (`Journey.travel`):
/// - The addresses: the route names them, or the system's resolver is asked (`selection`). They are ordered
///   by RFC 8305 and by earlier results (`AddressHistory`); for a retry, `Detour` puts the failed ones last.
/// - The race (`HappyEyeballs`) between them. Each attempt checks the address against the client's vetting
///   immediately before it connects or asks the proxy to, and performs the TLS handshake (`Connector`). If
///   the proxy finds the address, or the route is a Unix domain socket, there is one attempt and no race.
/// - If no address will do, the route's fallback is asked for others, and the race is run again (`search`).
/// - The results go to `AddressHistory` and to the resolver that named the addresses (`learn`).
///
/// An attempt behind a proxy travels the proxy's leg first, so that each has a tunnel of its own.
///
/// If an address cannot be reached, the next one is tried. A failed certificate check never leads to a
/// connection. By default it also ends the race, since the network works and trying other addresses would
/// hide the fault. Apart from the proxy's own addresses, only those of the route and its fallback are
/// dialled, and the IPv6 form of such an IPv4 address behind a NAT64 translator.
package final class Dialler: Sendable {
    package let settings: DialConfiguration
    /// The settings of connections: the client's own, and those of requests that have others.
    package let profiles: ConnectionProfiles
    package let network: Network
    let memory = AddressHistory()

    package init(_ settings: DialConfiguration, network: Network = Network()) {
        self.settings = settings
        profiles = ConnectionProfiles(
            tls: settings.tls,
            ech: settings.encryptedClientHello,
            socket: settings.socket
        )
        self.network = network
    }

    package var loop: EventLoop { settings.loop }

    /// Forgets the results of earlier attempts and the network's NAT64 translators.
    package func forgetAll() {
        memory.forgetAll()
        network.forgetAll()
    }

    /// Returns a connection for the URL's name to one of the route's addresses or, if none will do, to one of
    /// the route's fallback.
    ///
    /// - Parameter log: is told what happens; `nil` without an observer.
    package func dial(
        _ target: borrowing ConnectionTarget,
        within limit: CallLimit,
        noting log: (any TransportObserver)? = nil
    ) async throws(DialFailure) -> Connection {
        let leg = try leg(to: target)
        let journey = Journey(of: self, within: limit, noting: log)
        return connection(try await journey.travel(leg, around: target.detour), of: leg)
    }

    /// Returns the endpoints that a detour chooses from: those of the server, or those of the proxy that
    /// resolves the name; `nil` for a Unix domain socket, which is the only place.
    func selection(
        for target: borrowing ConnectionTarget,
        within limit: CallLimit
    ) async throws(DialFailure) -> EndpointSelection? {
        let leg = try leg(to: target)
        let journey = Journey(of: self, within: limit)
        switch leg.route {
        case .unixSocket: return nil
        case .byProxy: return try await journey.selection(of: leg.before ?? leg)
        default: return try await journey.selection(of: leg)
        }
    }

    /// Returns the last leg of the way to the server of a request.
    private func leg(to target: borrowing ConnectionTarget) throws(DialFailure) -> Leg {
        let (url, profile) = (target.url, target.profile ?? profiles.base)
        guard let proxy = target.proxy else {
            return Leg(to: Destination(url), route: target.route, profile: profile)
        }
        let forwarding: Forwarding?
        do throws(TransportError) { forwarding = try target.forwarding } catch {
            throw DialFailure(cause: error)
        }
        return Leg(
            to: Destination(url),
            route: target.route,
            profile: profile,
            behind: try Leg(to: proxy, options: profile.socket),
            forwarding: forwarding
        )
    }

    /// The vetting of a leg's addresses. That of a proxy comes from the client's settings and not from a URL.
    func vetting(of leg: Leg) -> AddressVetting? {
        leg.proxy == nil ? settings.vetting : settings.proxyVetting
    }

    /// Returns the connection at the end of the way.
    private func connection(_ arrival: Arrival, of leg: Leg) -> Connection {
        let (transport, selection) = (arrival.transport, arrival.selection)
        let facts = ConnectionFacts(
            name: leg.destination.host.description,
            path: .init(
                place: arrival.place,
                source: arrival.source,
                proxy: leg.before?.proxy.map { "\($0.proxy)" },
                translated: transport.translated,
                local: arrival.place.endpoint == nil ? nil : transport.layers.socket.localEndpoint
            ),
            tls: transport.tls,
            times: .init(
                resolve: selection?.resolveTime,
                connect: transport.connectTime,
                tls: transport.tlsTime,
                end: arrival.end
            ),
            search: .init(
                failedAttempts: arrival.failedAttempts,
                tracksResolver: selection?.isAnswer ?? false,
                fallbackForAnswer: leg.route.allows(arrival.place, from: arrival.source)
                    ? nil : leg.route.answer
            )
        )
        return connection(transport, facts: facts, forwarding: leg.forwarding)
    }

    /// Returns a connection on this transport.
    func connection(
        _ established: EstablishedTransport,
        facts: ConnectionFacts,
        forwarding: Forwarding? = nil
    ) -> Connection {
        let reader = ResponseReader(limits: settings.limits, leniency: settings.leniency)
        let connection = Connection(established.layers, facts: facts, reader: reader, forwarding: forwarding)
        if !established.early.isEmpty {
            unsafe established.early.withUnsafeBytes { unsafe connection.keep(unparsed: $0) }
        }
        return connection
    }
}
