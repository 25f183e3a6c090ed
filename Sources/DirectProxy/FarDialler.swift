internal import DirectCore
internal import DirectIO
internal import DirectTLS
internal import DirectTransport

/// Dials targets. The only place that knows DirectTransport's dialler.
struct FarDialler: Sendable {
    /// The dialler of addresses that a resolver, the system or the program has named, and that of the
    /// map's.
    private let vetted, named: Dialler
    private let upstream: ProxyEntries?

    /// - Parameter isOwn: Whether an address and a port are the proxy itself, which no program may reach
    ///   through it: it would dial itself until nothing is left.
    init(
        _ configuration: LocalProxySettings,
        isOwn: @escaping @Sendable (IPAddress, UInt16) -> Bool
    ) {
        let own = AddressVetting { address, _, port in
            isOwn(address, port) ? AddressRefusal(address, Self.ownReason) : nil
        }
        var settings = DialConfiguration()
        settings.loop = configuration.loop
        settings.mayAskSystem = configuration.resolver?.mayAskSystem ?? true
        // A map may name private addresses, and so may the settings for the upstream proxy; only itself is
        // never dialled.
        (settings.vetting, settings.proxyVetting) = (own, own)
        settings.serverMaySpeakFirst = true
        named = Dialler(settings)
        settings.vetting = configuration.vetting.map(own.and) ?? own
        vetted = Dialler(settings)
        upstream = configuration.upstream.map { ProxyEntries(ProxySettings($0), tls: TLSSettings()) }
    }

    static let ownReason = "its port there is this proxy itself"

    /// Connects to the target. No byte has been sent to it on return.
    func dial(_ plan: Plan, to target: Target, within limit: CallLimit) async throws(Refusal) -> FarEnd {
        let dialler = plan.isNamed ? named : vetted
        let proxy = upstream?.entry(for: target.url)
        do throws(DialFailure) {
            let connection = try await dialler.dial(
                ConnectionTarget(target.url, route: plan.route, proxy: proxy),
                within: limit
            )
            return FarEnd(connection, to: target, isPlain: proxy?.proxy.scheme != .https)
        } catch {
            throw Refusal(error.cause, of: target)
        }
    }
}

/// A connection to a target, with the facts of its making.
struct FarEnd: Sendable {
    let end: any TunnelEnd
    let target: Target
    /// The first bytes of the target, if they came with the upstream proxy's answer.
    let early: [UInt8]
    let facts: ConnectionFacts

    init(_ connection: Connection, to target: Target, isPlain: Bool) {
        (self.target, early, facts) = (target, connection.takeUnparsed(), connection.facts)
        // Its parser and its buffer are for HTTP.
        if isPlain { connection.detach() }
        end = isPlain ? connection.socket : connection
    }
}
