internal import DirectHTTP1
internal import DirectIO
internal import DirectTLS

/// One of a client's proxies, ready for use. Its identity, credentials included, is part of what connections are
/// grouped by.
final class ProxyEntry: Sendable {
    let proxy: Proxy
    /// For the TLS to the proxy itself: other settings and other sessions than those for the servers behind it.
    let secrets: TLSSecrets

    init(_ proxy: Proxy, _ settings: HTTPClient.Settings) {
        self.proxy = proxy
        var tls = settings.tls
        tls.clientIdentity = nil
        secrets = TLSSecrets(proxy.tls ?? tls)
    }

    /// Whether requests for the URL are handed to the proxy whole, so that it sees them.
    func forwards(_ url: HTTPURL) -> Bool {
        url.scheme == .http && proxy.speaksHTTP && proxy.lookup == .byProxy
    }

    /// The value of Proxy-Authorization.
    func authorization() throws(ProxyFault) -> String? {
        guard let credentials = proxy.credentials else { return nil }
        let (user, password) = (Array(credentials.user.utf8), Array(credentials.password.utf8))
        // Nobody could tell where such a name ends, or take it for what it is (RFC 7617, section 2).
        guard !user.contains(UInt8(ascii: ":")), (user + password).allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { throw .unfitCredentials }
        return "Basic " + base64(user + [UInt8(ascii: ":")] + password)
    }
}

/// How requests are written that a proxy is handed whole.
struct Forwarding: Sendable {
    /// The value of Proxy-Authorization.
    let authorization: String?
}

/// A client's proxies.
struct ProxyTable: Sendable {
    private let forHTTP: ProxyEntry?
    private let forHTTPS: ProxyEntry?
    private let exceptions: ProxyExceptions

    /// Nothing if there are none.
    init?(_ settings: HTTPClient.Settings) {
        guard !settings.proxy.isEmpty else { return nil }
        forHTTP = settings.proxy.forHTTP.map { ProxyEntry($0, settings) }
        // The same proxy is the same entry.
        forHTTPS =
            settings.proxy.forHTTPS == settings.proxy.forHTTP
            ? forHTTP : settings.proxy.forHTTPS.map { ProxyEntry($0, settings) }
        exceptions = settings.proxy.exceptions
    }

    /// The proxy for this URL, if there is to be one.
    func entry(for url: HTTPURL) -> ProxyEntry? {
        guard let entry = url.scheme == .https ? forHTTPS : forHTTP else { return nil }
        return exceptions.contain(url.host, port: url.port) ? nil : entry
    }
}
