internal import DirectCore
internal import DirectIO
internal import DirectLookup
internal import DirectTLS
internal import DirectTransport

/// Finds the way to a target and dials it: the one place that turns a name into addresses, asked for each
/// tunnel when it is dialled.
struct FarDialler: Sendable {
    private let settings: LocalProxySettings
    /// The dialler of addresses that a resolver, the system or the program has named, and that of the
    /// map's.
    private let vetted, named: Dialler
    private let upstream: ProxyEntries?
    private let timeouts: Timeouts.Nanoseconds

    /// - Parameter isOwn: Whether an address and a port are the proxy itself, which no program may reach
    ///   through it: it would dial itself until nothing is left.
    init(
        _ settings: LocalProxySettings,
        isOwn: @escaping @Sendable (IPAddress, UInt16) -> Bool
    ) {
        let own = AddressVetting { address, _, port in
            isOwn(address, port) ? AddressRefusal(address, Self.ownReason) : nil
        }
        self.settings = settings
        // A shortage of descriptors that lasts is told as one before the time is over.
        let time = settings.limits.dial
        timeouts = Timeouts(queue: min(.seconds(5), time / 2), total: time).nanoseconds
        var dialling = DialConfiguration()
        dialling.loop = settings.loop
        dialling.mayAskSystem = settings.resolver?.mayAskSystem ?? true
        // A map may name private addresses, and so may the settings for the upstream proxy; only itself is
        // never dialled.
        (dialling.vetting, dialling.proxyVetting) = (own, own)
        dialling.serverMaySpeakFirst = true
        named = Dialler(dialling)
        dialling.vetting = settings.vetting.map(own.and) ?? own
        vetted = Dialler(dialling)
        upstream = settings.upstream.map { ProxyEntries(ProxySettings($0), tls: TLSSettings()) }
    }

    static let ownReason = "its port there is this proxy itself"

    /// Connects to the target. No byte has been sent to it on return.
    func dial(_ target: Target) async throws(Refusal) -> FarEnd {
        let end = settings.loop.now.advanced(byNanoseconds: settings.limits.dial.clampedNanoseconds)
        let limit = CallLimit(timeouts, until: end)
        let (route, isNamed) = try await route(to: target, within: limit)
        let proxy = upstream?.entry(for: target.url)
        do throws(DialFailure) {
            let connection = try await (isNamed ? named : vetted)
                .dial(ConnectionTarget(target.url, route: route, proxy: proxy), within: limit)
            return FarEnd(connection, to: target)
        } catch {
            throw Refusal(error, of: target)
        }
    }

    /// Returns the way to the target, and whether the map names it: it is then dialled even where vetting
    /// would refuse.
    ///
    /// - Throws: A refusal, if the settings allow no way or no address is known.
    private func route(
        to target: Target,
        within limit: CallLimit
    ) async throws(Refusal) -> (Route, isNamed: Bool) {
        if let named = settings.addresses.endpoints(for: target.host, port: target.port) {
            return (.chosen(named, port: target.port, source: .staticMap), true)
        }
        guard let resolver = settings.resolver, let name = target.host.name,
            settings.matching?.contains(where: { $0.matches(target.host) }) ?? true
        else {
            guard settings.others == .dialled else { throw .inNoMap(target) }
            return (target.host.address.map { .literal($0, port: target.port) } ?? .system, false)
        }
        let query = ResolverQuery(
            resolver,
            for: name,
            port: target.port,
            // What a program speaks in its tunnel is not known: records of HTTPS are not asked for.
            context: ResolveContext(of: target.url, as: .http, loop: settings.loop, threads: limit.threads),
            failure: { $0 }
        )
        do throws(DialFailure) {
            return (try await query.route(within: limit), false)
        } catch {
            throw Refusal(error, of: target)
        }
    }
}

/// A connection to a target, with the facts of its making.
struct FarEnd: Sendable {
    let layers: LayerStack
    let target: Target
    /// The first bytes of the target, if they came with the upstream proxy's answer.
    let early: [UInt8]
    let facts: ConnectionFacts

    init(_ connection: Connection, to target: Target) {
        (self.target, early, facts) = (target, connection.takeUnparsed(), connection.facts)
        // Its parser and its buffer are for HTTP.
        layers = connection.detach()
    }
}
