public import DirectIO
public import DirectTLS

/// A server that carries connections to other servers.
///
/// The name in a request's URL goes on to decide SNI, the certificate check, `Host`, cookies and the pool; the
/// proxy sees only where to connect, and for `http` URLs what is sent there.
public struct Proxy: Hashable, Sendable {
    /// How to talk to the proxy.
    public enum Scheme: String, Hashable, Sendable, CaseIterable {
        /// HTTP: `CONNECT`, and the whole URL in the request line for `http` (RFC 9110, section 9.3.6).
        case http
        /// The same over TLS.
        case https
        /// SOCKS version 5; names are turned into addresses on this side (RFC 1928).
        case socks5
        /// SOCKS version 5; the proxy is given names.
        case socks5h
    }

    /// Who turns names into addresses.
    public enum Lookup: Hashable, Sendable {
        /// The proxy, which is given the name; but an address of the request's own, of its map or of the client's
        /// is what it is given instead. No resolver on this side is asked.
        case byProxy
        /// This side, as without a proxy: the proxy is given one of the addresses chosen here, or of those that
        /// the resolver names.
        case byClient
    }

    /// User name and password (RFC 7617, RFC 1929). Never shown.
    public struct Credentials: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
        public let user: String
        public let password: String

        public init(user: String, password: String) {
            self.user = user
            self.password = password
        }

        public var description: String { "hidden" }
        public var customMirror: Mirror { Mirror(self, children: [:]) }
    }

    /// How to talk to it.
    public let scheme: Scheme
    /// Whom the proxy's own certificate has to be for, if it has one.
    public let host: Host
    /// Its port.
    public let port: UInt16
    /// Who we are, if it asks. Sent to the proxy and to nobody else.
    public var credentials: Credentials?
    /// Where to find it, instead of asking the system's resolver for its name.
    public var addresses: [Endpoint]?
    /// Who turns names into addresses: the proxy, unless the scheme is `socks5`.
    public var lookup: Lookup
    /// How to secure the connection to it, for `https`; nothing: as the client does, without client certificate.
    public var tls: TLSSettings?

    /// A proxy by its parts.
    public init(_ scheme: Scheme, _ host: Host, port: UInt16, credentials: Credentials? = nil) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.credentials = credentials
        lookup = scheme == .socks5 ? .byClient : .byProxy
    }

    /// Reads `[scheme://][user:password@]host[:port]`; without scheme it is `http`.
    public init(_ text: String) throws(ProxyFault) {
        var rest = text[...]
        var scheme = Scheme.http
        if let mark = text.firstRange(of: "://") {
            guard let known = Scheme(rawValue: text[..<mark.lowerBound].lowercased()) else {
                throw .unknownScheme(String(text[..<mark.lowerBound]))
            }
            scheme = known
            rest = text[mark.upperBound...]
        }
        // One parser for all hosts: that of URLs.
        let url: HTTPURL
        do throws(URLFault) {
            url = try HTTPURL("http://\(rest)")
        } catch {
            throw .url(error)
        }
        guard url.targetBytes == [UInt8(ascii: "/")], !rest.contains("?"), !rest.contains("#") else {
            throw .hasPath
        }
        // A port that the text names, the default one of HTTP included, ends what stands before the path.
        let authority = rest.prefix { $0 != "/" }
        let hasPort = authority.reversed().prefix { $0 != "]" && $0 != "@" }.contains(":")
        self.init(scheme, url.host, port: hasPort ? url.port : scheme.defaultPort)
        if let (user, password) = url.credentialBytes {
            credentials = Credentials(
                user: String(decoding: user, as: UTF8.self),
                password: String(decoding: password, as: UTF8.self)
            )
        }
    }

    /// Whether it speaks HTTP.
    var speaksHTTP: Bool { scheme == .http || scheme == .https }
}

extension Proxy.Scheme {
    var defaultPort: UInt16 {
        switch self {
        case .http: 80
        case .https: 443
        case .socks5, .socks5h: 1080
        }
    }
}

extension Proxy: CustomStringConvertible {
    /// The proxy as a URL, without user and password.
    public var description: String {
        let host = host.address?.family == .v6 ? "[\(host)]" : "\(host)"
        return "\(scheme.rawValue)://\(host):\(port)"
    }
}
