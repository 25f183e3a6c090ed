public import DirectHTTP1

/// Why a connection over a proxy did not come about.
@nonexhaustive
public enum ProxyFault: Error, Sendable {
    /// The text is not that of a proxy.
    case url(URLFault)
    case unknownScheme(String)
    /// A proxy has no path, query or fragment.
    case hasPath
    /// An exception is no host, address or range of addresses.
    case notAnException(String)
    /// User name or password cannot be sent: they are empty or too long, or have bytes that do not fit.
    case unfitCredentials
    /// The proxy answered CONNECT, but not with success.
    case refused(ProxyRefusal)
    /// The SOCKS proxy's reply (RFC 1928, section 6).
    case socksReply(UInt8)
    /// The SOCKS proxy offers no way to say who we are that we know, or wants us to and we do not.
    case noCommonMethod
    /// The SOCKS proxy does not accept user name and password.
    case wrongCredentials
    /// What the proxy said is not what it should speak.
    case notAProxy
    /// The name is longer than the 255 bytes that SOCKS has room for (CVE-2023-38545).
    case nameTooLong
    /// The proxy would turn the name into an address that the client's vetting never sees.
    case unseenByVetting
}

/// An answer to CONNECT that is no success.
public struct ProxyRefusal: Sendable {
    /// 407 where the proxy wants to know who we are, or does not accept what we said.
    public let status: Status
    public let headers: Headers
    /// The beginning of what it said about it.
    public let body: [UInt8]
}

extension ProxyFault: CustomStringConvertible {
    /// The fault in words, without user and password.
    public var description: String {
        switch self {
        case .url(let fault): "not a proxy: \(fault)"
        case .unknownScheme(let scheme): "no kind of proxy: \(String(reflecting: scheme))"
        case .hasPath: "a proxy has no path, query or fragment"
        case .notAnException(let text): "no host and no range of addresses: \(String(reflecting: text))"
        case .unfitCredentials: "user name or password do not fit into what the proxy reads"
        case .refused(let refusal): "the proxy answered CONNECT with \(refusal.status)"
        case .socksReply(let code): "the SOCKS proxy answered \(code) (\(Self.words(code)))"
        case .noCommonMethod: "the SOCKS proxy accepts no way of saying who we are that we have"
        case .wrongCredentials: "the SOCKS proxy does not accept user name and password"
        case .notAProxy: "what the proxy said is not what it should speak"
        case .nameTooLong: "the name is too long for SOCKS"
        case .unseenByVetting: "the proxy would look up the name, and the address could not be vetted"
        }
    }

    private static func words(_ reply: UInt8) -> String {
        switch reply {
        case 1: "general failure"
        case 2: "not allowed"
        case 3: "network unreachable"
        case 4: "host unreachable"
        case 5: "connection refused"
        case 6: "time to live expired"
        case 7: "command not supported"
        case 8: "kind of address not supported"
        default: "unknown"
        }
    }
}
