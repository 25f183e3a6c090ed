public import DirectCore
public import DirectHTTP1

/// An invalid proxy setting, or the reason why a connection over a proxy could not be made.
@nonexhaustive
public enum ProxyError: Error, Sendable {
    /// The text is not that of a proxy: its host, port or credentials cannot be parsed.
    case url(HTTPURLError)
    /// The scheme is none of ``Proxy/Scheme``.
    case unknownScheme(String)
    /// The text has a path, query or fragment, which a proxy cannot have.
    case hasPath
    /// An exception is neither a host nor an address or a range of addresses.
    case notAnException(String)
    /// The user name or the password cannot be sent: empty, too long, or with bytes that the protocol does
    /// not allow.
    case unfitCredentials
    /// The proxy answered `CONNECT` with another status than success: 407 if it requires credentials, or
    /// rejected those it was sent.
    case refused(ReceivedResponse)
    /// The SOCKS proxy refused to connect, with this reply code (RFC 1928, section 6).
    case socksReply(UInt8)
    /// The SOCKS proxy accepts no authentication method that the client supports, or requires credentials and
    /// none are set.
    case noCommonMethod
    /// The SOCKS proxy rejected the user name and password.
    case wrongCredentials
    /// The proxy's reply does not follow its protocol, or is none: what is wrong with one that should be an
    /// HTTP response; `nil` for another protocol, and for bytes behind the reply that nobody has asked for.
    case notAProxy(HTTP1Error?)
    /// The name is longer than the 255 bytes that SOCKS allows (CVE-2023-38545).
    case nameTooLong
    /// The proxy would resolve the name, so the client's vetting never sees the address.
    case unseenByVetting
    /// The authenticator that has to provide the credentials failed.
    case authenticator(any Error)
}

extension ProxyError: CustomReflectable {
    /// An empty mirror, which hides the error of an authenticator. The description says the rest.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension ProxyError: CustomStringConvertible {
    /// The fault as text, without user name and password.
    public var description: String {
        switch self {
        case .url(let fault): "not a proxy: \(fault)"
        case .unknownScheme(let scheme): "unknown proxy scheme: \(String(reflecting: scheme))"
        case .hasPath: "a proxy has no path, query or fragment"
        case .notAnException(let text): "not a host and not an address range: \(String(reflecting: text))"
        case .unfitCredentials: "the proxy's user name or password cannot be sent"
        case .refused(let refusal): "the proxy answered CONNECT with \(refusal.status)"
        case .socksReply(let code): "the SOCKS proxy answered \(code) (\(Self.words(code)))"
        case .noCommonMethod: "the SOCKS proxy accepts no authentication method that is available"
        case .wrongCredentials: "the SOCKS proxy rejected the user name and password"
        case .notAProxy(let fault):
            "the proxy's reply does not follow its protocol\(fault.map { ": \($0)" } ?? "")"
        case .nameTooLong: "the name is too long for SOCKS"
        case .authenticator: "the authenticator for the proxy failed"
        case .unseenByVetting: "the proxy would resolve the name, so the address could not be vetted"
        }
    }

    /// The meaning of a SOCKS reply code (RFC 1928, section 6).
    private static func words(_ reply: UInt8) -> String {
        switch reply {
        case 1: "general failure"
        case 2: "connection not allowed by ruleset"
        case 3: "network unreachable"
        case 4: "host unreachable"
        case 5: "connection refused"
        case 6: "TTL expired"
        case 7: "command not supported"
        case 8: "address type not supported"
        default: "unknown"
        }
    }
}
