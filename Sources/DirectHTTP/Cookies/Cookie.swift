public import DirectCore
internal import DirectIO

/// A cookie as a jar stores it: name, value and the requests it is sent with (RFC 6265bis, section 5.7).
///
/// Names and values are bytes in HTTP. Those that are not valid UTF-8 are shown as Latin-1, and are sent back
/// unchanged.
public struct Cookie: Hashable, Sendable {
    /// The cross-site requests that a browser sends a cookie with. The value is stored but has no effect
    /// here.
    public enum SameSite: String, Hashable, Sendable {
        /// No cross-site requests.
        case strict = "Strict"
        /// Cross-site requests that navigate the user to the cookie's site.
        case lax = "Lax"
        /// All cross-site requests.
        case unrestricted = "None"
    }

    /// The host that the cookie is sent to. If it is a name, ``coversSubdomains`` decides about the names
    /// below it.
    public let host: HTTPHost
    /// Whether the cookie is also sent to the subdomains of its host. Never `true` for an address or a public
    /// suffix.
    public let coversSubdomains: Bool
    /// When the cookie expires; `nil` for a session cookie, whose end only the caller knows.
    public let expiry: UnixTime?
    /// Whether the cookie is sent over https only.
    public let isSecure: Bool
    /// Whether scripts must not see the cookie. It has an effect only in programs that run scripts.
    public let isHTTPOnly: Bool
    /// The `SameSite` attribute, if the server set one.
    public let sameSite: SameSite?

    /// The text that is sent: name, equals sign and value, or the value alone if there is no name.
    let pair: [UInt8]
    let nameLength: Int
    let pathBytes: [UInt8]

    /// Creates a cookie, subject to the same checks as one that a server sets.
    ///
    /// - Parameter name: The name; may be empty.
    /// - Parameter value: The value.
    /// - Parameter host: The host that the cookie is sent to.
    /// - Parameter coversSubdomains: Whether it is also sent to the subdomains of `host`.
    /// - Parameter path: The path at and below which it is sent; begins with a slash.
    /// - Parameter expiry: When it expires; `nil` for a session cookie.
    /// - Parameter isSecure: Whether it is sent over https only.
    /// - Parameter isHTTPOnly: Whether scripts must not see it.
    /// - Parameter sameSite: The `SameSite` attribute to store with it.
    /// - Throws: ``CookieError`` if a server could not set such a cookie either.
    public init(
        _ name: String,
        _ value: String,
        for host: HTTPHost,
        coversSubdomains: Bool = false,
        path: String = "/",
        expiry: UnixTime? = nil,
        isSecure: Bool = false,
        isHTTPOnly: Bool = false,
        sameSite: SameSite? = nil
    ) throws(CookieError) {
        var content = CookieContent(name: Array(name.utf8), value: Array(value.utf8))
        content.path = .given(Array(path.utf8))
        content.expiry = expiry
        content.isSecure = isSecure
        content.isHTTPOnly = isHTTPOnly
        content.sameSite = sameSite
        try self.init(content, for: host, coversSubdomains: coversSubdomains)
    }

    /// Every cookie is created here, whether it comes from a response, a file or the caller.
    init(_ content: CookieContent, for host: HTTPHost, coversSubdomains: Bool) throws(CookieError) {
        try content.check()
        if coversSubdomains {
            guard let name = host.name else { throw .addressHasNoSubdomains }
            guard !name.isPublicSuffix else { throw .publicSuffix }
        }
        try content.checkPrefix(isHostOnly: !coversSubdomains)
        self.host = host
        self.coversSubdomains = coversSubdomains
        expiry = content.expiry
        isSecure = content.isSecure
        isHTTPOnly = content.isHTTPOnly
        sameSite = content.sameSite
        nameLength = content.name.count
        pair = nameLength == 0 ? content.value : content.name + [UInt8(ascii: "=")] + content.value
        pathBytes = content.path.bytes
    }
}

extension Cookie {
    /// The name; empty if the cookie has none.
    public var name: String { String(cookieText: nameBytes) }

    /// The value, including the quotes if it came with any.
    public var value: String { String(cookieText: valueBytes) }

    /// The path at and below which the cookie is sent; begins with a slash.
    public var path: String { String(cookieText: pathBytes[...]) }

    var nameBytes: ArraySlice<UInt8> { pair[..<nameLength] }
    var valueBytes: ArraySlice<UInt8> { nameLength == 0 ? pair[...] : pair[(nameLength + 1)...] }

    /// Whether one cookie replaces the other in a jar.
    func replaces(_ other: Cookie) -> Bool {
        nameLength == other.nameLength && coversSubdomains == other.coversSubdomains
            && pathBytes == other.pathBytes && host == other.host && nameBytes == other.nameBytes
    }

    func hasExpired(at now: UnixTime) -> Bool {
        if let expiry { expiry <= now } else { false }
    }

    /// Whether the cookie is sent to this host (RFC 6265bis, section 5.1.3, and the host-only flag).
    func belongs(to other: HTTPHost) -> Bool {
        if host == other { return true }
        guard coversSubdomains, let name = host.name, let otherName = other.name else { return false }
        return otherName.isSubdomain(of: name)
    }
}

extension Cookie: CustomStringConvertible, CustomReflectable {
    /// The name, host and path. The value is left out, since it may be secret.
    public var description: String {
        "\(name) for \(coversSubdomains ? "*." : "")\(host)\(path)"
    }

    /// An empty mirror, so that `dump` does not show the value either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension String {
    /// Decodes the bytes of a cookie as UTF-8, or as Latin-1 if they are not valid UTF-8.
    init(cookieText bytes: ArraySlice<UInt8>) {
        self =
            String(validating: bytes, as: UTF8.self)
            ?? String(decoding: bytes.lazy.map(UInt16.init), as: UTF16.self)
    }
}
