internal import DirectCore
public import DirectHTTP
internal import DirectIO

/// A map that can be changed while clients use it.
///
/// A request that begins after a change follows the change: it never uses a connection to an address that the
/// map named before and names no longer.
///
/// Use it as a client's resolver, alone or in a chain. It belongs in front of a cache and not behind one: a
/// cache would keep the answers from before a change.
public final class LiveMap: Resolver {
    private let current: Locked<StaticMap>

    /// Creates a resolver that begins with this map.
    public init(_ map: StaticMap = StaticMap()) {
        current = Locked(map)
    }

    /// The current map.
    public var map: StaticMap {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    /// Changes the map in one step: a concurrent look-up sees the map before the change or after it, and
    /// nothing in between.
    ///
    /// - Parameter change: Changes a copy of the map. If it throws, the map stays as it was. It runs while
    ///   the map's lock is held, so it must not use this ``LiveMap``.
    public func update<Failure: Error>(
        _ change: (inout StaticMap) throws(Failure) -> Void
    ) throws(Failure) {
        try current.withLock { map throws(Failure) in
            var changed = map
            try change(&changed)
            map = changed
        }
    }

    /// The name in errors and transactions: `live map`.
    public var name: String { "live map" }

    /// Returns the map's endpoints for a name.
    ///
    /// - Throws: A `ResolverError` with `ResolverError.Reason.notListed` if the map has no entry for it.
    public func resolve(
        _ host: DomainName,
        port: UInt16,
        context: ResolveContext
    ) async throws -> Resolution {
        try map.answer(for: host, port, as: name)
    }

    /// Returns the same as ``resolve(_:port:context:)``: a map always has its answer at hand.
    public func knownAnswer(
        for host: DomainName,
        port: UInt16,
        context: ResolveContext
    ) throws(ResolverError) -> Resolution? {
        try map.answer(for: host, port, as: name)
    }
}
