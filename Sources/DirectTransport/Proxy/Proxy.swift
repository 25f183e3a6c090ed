public import DirectCore
internal import DirectIO
public import DirectTLS

/// A proxy server, through which a client reaches other servers.
///
/// The host in a request's URL still decides SNI, the certificate check, `Host`, cookies and the pool. The
/// proxy sees only the address or name to connect to and, for `http` URLs, the requests that are sent there.
///
/// Set proxies in a client's settings with ``ProxySettings``.
public struct Proxy: Hashable, Sendable {
    /// The protocol that a proxy speaks.
    public enum Scheme: String, Hashable, Sendable, CaseIterable {
        /// HTTP: `CONNECT` for tunnels (RFC 9110, section 9.3.6), and for `http` URLs the whole URL in the
        /// request line.
        case http
        /// The same protocol over TLS.
        case https
        /// SOCKS version 5 (RFC 1928). The client resolves names and gives the proxy addresses, unless
        /// ``lookup`` is ``Lookup/byProxy``.
        case socks5
    }

    /// The side that resolves names.
    public enum Lookup: Hashable, Sendable {
        /// The proxy resolves names, and no resolver on this side is asked. If the request, its address map
        /// or that of the client gives an address, the proxy is given that instead of the name.
        case byProxy
        /// The client resolves names, as it does without a proxy. The proxy is given one of the addresses.
        case byClient
    }

    /// A user name and a password (RFC 7617, RFC 1929). They are never shown in descriptions or errors.
    public struct Credentials: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
        /// The user name. Bytes that are not UTF-8 are replaced here, but not in what is sent.
        public var user: String { String(decoding: userBytes, as: UTF8.self) }
        /// The password. Bytes that are not UTF-8 are replaced here, but not in what is sent.
        public var password: String { String(decoding: passwordBytes, as: UTF8.self) }

        let userBytes: [UInt8]
        let passwordBytes: [UInt8]

        /// Creates credentials.
        public init(user: String, password: String) {
            self.init(Array(user.utf8), Array(password.utf8))
        }

        init(_ user: [UInt8], _ password: [UInt8]) {
            userBytes = user
            passwordBytes = password
        }

        /// Always "hidden".
        public var description: String { "hidden" }
        /// A mirror without children, so that dumps do not show the password.
        public var customMirror: Mirror { Mirror(self, children: [:]) }
    }

    /// The protocol that the proxy speaks.
    public let scheme: Scheme
    /// The proxy's host. With ``Scheme/https``, the proxy's certificate must be for it.
    public let host: HTTPHost
    /// The proxy's port.
    public let port: UInt16
    /// The credentials, if the proxy requires any. They are sent only to the proxy.
    public var credentials: Credentials?
    /// The proxy's addresses. `nil` asks the system's resolver for its host.
    public var addresses: [Endpoint]?
    /// The side that resolves the names of servers: by default the proxy, and the client for
    /// ``Scheme/socks5``.
    public var lookup: Lookup
    /// The TLS settings for the connection to the proxy, for ``Scheme/https``. `nil` uses those of the
    /// client, without the client certificate.
    public var tls: TLSSettings? {
        get { tlsBox?.settings }
        set { tlsBox = newValue.map(TLSSettings.Box.init) }
    }
    /// Whether the name of the proxy is encrypted, for ``Scheme/https``. What the client's settings say is
    /// about servers only.
    public var encryptedClientHello = EncryptedClientHello.off

    private var tlsBox: TLSSettings.Box?

    /// Creates a proxy from its parts.
    public init(_ scheme: Scheme, _ host: HTTPHost, port: UInt16, credentials: Credentials? = nil) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.credentials = credentials
        lookup = scheme == .socks5 ? .byClient : .byProxy
    }

    /// Parses a proxy from `[scheme://][user:password@]host[:port]`. The scheme is `http` if there is none.
    /// The scheme `socks5h` means ``Scheme/socks5`` where the proxy resolves names, and `socks`, which GNOME
    /// sets, is `socks5`.
    ///
    /// - Throws: ``ProxyError`` if the text has another form, an unknown scheme, or a path, query or
    ///   fragment.
    public init(_ text: String) throws(ProxyError) {
        var rest = text[...]
        var scheme = Scheme.http
        var isResolving = false
        let start = text.prefix { $0 != ":" }
        if text[start.endIndex...].hasPrefix("://") {
            let word = start.lowercased()
            isResolving = word == Self.resolvingSOCKS
            guard let known = isResolving || word == "socks" ? .socks5 : Scheme(rawValue: word) else {
                throw .unknownScheme(String(start))
            }
            scheme = known
            rest = text[start.endIndex...].dropFirst(3)
        }
        // The URL parser reads all hosts, so that there is one parser for them.
        let url: HTTPURL
        do throws(HTTPURLError) {
            url = try HTTPURL("http://\(rest)")
        } catch {
            throw .url(error)
        }
        guard url.targetBytes == [UInt8(ascii: "/")], !rest.contains("?"), !rest.contains("#") else {
            throw .hasPath
        }
        // If the text names a port, even the default one of HTTP, it stands at the end of what precedes the
        // path.
        let authority = rest.prefix { $0 != "/" }
        let hasPort = authority.reversed().prefix { $0 != "]" && $0 != "@" }.contains(":")
        self.init(scheme, url.host, port: hasPort ? url.port : scheme.defaultPort)
        if isResolving { lookup = .byProxy }
        if let (user, password) = url.credentialBytes {
            credentials = Credentials(user, password)
        }
    }

    /// The scheme in the text of a SOCKS proxy that resolves names.
    private static let resolvingSOCKS = "socks5h"

    /// Whether the proxy speaks HTTP.
    var speaksHTTP: Bool { scheme == .http || scheme == .https }
}

extension Proxy.Scheme {
    /// The port of a proxy whose text has none.
    package var defaultPort: UInt16 {
        switch self {
        case .http: 80
        case .https: 443
        case .socks5: 1080
        }
    }
}

extension Proxy: CustomStringConvertible {
    /// The proxy as a URL, without user name and password.
    public var description: String {
        let host = host.address?.family == .v6 ? "[\(host)]" : "\(host)"
        let scheme = scheme == .socks5 && lookup == .byProxy ? Self.resolvingSOCKS : scheme.rawValue
        return "\(scheme)://\(host):\(port)"
    }
}
