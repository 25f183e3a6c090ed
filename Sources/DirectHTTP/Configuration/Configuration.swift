public import DirectCore
public import DirectHTTP1
public import DirectIO
public import DirectTLS
internal import DirectTransport

extension HTTPClient {
    /// The settings of a client. They cannot be changed once the client is made.
    public struct Configuration: Sendable {
        /// The URL that requests made from a relative reference are resolved against (RFC 3986, section 5.2):
        /// `https://api.example.com/v2/` makes of `items?page=2` the URL
        /// `https://api.example.com/v2/items?page=2`, and of `/items` `https://api.example.com/items`. `nil`
        /// refuses such requests.
        ///
        /// The settings of the client are for this origin then. A request whose URL is of another one gets
        /// only those of ``headers`` that a redirect could carry there, and no client certificate of
        /// ``tls``. A reference that begins with `//` names another host, and is an error.
        public var baseURL: HTTPURL?
        /// Maps hosts to addresses, instead of asking a resolver. ``HTTPClient/Request/addresses`` and
        /// ``HTTPClient/Request/addressMap`` come before it.
        public var addresses = StaticMap()
        /// Resolves names that neither a request nor ``addresses`` covers. `nil` uses the system's resolver,
        /// which is not used in any other case unless this resolver does so itself.
        public var resolver: (any Resolver)?
        /// Refuses addresses that no request may connect to, wherever the address comes from, but not those
        /// of a proxy itself. `nil` allows all.
        public var vetting: AddressVetting?
        /// The proxies for requests. The default is none.
        public var proxy = ProxySettings()
        /// The settings for dialling, in particular names with several addresses.
        public var dialling = DiallingSettings()
        /// Unix domain sockets for origins, instead of addresses. ``HTTPClient/Request/unixSocket`` comes
        /// before it, and says what it means.
        public var unixSockets: [Origin: UnixSocketPath] = [:]
        /// The address or the interface that connections leave from, those to proxies included. `nil` leaves
        /// the choice to the system.
        public var localBinding: LocalBinding?
        /// The probes on connections, with which the system notices a peer that is gone. `nil` sends none.
        public var tcpKeepAlive: TCPKeepAlive?
        /// Limits the speed at which all bodies of requests together are sent.
        /// ``HTTPClient/Request/sendingRate`` takes its place. Streams of other protocols, after an upgrade,
        /// are not limited.
        public var sendingRate: RateLimit?
        /// Limits the speed at which all bodies of responses together are received.
        /// ``HTTPClient/Request/receivingRate`` takes its place.
        public var receivingRate: RateLimit?
        /// The trusted roots, the client certificate and the versions of TLS.
        public var tls = TLSSettings()
        /// Whether the names of servers are encrypted on the way to them (Encrypted Client Hello, RFC 9849).
        /// ``HTTPClient/Request/encryptedClientHello`` comes before it. Proxies have
        /// ``Proxy/encryptedClientHello``.
        public var encryptedClientHello = EncryptedClientHello.off
        /// The time limits of each phase. ``HTTPClient/Request/timeouts`` overrides them.
        public var timeouts = Timeouts()
        /// Default fields, sent with every request that does not have them itself. `Proxy-Authorization` is
        /// ignored here: it belongs in the settings of a proxy.
        public var headers: HTTPHeaders = ["User-Agent": PackageVersion.userAgent, "Accept": "*/*"]
        /// Whether and how redirects are followed. ``HTTPClient/Request/redirects`` overrides it.
        public var redirects = RedirectPolicy()
        /// The responses and failures that are retried. `nil`, the default, retries none;
        /// ``HTTPClient/Request/retries`` overrides it.
        public var retries: RetryPolicy?
        /// Sends a request to a second address if its response is late. `nil`, the default, never does.
        public var hedging: HedgingPolicy?
        /// Provides credentials, by origin. ``HTTPClient/Request/authenticator`` comes before it.
        public var authenticators: [Origin: any Authenticator] = [:]
        /// Provides credentials for proxies, by the origin of the proxy, such as that of
        /// `http://proxy.example:3128`. They take the place of ``Proxy/credentials``. Proxies with
        /// ``Proxy/Scheme/socks5`` take none.
        public var proxyAuthenticators: [Origin: any Authenticator] = [:]
        /// See every call, the first one outermost: the request that the caller makes and the response that
        /// it gets.
        public var interceptors: [Interceptor] = []
        /// See every request that goes to the network, including those that follow a redirect and retries,
        /// with their final fields.
        public var networkInterceptors: [Interceptor] = []
        /// Answers requests instead of the network, for tests of programs that use a client. All other parts
        /// of a call (redirects, cookies, cache, retries) work as usual.
        public var transport: Forward?
        /// Receives the events of every call, from the first address that is tried to the last byte of the
        /// body: each event as it happens, those of one call in order.
        ///
        /// It runs on the thread where the event happens, for several calls at the same time, and must not
        /// block.
        public var observer: (@Sendable (CallEvent) -> Void)?
        /// Stores responses and answers requests with them. `nil` stores none.
        public var cache: ResponseCache?
        /// The highest number of open connections to one origin; further requests queue. `nil` means no
        /// limit.
        ///
        /// With HTTP/1.1 this is the number of requests to the origin in progress at a time. A server that
        /// works on fewer queues the rest on its side, where they cost memory and end in 503. Raise it for
        /// long streams from one server, or for many requests to a distant one.
        ///
        /// Code of the program that a call asks and waits for (an authenticator, a decision on a redirect, an
        /// interceptor) may send requests beyond this limit and the next one, before those that queue: one at
        /// a time for each response that waits for such code with its connection, and one more. Where
        /// redirects and refused requests that wait so have all connections, other requests go on one at a
        /// time, up to twice the limit.
        ///
        /// Requests whose connections have other settings, such as TLS settings of their own, are counted
        /// apart.
        public var maximumConnectionsPerOrigin: Int? = 8
        /// The highest number of open connections to all origins; further requests queue. `nil` means no
        /// limit.
        ///
        /// The default is half the number of descriptors that the process may have when the settings are
        /// made: a connection that is being dialled may take two when addresses are raced. If the process
        /// runs out of descriptors all the same, its longest idle connection is closed; if none is idle, the
        /// request waits.
        public var maximumConnections: Int? = max(1, Descriptors.limit / 2)
        /// The highest number of idle connections to all origins. The default is a quarter of the descriptors
        /// that the process may have, but at most 1024.
        public var maximumIdleConnections: Int = min(1024, Descriptors.limit / 4)
        /// The time that an idle connection is kept open.
        public var idleTimeout: Duration = .seconds(60)
        /// The highest age at which a connection is reused: it stays at its address, and the name may have
        /// moved to another one.
        public var maximumConnectionAge: Duration = .seconds(600)
        /// The highest number of requests on one connection. `nil` means no limit.
        public var maximumConnectionUses: Int?
        /// The largest body, in bytes, that ``HTTPClient/fetch(_:)`` and the functions based on it hold in
        /// memory.
        public var maximumBufferedBody = 16 * 1024 * 1024
        /// Whether and how the content of responses is decoded.
        public var decoding = DecodingSettings()
        /// Limits a response's head and framing, against hostile servers. A response that exceeds them fails.
        public var limits = HTTP1Limits()
        /// The faults of old servers that are tolerated. The default is none.
        public var leniency = HTTP1Leniency()
        /// Stores the cookies that servers set and sends them back, for example a ``CookieJar``. `nil` stores
        /// none.
        public var cookies: (any CookieStore)?
        /// Stores which names must be reached over `https` only (HSTS), and enforces it. `nil` ignores HSTS.
        public var hsts: HSTSStore?
        /// The event loop that watches the client's sockets.
        public var loop = EventLoop.shared

