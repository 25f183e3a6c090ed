internal import DirectHTTP1
internal import DirectIO

/// Which requests may share a connection: those for one origin, over one proxy or none.
///
/// The origin is scheme, name and port; never an address. A pool belongs to one client, whose TLS settings
/// never change, so these need no place in here.
struct PoolKey: Hashable {
    let origin: Origin
}

extension Route {
    /// Where a resolver's answer leads; nothing if it was not a resolver that said so.
    var answer: [Endpoint]? {
        guard case .chosen(let choice) = self, choice.report != nil else { return nil }
        return choice.endpoints
    }
}

extension KeepAliveHint {
    /// How many nanoseconds an idle connection is trusted: less than the server promises, for a request takes
    /// time to get there.
    var restTime: UInt64 {
        guard let timeout else { return .max }
        let nanoseconds = UInt64(timeout) * 1_000_000_000
        return nanoseconds - min(1_000_000_000, nanoseconds / 2)
    }
}
