package import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// The key by which connections are grouped: requests with equal keys may share one.
///
/// The origin is scheme, name and port, never an address. A pool belongs to one client, whose TLS settings never
/// change, so they need not be part of the key.
package struct PoolKey: Hashable {
    package let origin: Origin
    /// The proxy, compared by identity: the same proxy with other credentials is another one.
    package var proxy: ProxyEntry?
    /// Whether the client's certificate is withheld in the handshake.
    package var isAnonymous = false

    /// Makes a value of its parts.
    package init(origin: Origin, proxy: ProxyEntry? = nil, isAnonymous: Bool = false) {
        self.origin = origin
        self.proxy = proxy
        self.isAnonymous = isAnonymous
    }

    package static func == (left: PoolKey, right: PoolKey) -> Bool {
        left.proxy === right.proxy && left.isAnonymous == right.isAnonymous && left.origin == right.origin
    }

    package func hash(into hasher: inout Hasher) {
        origin.hash(into: &hasher)
    }
}

extension KeepAliveHint {
    /// The nanoseconds for which an idle connection is trusted: less than the server promises, because a request
    /// takes time to reach it.
    var restTime: UInt64 {
        guard let timeout else { return .max }
        let nanoseconds = UInt64(timeout) * 1_000_000_000
        return nanoseconds - min(1_000_000_000, nanoseconds / 2)
    }
}