        /// Makes the default settings.
        public init() {}
    }
}

extension HTTPClient.Configuration {
    /// The settings that dialling needs.
    var dialConfiguration: DialConfiguration {
        var configuration = DialConfiguration()
        configuration.dialling = dialling
        configuration.tls = tls
        configuration.encryptedClientHello = encryptedClientHello
        if addresses.hasECHConfigs {
            configuration.echConfig = { [addresses] in addresses.echConfig(for: $0) }
        }
        configuration.socket = SocketOptions(local: localBinding, keepAlive: tcpKeepAlive)
        configuration.vetting = vetting
        configuration.mayAskSystem = resolver?.mayAskSystem ?? true
        configuration.limits = limits
        configuration.leniency = leniency
        configuration.loop = loop
        return configuration
    }

    /// The limits of the pool of connections.
    var poolLimits: PoolLimits {
        PoolLimits(
            perOrigin: max(1, maximumConnectionsPerOrigin ?? .max),
            total: max(1, maximumConnections ?? .max),
            idle: max(0, maximumIdleConnections),
            idleExcess: max(0, tls.maximumCertificateBytes),
            idleTime: idleTimeout.clampedNanoseconds,
            age: maximumConnectionAge.clampedNanoseconds,
            uses: max(1, maximumConnectionUses ?? .max),
            tracksResolver: resolver != nil
        )
    }
}
