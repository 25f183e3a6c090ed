internal import DirectIO

/// A map that can be changed while clients use it: a request that begins after a change follows it, and never
/// uses a connection to where the name led before.
///
/// It is a client's resolver, alone or in a chain. In front of a cache, not behind one: a cache would keep what
/// it has heard.
public final class LiveMap: Resolver {
    private let current: Locked<StaticMap>

    /// Begins with this map.
    public init(_ map: StaticMap = StaticMap()) {
        current = Locked(map)
    }

    /// The map of the moment.
    public var map: StaticMap {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    /// Changes the map in one step: whoever looks meanwhile sees what was there before or all of the change.
    public func update<Failure: Error>(
        _ change: (inout StaticMap) throws(Failure) -> Void
    ) throws(Failure) {
        try current.withLock { map throws(Failure) in
            var changed = map
            try change(&changed)
            map = changed
        }
    }

    public var name: String { "live map" }

    public func resolve(
        _ host: DomainName,
        port: UInt16,
        _ context: ResolveContext
    ) async throws -> Resolution {
        try map.answer(for: host, port, as: name)
    }

    public func knownAnswer(
        for host: DomainName,
        port: UInt16,
        _ context: ResolveContext
    ) throws(ResolverError) -> Resolution? {
        try map.answer(for: host, port, as: name)
    }
}
