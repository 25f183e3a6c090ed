import DirectHTTP

/// The clients under load: with caches and cookies, through proxies, with and without retries.
struct Clients: Sendable {
    let cached, onDisk, proxied, socks, bare, direct, directSOCKS: HTTPClient

    init(_ settings: SoakSettings) throws {
        cached = try Self.client(settings) {
            $0.cache = .memory(CacheLimits(bytes: 4 << 20, objectBytes: 1 << 20))
            $0.cookies = CookieJar()
            $0.retries = RetryPolicy()
        }
        onDisk = try Self.client(settings) {
            $0.cache = try .directory(settings.cacheFolder, CacheLimits(bytes: 4 << 20, objectBytes: 1 << 20))
            $0.cookies = CookieJar()
            $0.retries = RetryPolicy()
        }
        proxied = try Self.client(settings) {
            $0.proxy = ProxySettings(try Proxy("http://127.0.0.1:\(settings.connectPort)"))
            $0.retries = RetryPolicy()
        }
        socks = try Self.client(settings) {
            $0.proxy = ProxySettings(try Proxy("socks5://127.0.0.1:\(settings.socksPort)"))
        }
        bare = try Self.client(settings) { _ in }
        direct = try Self.client(settings) {
            $0.proxy = ProxySettings(try Proxy("http://\(settings.proxyPlace)"))
        }
        directSOCKS = try Self.client(settings) {
            $0.proxy = ProxySettings(try Proxy("socks5h://\(settings.proxyPlace)"))
        }
    }

    var all: [HTTPClient] { [cached, onDisk, proxied, socks, bare, direct, directSOCKS] }

    /// A client that trusts the peers' authority alone, and finds all their names on loopback.
    static func client(
        _ settings: SoakSettings,
        _ change: (inout HTTPClient.Configuration) throws -> Void
    ) throws -> HTTPClient {
        try HTTPClient {
            $0.tls.roots = .only([.pemFile(settings.roots)])
            try $0.addresses.set(["127.0.0.1"], for: .subdomains(of: DomainName("soak.test")))
            $0.idleTimeout = .seconds(5)
            try change(&$0)
        }
    }
}
