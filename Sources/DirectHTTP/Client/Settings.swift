public import DirectHTTP1
public import DirectIO
public import DirectTLS

extension HTTPClient {
    /// How a client works; fixed once the client is made.
    public struct Settings: Sendable {
        /// Where to connect for which hosts, instead of asking the system's resolver. A request's own
        /// addresses come before it.
        public var addresses = StaticMap()
        /// Whom to ask where the names are that neither a request nor the map says it of; nothing means the
        /// system's resolver, which is asked in no other case unless this one does so.
        public var resolver: (any Resolver)?
        /// What no request may connect to, whoever names the address; nothing is forbidden.
        public var vetting: AddressVetting?
        /// Over which proxy requests go; over none.
        public var proxy = ProxySettings()
        /// How addresses are tried where there are several for one name.
        public var dialling = DiallingSettings()
        /// Whom to trust, who we are, and which versions of TLS to speak.
        public var tls = TLSSettings()
        /// How long each phase may take, unless a request says otherwise.
        public var timeouts = Timeouts()
        /// Sent with every request that has no such field of its own; but for `Proxy-Authorization`, which a proxy's
        /// own settings say.
        public var headers: Headers = ["User-Agent": "direct-http/0.1", "Accept": "*/*"]
        /// What becomes of responses that point elsewhere, unless a request says otherwise.
        public var redirects = RedirectPolicy()
        /// Which answers and failures are worth another try, unless a request says otherwise; none.
        public var retries: RetryPolicy?
        /// Who says who we are, for which origins; a request's own comes before it.
        public var authenticators: [Origin: any Authenticator] = [:]
        /// Stand in the way of every call, the first one outermost: they see what the caller asks for and gets.
        public var interceptors: [Interceptor] = []
        /// Stand in the way of every request that goes to the network, one that follows a redirect or repeats
        /// another included: they see the final fields.
        public var networkInterceptors: [Interceptor] = []
        /// Answers instead of the network; for tests of programs that use a client. Everything else about a
        /// call (redirects, cookies, cache, retries) stays as it is.
        public var transport: Forward?
        /// Hears what happens to every call, from the first address that is tried to the last byte of the body.
        public var observer: CallObserver?
        /// Keeps responses and answers with them; nothing is kept without.
        public var cache: ResponseCache?
        /// How many connections to one origin may be open at a time; further requests wait their turn. Without a limit
        /// if `nil`.
        ///
        /// With HTTP/1.1 this is how many requests to the origin are under way at a time. A server that works on fewer
        /// has the rest wait on its side, where it costs memory and ends in 503. A program that takes long streams from
        /// one server, or makes many requests to a distant one, raises it.
        public var maximumConnectionsPerOrigin: Int? = 8
        /// How many connections may be open at a time, over all origins; further requests wait their turn. Without a
        /// limit if `nil`.
        ///
        /// By default half as many as the process may have descriptors when the settings are made: one that is being
        /// made may take two, when addresses are raced. Where descriptors run out all the same, the connection of the
        /// process that has been idle for longest is closed; if none is idle the request waits.
        public var maximumConnections: Int? = defaultMaximumConnections
        /// How many connections may be kept open without work, over all origins. By default a quarter of the descriptors
        /// that the process may have, and no more than 1024.
        public var maximumIdleConnections = min(1024, Descriptors.limit / 4)
        /// How long a connection is kept open without work.
        public var idleTimeout: Duration = .seconds(60)
        /// How old a connection may become and still be used again: it keeps to an address, and the name may
        /// have moved.
        public var maximumConnectionAge: Duration = .seconds(600)
        /// How many requests a connection may serve.
        public var maximumConnectionUses: Int?
        /// The largest body that `fetch` and its relatives hold in memory.
        public var maximumBufferedBody = 16 * 1024 * 1024
        /// Whether and how the content of responses is decoded.
        public var decoding = DecodingSettings()
        /// How much of a response's framing is read before it counts as an attack.
        public var limits = HTTP1Limits()
        /// Which faults of old servers are overlooked; none.
        public var leniency = HTTP1Leniency()
        /// Keeps the cookies that servers set, and sends them back: a `CookieJar`, for example. Without one no cookie is
        /// kept.
        public var cookies: (any CookieStore)?
        /// Remembers the names that want to be reached over https only, and keeps to it; without one nobody does.
        public var hsts: HSTSStore?
        /// The thread that watches the sockets.
        public var loop = EventLoop.shared

        /// The defaults.
        public init() {}

        private static var defaultMaximumConnections: Int { max(1, Descriptors.limit / 2) }
    }
}
