internal import DirectHTTP1
internal import DirectIO

/// Which requests may share a connection: those for one origin, over one proxy or none.
///
/// The origin is scheme, name and port; never an address. A pool belongs to one client, whose TLS settings
/// never change, so these need no place in here.
struct PoolKey: Hashable {
    let origin: Origin
    /// The same proxy with other credentials is another one.
    var proxy: ProxyEntry?
    /// Whether the client's certificate is withheld.
    var isAnonymous = false

    static func == (left: PoolKey, right: PoolKey) -> Bool {
        left.proxy === right.proxy && left.isAnonymous == right.isAnonymous && left.origin == right.origin
    }

    func hash(into hasher: inout Hasher) {
        origin.hash(into: &hasher)
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
