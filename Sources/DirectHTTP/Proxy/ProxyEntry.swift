internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTLS

/// One of a client's proxies, ready for use. Connections are grouped by its identity, which stands for its
/// credentials as well.
final class ProxyEntry: Sendable {
    let proxy: Proxy
    /// The TLS state for connections to the proxy itself. Its settings and sessions are separate from those for the
    /// servers behind it.
    let secrets: TLSClientState

    init(_ proxy: Proxy, _ settings: HTTPClient.Settings) {
        self.proxy = proxy
        var tls = settings.tls
        tls.clientIdentity = nil
        secrets = TLSClientState(proxy.tls ?? tls)
    }

    /// Whether requests for the URL are sent to the proxy as a whole, which forwards them and so sees them.
    func forwards(_ url: HTTPURL) -> Bool {
        url.scheme == .http && proxy.speaksHTTP && proxy.lookup == .byProxy
    }

    /// The value of Proxy-Authorization.
    func authorization() throws(ProxyError) -> String? {
        guard let credentials = proxy.credentials else { return nil }
        let (user, password) = (Array(credentials.user.utf8), Array(credentials.password.utf8))
        // A user name with a colon has no clear end, and control characters are not allowed (RFC 7617, section 2).
        guard !user.contains(UInt8(ascii: ":")), (user + password).allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { throw .unfitCredentials }
        return "Basic " + base64(user + [UInt8(ascii: ":")] + password)
    }
}

/// The form of requests that a proxy forwards.
struct Forwarding: Sendable {
    /// The value of Proxy-Authorization.
    let authorization: String?
}

/// A client's proxies, and the hosts that are reached without them.
struct ProxyTable: Sendable {
    private let forHTTP: ProxyEntry?
    private let forHTTPS: ProxyEntry?
    private let exceptions: ProxyExceptions

    /// Returns `nil` if the settings name no proxy.
    init?(_ settings: HTTPClient.Settings) {
        guard !settings.proxy.isEmpty else { return nil }
        forHTTP = settings.proxy.forHTTP.map { ProxyEntry($0, settings) }
        // The same proxy becomes the same entry.
        forHTTPS =
            settings.proxy.forHTTPS == settings.proxy.forHTTP
            ? forHTTP : settings.proxy.forHTTPS.map { ProxyEntry($0, settings) }
        exceptions = settings.proxy.exceptions
    }

    /// Returns the proxy for this URL, or `nil` to connect directly.
    func entry(for url: HTTPURL) -> ProxyEntry? {
        guard let entry = url.scheme == .https ? forHTTPS : forHTTP else { return nil }
        return exceptions.contain(url.host, port: url.port) ? nil : entry
    }
}
