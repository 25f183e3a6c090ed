internal import DirectIO

/// A map can stand in a chain, before or behind others; a name that is not in it goes on to the next.
extension StaticMap: Resolver {
    public var name: String { "static map" }

    public func resolve(
        _ host: DomainName,
        port: UInt16,
        _ context: ResolveContext
    ) async throws -> Resolution {
        try answer(for: host, port, as: name)
    }

    public func knownAnswer(
        for host: DomainName,
        port: UInt16,
        _ context: ResolveContext
    ) throws(ResolverError) -> Resolution? {
        try answer(for: host, port, as: name)
    }

    /// What the resolver of that name says.
    func answer(
        for host: DomainName,
        _ port: UInt16,
        as name: String
    ) throws(ResolverError) -> Resolution {
        guard let endpoints = endpoints(for: .name(host), port: port) else {
            throw ResolverError(name, .notListed)
        }
        return Resolution(endpoints, source: .staticMap)
    }
}
