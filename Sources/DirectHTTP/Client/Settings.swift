public import DirectHTTP1
public import DirectIO
public import DirectTLS

extension HTTPClient {
    /// How a client works; fixed once the client is made.
    public struct Settings: Sendable {
        /// Where to connect for which hosts, instead of asking the system's resolver. A request's own
        /// addresses come before it.
        public var addresses = StaticMap()
        /// Whom to trust, who we are, and which versions of TLS to speak.
        public var tls = TLSSettings()
        /// How long each phase may take, unless a request says otherwise.
        public var timeouts = Timeouts()
        /// Sent with every request that has no such field of its own.
        public var headers: Headers = ["User-Agent": "direct-http/0.1", "Accept": "*/*"]
        /// How many connections to one origin may be open at a time; further requests wait their turn.
        public var maximumConnectionsPerOrigin: Int?
        /// How many connections may be kept open without work, over all origins.
        public var maximumIdleConnections = 1024
        /// How long a connection is kept open without work.
        public var idleTimeout: Duration = .seconds(60)
        /// The largest body that `fetch` and its relatives hold in memory.
        public var maximumBufferedBody = 16 * 1024 * 1024
        /// How much of a response's framing is read before it counts as an attack.
        public var limits = HTTP1Limits()
        /// Which faults of old servers are overlooked; none.
        public var leniency = HTTP1Leniency()
        /// Keeps the cookies that servers set, and sends them back; without one no cookie is kept.
        public var cookies: CookieJar?
        /// Remembers the names that want to be reached over https only, and keeps to it; without one nobody does.
        public var hsts: HSTSStore?
        /// The thread that watches the sockets.
        public var loop = EventLoop.shared

        /// The defaults.
        public init() {}
    }
}
