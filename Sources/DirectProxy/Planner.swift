internal import DirectCore
internal import DirectLookup
internal import DirectIO
internal import DirectTransport

/// Where a target is reached: the one place that turns a name into addresses, asked for each tunnel when it
/// is dialled.
struct Planner: Sendable {
    let map: StaticMap
    let resolver: (any Resolver)?
    /// The names that the resolver is asked for; `nil` for all.
    let matching: [HostPattern]?
    let others: LocalProxy.OtherNames
    let loop: EventLoop

    /// Returns the way to the target.
    ///
    /// - Throws: A refusal, if the settings allow no way or no address is known.
    func plan(_ target: Target, within limit: CallLimit) async throws(Refusal) -> Plan {
        if let named = map.endpoints(for: target.host, port: target.port) {
            return Plan(route: .chosen(named, port: target.port, source: .staticMap), isNamed: true)
        }
        guard let resolver, let name = target.host.name, isMatching(name) else {
            guard others == .dialled else {
                throw Refusal(
                    .forbidden,
                    "\(target) is in no map, and others are refused; name it in a map, or allow others"
                )
            }
            return Plan(
                route: target.host.address.map { .literal($0, port: target.port) } ?? .system,
                isNamed: false
            )
        }
        let query = ResolverQuery(
            resolver,
            for: name,
            of: target.url,
            // What a program speaks in its tunnel is not known: records of HTTPS are not asked for.
            as: .http,
            loop: loop,
            threads: limit.threads,
            failure: { $0 }
        )
        do throws(DialFailure) {
            return Plan(route: try await query.route(within: limit), isNamed: false)
        } catch {
            throw Refusal(error.cause, of: target)
        }
    }

    private func isMatching(_ name: DomainName) -> Bool {
        matching?.contains { pattern in
            switch pattern {
            case .host(let host): host.name == name
            case .subdomains(let parent): name != parent && name.isSubdomain(of: parent)
            case .any: true
            }
        } ?? true
    }
}

/// The way to a target.
struct Plan: Sendable {
    let route: Route
    /// Whether the map names the addresses. They are then dialled even where vetting would refuse them.
    let isNamed: Bool
}
