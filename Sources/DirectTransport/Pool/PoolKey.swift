package import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// The key by which connections are grouped: requests with equal keys may share one.
///
/// The origin is scheme, name and port, never an address. A pool belongs to one client, whose own settings
/// never change, so only those of a request are part of the key.
package struct PoolKey: Hashable {
    package let origin: Origin
    /// The proxy, compared by identity: the same proxy with other credentials is another one.
    package var proxy: ProxyEntry?
    /// The settings of connections, compared by identity, if they are not the client's own; `nil` for those.
    package var profile: ConnectionProfile?

    /// Makes a value of its parts.
    init(origin: Origin, proxy: ProxyEntry? = nil, profile: ConnectionProfile? = nil) {
        self.origin = origin
        self.proxy = proxy
        self.profile = profile
    }

    package static func == (left: PoolKey, right: PoolKey) -> Bool {
        left.consists(of: right.origin, proxy: right.proxy, profile: right.profile)
    }

    /// Whether these are the parts of the key. With them a key that belongs to an object is compared without
    /// being copied.
    func consists(of origin: Origin, proxy: ProxyEntry?, profile: ConnectionProfile?) -> Bool {
        self.proxy === proxy && self.profile === profile && self.origin == origin
    }

    package func hash(into hasher: inout Hasher) {
        origin.hash(into: &hasher)
        // One origin may have a profile for each of a thousand certificates, and as many proxies.
        if let proxy { proxy.proxy.hash(into: &hasher) }
        if let profile { hasher.combine(ObjectIdentifier(profile)) }
    }
}

extension KeepAliveHint {
    /// The nanoseconds for which an idle connection is trusted: less than the server promises, because a
    /// request takes time to reach it.
    var restTime: UInt64 {
        guard let timeout else { return .max }
        let nanoseconds = UInt64(timeout) * 1_000_000_000
        return nanoseconds - min(1_000_000_000, nanoseconds / 2)
    }
}
