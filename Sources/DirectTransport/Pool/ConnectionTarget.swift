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
