package import DirectCore

/// The requirements of a request on its connection.
package struct ConnectionTarget: ~Copyable, Sendable {
    package let url: HTTPURL
    /// The addresses that the request may be sent to.
    package var route: Route
    /// The proxy that it is sent over; `nil` for none.
    package var proxy: ProxyEntry?
    /// The settings of the connection; `nil` for the client's own.
    package var profile: ConnectionProfile?
    /// Keeps the request away from endpoints where an earlier attempt failed; `nil` for a first attempt.
    package var detour: Detour?

    /// Makes a value of its parts.
    @inline(__always)
    package init(
        _ url: HTTPURL,
        route: Route,
        proxy: ProxyEntry? = nil,
        profile: ConnectionProfile? = nil,
        detour: Detour? = nil
    ) {
        self.url = url
        self.route = route
        self.proxy = proxy
        self.profile = profile
        self.detour = detour
    }

    /// Returns a copy with another detour.
    func around(_ detour: Detour?) -> ConnectionTarget {
        ConnectionTarget(url, route: route, proxy: proxy, profile: profile, detour: detour)
    }

    /// The form of the request if its proxy forwards it; `nil` if it goes to the server, or through a tunnel.
    var forwarding: Forwarding? {
        get throws(TransportError) {
            guard let proxy, case .byProxy = route, proxy.forwards(url) else { return nil }
            do throws(ProxyError) {
                return Forwarding(authorization: try proxy.authorization())
            } catch {
                throw .failed(.proxy, .proxy(error))
            }
        }
    }

    /// The key of the pool's connections that fit.
    var poolKey: PoolKey { PoolKey(origin: url.origin, proxy: proxy, profile: profile) }

    /// Which idle connections may serve the request.
    var kept: KeptConnections { detour?.kept ?? .any }
}

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

/// Which of the existing connections that its route allows a request may use.
package enum KeptConnections: Sendable {
    /// All of them.
    case any
    /// All but the connections to these endpoints.
    case except([Endpoint])
    /// None: the request gets a new connection.
    case none

    /// Whether the request may use this connection.
    func include(_ member: some PoolMember) -> Bool {
        switch self {
        case .any: true
        case .except(let endpoints): member.endpoint.map { !endpoints.contains($0) } ?? true
        case .none: false
        }
    }
}
