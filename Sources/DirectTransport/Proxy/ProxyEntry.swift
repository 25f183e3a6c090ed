package import DirectCore
internal import DirectHTTP1
internal import DirectIO
package import DirectTLS

/// One of a client's proxies, ready for use. Connections are grouped by its identity, which stands for its
/// credentials as well.
package final class ProxyEntry: Sendable {
    package let proxy: Proxy
    /// The settings of connections to the proxy itself. Its TLS settings and sessions are separate from those
    /// for the servers behind it.
    let profile: ConnectionProfile
    /// Makes its credentials; `nil` if it has those of its settings, or none.
    let authorizer: (any ProxyAuthorizer)?

    /// Makes an entry; `tls` are the settings for proxies that have none of their own.
    init(_ proxy: Proxy, tls: TLSSettings, authorizer: (any ProxyAuthorizer)? = nil) {
        self.proxy = proxy
        self.authorizer = authorizer
        var tls = tls
        tls.clientIdentity = nil
        profile = ConnectionProfile(
            tls: proxy.tls ?? tls,
            ech: proxy.encryptedClientHello,
            socket: SocketOptions(),
            sessions: SessionCache()
        )
    }

    /// Whether requests for the URL are sent to the proxy as a whole, which forwards them and so sees them.
    func forwards(_ url: HTTPURL) -> Bool {
        url.scheme == .http && proxy.speaksHTTP && proxy.lookup == .byProxy
    }

    /// Returns the source of credentials for requests to this URL that the proxy forwards; `nil` if there is
    /// none.
    package func forwardingAuthorizer(for url: HTTPURL) -> (any ProxyAuthorizer)? {
        forwards(url) ? authorizer : nil
    }

    /// The value of Proxy-Authorization as the proxy's settings give it.
    package func authorization() throws(ProxyError) -> String? {
        guard authorizer == nil, let credentials = proxy.credentials else { return nil }
        let (user, password) = (credentials.userBytes, credentials.passwordBytes)
        // A user name with a colon has no clear end, and control characters are not allowed (RFC 7617,
        // section 2).
        guard !user.contains(UInt8(ascii: ":")), (user + password).allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { throw .unfitCredentials }
        return "Basic " + Base64.encode(user + [UInt8(ascii: ":")] + password)
    }
}

/// The proxies of a client and of its requests, ready for use. Equal proxies get the same entry.
package final class ProxyEntries: Sendable {
    private let settings: ProxySettings
    private let forHTTP: ProxyEntry?
    private let forHTTPS: ProxyEntry?
    /// Makes an entry for a proxy of a request.
    private let make: @Sendable (Proxy) -> ProxyEntry
    private let known = Locked(Known())

    private struct Known {
        var ofRequests = SharedTable<Proxy, ProxyEntry>(keeping: 64)
    }

    /// - Parameter authorizer: returns the source of a proxy's credentials; `nil` for those of its settings.
    package init(
        _ settings: ProxySettings,
        tls: TLSSettings,
        authorizer: @escaping @Sendable (Proxy) -> (any ProxyAuthorizer)? = { _ in nil }
    ) {
        func entry(_ proxy: Proxy) -> ProxyEntry {
            ProxyEntry(proxy, tls: tls, authorizer: authorizer(proxy))
        }
        self.settings = settings
        forHTTP = settings.forHTTP.map(entry)
        // The same proxy becomes the same entry.
        forHTTPS =
            settings.forHTTPS == settings.forHTTP
            ? forHTTP : settings.forHTTPS.map(entry)
        // The credentials of a request's own proxy are for this request: no others take their place.
        make = { ProxyEntry($0, tls: tls, authorizer: $0.credentials == nil ? authorizer($0) : nil) }
    }

    /// Returns the client's proxy for this URL, or `nil` to connect directly.
    package func entry(for url: HTTPURL) -> ProxyEntry? {
        guard let entry = url.scheme == .https ? forHTTPS : forHTTP else { return nil }
        return settings.exceptions.contain(url.host, port: url.port) ? nil : entry
    }

    /// Returns the proxy for this URL of a request with settings of its own, or `nil` to connect directly.
    package func entry(for url: HTTPURL, of own: ProxySettings) -> ProxyEntry? {
        guard let proxy = own.proxy(for: url) else { return nil }
        for case let known? in [forHTTP, forHTTPS] where known.proxy == proxy {
            if known.authorizer == nil || proxy.credentials == nil { return known }
        }
        return known.withLock { $0.ofRequests.object(for: proxy) { make(proxy) } }
    }
}
