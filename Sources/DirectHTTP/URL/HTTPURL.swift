/// An http or https URL.
///
/// One strict parser of our own reads it, and everything else follows from this one reading: whom to
/// resolve and dial, SNI, the certificate check, `Host`, cookies and policy. The grammar is RFC 3986; where
/// real URLs bend it and the WHATWG URL Standard has a result that takes no guessing, we give that result:
/// dot segments are removed, letters beyond ASCII and other unfit bytes of path, query, fragment and user
/// information are escaped as UTF-8, the default port is dropped, scheme and host are lower case.
///
/// Deliberately refused, each with a `URLFault` of its own (docs/URLs.md has the reasons):
/// - spaces or control characters around the URL; tabs and line breaks within it;
/// - a backslash before the query, which browsers read as a slash;
/// - `http:example.com` and `http:/example.com`, where browsers guess the missing slashes;
/// - a second `@` before the host;
/// - hosts that are not ASCII (give the A-label form `xn--…`) or hold `%` or other punctuation;
/// - empty labels (`a..b`, `.a`), labels over 63 and names over 253 bytes;
/// - hosts that end in a number and are not strict IPv4 (`127.1`, `0x7f.0.0.1`, `1.2.3.4.`);
/// - more than 64 KiB.
///
/// Copying a URL costs one reference count; what every request needs is computed once.
public struct HTTPURL: Sendable {
    /// The schemes this package speaks.
    public enum Scheme: String, Hashable, Sendable {
        case http
        case https

        /// The port a URL of this scheme need not name.
        public var defaultPort: UInt16 { self == .http ? 80 : 443 }
    }

    private let storage: Storage

    /// Reads a URL; the fault names the part that is wrong.
    public init(_ text: String) throws(URLFault) {
        self = try withUTF8Result(of: text) { utf8 throws(URLFault) in try HTTPURL(utf8: utf8) }
    }

    /// Reads a URL from the whole of the given bytes.
    package init(utf8 text: Span<UInt8>) throws(URLFault) {
        let parts = try URLParts(text)
        guard let scheme = parts.scheme, let authority = parts.authority else { throw .notHTTP }
        storage = Storage(
            authority: try URLAuthority(text, authority, atSign: parts.atSign, scheme: scheme),
            target: URLTarget(text, parts),
            fragment: Self.fragment(text, parts)
        )
    }

    /// What the reference means where this URL is the base (RFC 3986, section 5.2): another URL, or one
    /// with the same scheme, authority (user information too) or path.
    ///
    /// The fragment is the reference's own, if any; a redirect that is to inherit one adds it.
    public func resolving(_ reference: String) throws(URLFault) -> HTTPURL {
        try withUTF8Result(of: reference) { utf8 throws(URLFault) in try resolving(utf8: utf8) }
    }

    /// Resolves a reference given as bytes, such as a `Location` field.
    package func resolving(utf8 text: Span<UInt8>) throws(URLFault) -> HTTPURL {
        let parts = try URLParts(text)
        let fragment = Self.fragment(text, parts)
        guard let authority = parts.authority else {
            let target = URLTarget(text, parts, relativeTo: storage.target)
            return HTTPURL(Storage(authority: storage.authority, target: target, fragment: fragment))
        }
        let scheme = parts.scheme ?? scheme
        return HTTPURL(
            Storage(
                authority: try URLAuthority(text, authority, atSign: parts.atSign, scheme: scheme),
                target: URLTarget(text, parts),
                fragment: fragment
            )
        )
    }

    private init(_ storage: Storage) {
        self.storage = storage
    }

