public import DirectIO

/// A cookie as a jar keeps it: what it says, and which requests it goes with (RFC 6265bis, section 5.7).
///
/// Names and values are bytes to HTTP. Those that are not UTF-8 are shown as Latin-1, and sent as they came.
public struct Cookie: Hashable, Sendable {
    /// Which requests of other sites a cookie goes with, in a browser; kept and not acted on.
    public enum SameSite: String, Hashable, Sendable {
        /// With none of them.
        case strict = "Strict"
        /// With those that lead the user to the cookie's site.
        case lax = "Lax"
        /// With all of them.
        case unrestricted = "None"
    }

    /// Whom it goes to: this host, and if it is a name and `coversSubdomains` says so, those below it.
    public let host: Host
    /// Whether it also goes to the names below its host. Never so for an address or a public suffix.
    public let coversSubdomains: Bool
    /// When it ends; `nil` for one that ends with the session, which only the caller knows.
    public let expiry: UnixTime?
    /// Whether it goes over https only.
    public let isSecure: Bool
    /// Whether scripts must not see it; for whoever has scripts.
    public let isHTTPOnly: Bool
    /// What the server said about requests of other sites, if anything.
    public let sameSite: SameSite?

    /// As it is sent: name, equals sign and value; for a cookie without name the value alone.
    let pair: [UInt8]
    let nameLength: Int
    let pathBytes: [UInt8]

    /// A cookie of the caller's own; throws what would keep a server's from being stored.
    public init(
        _ name: String,
        _ value: String,
        for host: Host,
        coversSubdomains: Bool = false,
        path: String = "/",
        expiry: UnixTime? = nil,
        isSecure: Bool = false,
        isHTTPOnly: Bool = false,
        sameSite: SameSite? = nil
    ) throws(CookieFault) {
        var content = CookieContent(name: Array(name.utf8), value: Array(value.utf8))
        content.path = .given(Array(path.utf8))
        content.expiry = expiry
        content.isSecure = isSecure
        content.isHTTPOnly = isHTTPOnly
        content.sameSite = sameSite
        try self.init(content, for: host, coversSubdomains: coversSubdomains)
    }

    /// Every cookie is made here, wherever it comes from.
    init(_ content: CookieContent, for host: Host, coversSubdomains: Bool) throws(CookieFault) {
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
    /// The name; empty if there is none.
    public var name: String { String(cookieText: nameBytes) }

    /// The value, with the quotes around it if it came with any.
    public var value: String { String(cookieText: valueBytes) }

    /// The path at and below which it is sent; begins with a slash.
    public var path: String { String(cookieText: pathBytes[...]) }

    var nameBytes: ArraySlice<UInt8> { pair[..<nameLength] }
    var valueBytes: ArraySlice<UInt8> { nameLength == 0 ? pair[...] : pair[(nameLength + 1)...] }

    /// Whether one takes the place of the other in a jar.
    func replaces(_ other: Cookie) -> Bool {
        nameLength == other.nameLength && coversSubdomains == other.coversSubdomains
            && pathBytes == other.pathBytes && host == other.host && nameBytes == other.nameBytes
    }

    func hasExpired(at now: UnixTime) -> Bool {
        if let expiry { expiry <= now } else { false }
    }

    /// Whether it belongs to this host (RFC 6265bis, section 5.1.3, and the host-only flag).
    func belongs(to other: Host) -> Bool {
        if host == other { return true }
        guard coversSubdomains, let name = host.name, let otherName = other.name else { return false }
        return otherName.isSubdomain(of: name)
    }
}

extension Cookie: CustomStringConvertible, CustomReflectable {
    /// The name and whom it goes to; the value may be secret.
    public var description: String {
        "\(name) for \(coversSubdomains ? "*." : "")\(host)\(path)"
    }

    /// Never shows the value, not to `dump` either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension String {
    /// Bytes of a cookie as text: UTF-8, or else Latin-1, in which every byte is a character.
    init(cookieText bytes: ArraySlice<UInt8>) {
        self =
            String(validating: bytes, as: UTF8.self)
            ?? String(decoding: bytes.lazy.map(UInt16.init), as: UTF16.self)
    }
}
