public import DirectCore
internal import DirectIO

/// A map can be part of a chain of resolvers, before or after others; a name that is not in the map goes to
/// the next resolver.
extension StaticMap: Resolver {
    /// The name in errors and transactions: `static map`.
    public var name: String { "static map" }
    /// Whether an entry is for one port only.
    public var dependsOnPort: Bool { portEntries > 0 }

    /// Returns the map's endpoints for a name.
    ///
    /// - Throws: A `ResolverError` with `ResolverError.Reason.notListed` if the map has no entry for it.
    public func resolve(
        _ host: DomainName,
        port: UInt16,
        context: ResolveContext
    ) async throws -> Resolution {
        try answer(for: host, port, as: name)
    }

    /// Returns the same as ``resolve(_:port:context:)``: a map always has its answer at hand.
    public func knownAnswer(
        for host: DomainName,
        port: UInt16,
        context: ResolveContext
    ) throws(ResolverError) -> Resolution? {
        try answer(for: host, port, as: name)
    }

    /// Returns the map's answer. `name` is the name of the resolver that errors show.
    package func answer(
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