    private static func fragment(_ text: Span<UInt8>, _ parts: URLParts) -> String? {
        guard let range = parts.fragment else { return nil }
        var bytes: [UInt8] = []
        bytes.appendEscaped(text.extracting(range), where: \.standsInFragment)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension HTTPURL {
    /// http or https.
    public var scheme: Scheme { storage.authority.origin.scheme }

    /// The name or address, without trailing dot.
    public var host: Host { storage.authority.origin.host }

    /// Whether the name was written with a dot at its end (`example.com.`), which says that it is complete.
    ///
    /// The dot is not part of the host: SNI, certificate check, `Host`, cookies and pool go without it.
    public var hasTrailingDot: Bool { storage.authority.hasTrailingDot }

    /// The port to use, whether the URL names it or not.
    public var port: UInt16 { storage.authority.origin.port }

    /// The path, escaped, never empty.
    public var path: String { String(decoding: targetBytes[..<storage.target.pathLength], as: UTF8.self) }

    /// The query, escaped, without its question mark; `nil` if there is none.
    public var query: String? {
        let query = targetBytes[storage.target.pathLength...].dropFirst()
        return targetBytes.count == storage.target.pathLength ? nil : String(decoding: query, as: UTF8.self)
    }

    /// The fragment, escaped, without its number sign; it is never sent.
    public var fragment: String? { storage.fragment }

    /// The user name, unescaped; `nil` if the URL carries neither user nor password.
    public var user: String? {
        credentialBytes.map { String(decoding: $0.user, as: UTF8.self) }
    }

    /// The password, unescaped; `nil` if the URL carries neither user nor password.
    public var password: String? {
        credentialBytes.map { String(decoding: $0.password, as: UTF8.self) }
    }

    /// Scheme, host and port.
    public var origin: Origin { storage.authority.origin }

    /// The whole URL with user information and fragment. `HTTPURL(url.text) == url`, unless the text has become longer
    /// than 64 KiB by escaping or resolving: so no other URL is ever derived from the text.
    public var text: String { storage.text(userinfo: storage.authority.userinfo) }

    /// Path and query as the request line says them; only visible ASCII, beginning with a slash.
    package var targetBytes: [UInt8] { storage.target.bytes }

    /// How many of the target's bytes are the path.
    package var pathLength: Int { storage.target.pathLength }

    /// What `Host` says: the default port is left out, IPv6 stands in brackets without its zone, and a
    /// name goes without its trailing dot (a server that routes by name would not know it with the dot).
    package var authorityBytes: [UInt8] { storage.authority.bytes }

    /// User name and password, unescaped, as bytes: they need not be UTF-8.
    package var credentialBytes: (user: [UInt8], password: [UInt8])? {
        guard let userinfo = storage.authority.userinfo?.utf8 else { return nil }
        let colon = userinfo.firstIndex(of: UInt8(ascii: ":")) ?? userinfo.endIndex
        return (unescaped(userinfo[..<colon]), unescaped(userinfo[colon...].dropFirst()))
    }

    /// Whether it carries a user name or a password.
    package var hasCredentials: Bool { storage.authority.userinfo != nil }

    /// The same URL without user name and password.
    package var withoutCredentials: HTTPURL {
        guard storage.authority.userinfo != nil else { return self }
        let authority = URLAuthority(withoutUserinfo: storage.authority)
        return HTTPURL(Storage(authority: authority, target: storage.target, fragment: fragment))
    }

    /// The same URL with that scheme: the default port becomes the other default port, another port stays.
    package func with(scheme: Scheme) -> HTTPURL {
        guard scheme != self.scheme else { return self }
        let authority = URLAuthority(storage.authority, scheme: scheme)
        return HTTPURL(Storage(authority: authority, target: storage.target, fragment: fragment))
    }

    /// The same URL without its fragment.
    package var withoutFragment: HTTPURL {
        guard fragment != nil else { return self }
        return HTTPURL(Storage(authority: storage.authority, target: storage.target, fragment: nil))
    }

    /// The same URL with the other one's fragment, unless it has one (RFC 9110, section 10.2.2).
    package func inheritingFragment(from other: HTTPURL) -> HTTPURL {
        guard fragment == nil, let inherited = other.fragment else { return self }
        return HTTPURL(Storage(authority: storage.authority, target: storage.target, fragment: inherited))
    }
}

extension HTTPURL: Hashable {
    public static func == (left: HTTPURL, right: HTTPURL) -> Bool {
        left.storage === right.storage || left.storage.equals(right.storage)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(storage.authority.origin)
        hasher.combine(storage.target.bytes)
    }
}

extension HTTPURL: CustomStringConvertible, CustomReflectable {
    /// The URL for people and logs: like `text`, but with `***` for user name and password.
    public var description: String { storage.text(userinfo: storage.authority.userinfo == nil ? nil : "***") }

    /// Never shows user name and password, not to `dump` either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

private func unescaped(_ text: Substring.UTF8View) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = text
    while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "%"), let high = rest.first?.hexadecimalValue,
            let low = rest.dropFirst().first?.hexadecimalValue
        {
            bytes.append(high << 4 | low)
            rest = rest.dropFirst(2)
        } else {
            bytes.append(byte)
        }
    }
    return bytes
}
