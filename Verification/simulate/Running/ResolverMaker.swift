internal import DirectCore
internal import DirectHTTP
internal import DirectResolvers

/// Makes the client's resolver from the plan.
struct ResolverMaker {
    let world: World
    let plan: ResolverPlan
    /// The run of the program that the resolver is for, if it keeps files.
    let run: ProgramRun?

    /// The services, the system behind them if the plan says so, and a cache in front of them.
    func resolver(tls: TLSSettings) -> any Resolver {
        var steps = plan.services.indices.map { service(at: $0, tls: tls) }
        if plan.endsWithSystem { steps.append(SystemResolver()) }
        let chain = chain(steps)
        guard let cache = plan.cache else { return chain }
        var settings = CachingResolver.Settings()
        settings.minimumTimeToLive = .microseconds(cache.shortest)
        settings.staleTime = .microseconds(cache.stale)
        settings.negativeTimeToLive = .microseconds(cache.negative)
        settings.refreshesAhead = cache.refreshesAhead
        if cache.isKept == true { settings.file = run?.answersPath }
        let resolver = CachingResolver(chain, settings, loop: world.loop)
        if settings.file != nil { run?.answers = resolver }
        return resolver
    }

    private func chain(_ steps: [any Resolver]) -> any Resolver {
        let fallback: ChainResolver.Fallback =
            switch plan.fallback {
            case .never: .never
            case .onResolveFailure: .onResolveFailure
            case .onConnectFailure: .onConnectFailure
            }
        let limit = Duration.microseconds(plan.stepLimit ?? 3_000_000)
        switch steps.count {
        case 1: return steps[0]
        case 2: return ChainResolver(steps[0], steps[1], fallback: fallback, stepTimeout: limit)
        default: return ChainResolver(steps[0], steps[1], steps[2], fallback: fallback, stepTimeout: limit)
        }
    }

    private func service(at number: Int, tls: TLSSettings) -> any Resolver {
        let service = plan.services[number]
        let known = service.servers.indices.prefix(service.knownServers ?? .max)
        let endpoints = known.map { Endpoint(World.resolverAddress($0, ofService: number)) }
        let servers: ServiceServers =
            service.isSecure
            ? .https(endpoints, name: Material.resolverName)
            : .insecureHTTP(endpoints, name: Material.resolverName)
        var settings = ServiceSettings()
        settings.loop = world.loop
        settings.attemptTimeout = .microseconds(service.attemptLimit)
        settings.tls.roots = tls.roots
        settings.httpsRecords = plan.records.map { $0 == .brief ? .brief : .awaited } ?? .off
        switch service.format {
        case .wireByPost: return DNSOverHTTPS(servers, settings)
        case .wireByGet: return DNSOverHTTPS(servers, method: .get, isPadded: true, settings)
        case .json: return DNSOverJSON(servers, settings)
        case .dnsPod: return DNSPodHTTPDNS(servers, settings)
        case .alibaba:
            return AlibabaHTTPDNS(
                account: "100000",
                servers,
                updatingServersEvery: service.listTime.map { .seconds($0) },
                settings
            )
        case .datagram: return PlainDNS(endpoints, settings)
        }
    }
}

extension World {
    /// The address of a resolver's server.
    static func resolverAddress(_ server: Int, ofService service: Int) -> IPAddress {
        address(198, 51, 100, UInt8(10 + 10 * service + server))
    }

    /// Returns the service and the server with this address.
    func resolverPlace(of address: IPAddress) -> (service: Int, server: Int)? {
        for (service, plan) in (plan.resolvers?.services ?? []).enumerated() {
            for server in plan.servers.indices
            where Self.resolverAddress(server, ofService: service) == address {
                return (service, server)
            }
        }
        return nil
    }

    /// An address without a server.
    static let strayAddress = address(198, 18, 0, 9)

    /// The addresses that a resolver names for a host now.
    func currentAddresses(ofHost host: Int) -> [IPAddress] {
        let all = plan.hosts[host].addresses.indices.map { address($0, ofHost: host) }
        guard let moves = plan.resolvers?.moves, !moves.isEmpty else { return all }
        let version = moves.filter { kernel.now >= 1_000_000_000 + UInt64($0) * 1000 }.count
        return [all[version % all.count]]
    }
}
