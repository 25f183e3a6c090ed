/// An http or https URL.
///
/// This package's own strict parser reads a URL once, and every part of the client uses the result: resolving
/// and dialling, SNI, the certificate check, `Host`, cookies and policies. The grammar is that of RFC 3986.
/// Where URLs in practice deviate from it and the WHATWG URL Standard defines an unambiguous result, that
/// result is used: dot segments are removed, characters beyond ASCII and other invalid bytes in path, query,
/// fragment and user information are escaped as UTF-8, the default port is dropped, and scheme and host are
/// converted to lower case.
///
/// Deliberately refused, each with an ``HTTPURLError`` of its own (docs/URLs.md has the reasons):
/// - spaces or control characters around the URL; tabs and line breaks within it;
/// - a backslash before the query, which browsers read as a slash;
/// - `http:example.com` and `http:/example.com`, where browsers guess the missing slashes;
/// - a second `@` before the host;
/// - hosts that are not ASCII (give the A-label form `xn--…`) or contain `%` or other punctuation;
/// - empty labels (`a..b`, `.a`), labels over 63 and names over 253 bytes;
/// - hosts that end in a number and are not strict IPv4 (`127.1`, `0x7f.0.0.1`, `1.2.3.4.`);
/// - more than 64 KiB.
///
/// Copying a URL costs one reference count. The values that every request needs are computed once, when the
/// URL is parsed.
public struct HTTPURL: Sendable {
    /// The schemes that this package supports.
    public enum Scheme: String, Hashable, Sendable {
        /// Plain HTTP.
        case http
        /// HTTP over TLS.
        case https

        /// The port of a URL of this scheme that does not contain one.
        package var defaultPort: UInt16 { self == .http ? 80 : 443 }
    }

    let storage: Storage

    /// Parses a URL.
    ///
    /// - Parameter text: The URL, with its scheme.
    /// - Throws: An ``HTTPURLError`` that names the part that is invalid.
    public init(_ text: String) throws(HTTPURLError) {
        self = try withUTF8Result(of: text) { utf8 throws(HTTPURLError) in try HTTPURL(utf8: utf8) }
    }

    /// Parses a URL from the whole of the given bytes.
    package init(utf8 text: Span<UInt8>) throws(HTTPURLError) {
        let parts = try URLParts(text)
        guard let scheme = parts.scheme, let authority = parts.authority else { throw .notHTTP }
        storage = Storage(
            authority: try URLAuthority(text, authority, atSign: parts.atSign, scheme: scheme),
            target: URLTarget(text, parts),
            fragment: Self.fragment(text, parts: parts)
        )
    }

    /// Resolves a reference against this URL as the base (RFC 3986, section 5.2). The reference is another
    /// URL, or takes its scheme, its authority (with the user information) or its path from this one.
    ///
    /// The fragment of the result is the reference's own, if any. A redirect that inherits the fragment adds
    /// it afterwards.
    ///
    /// - Parameter reference: A URL or a relative reference.
    /// - Throws: An ``HTTPURLError`` that names the part of the reference that is invalid.
    public func resolving(_ reference: String) throws(HTTPURLError) -> HTTPURL {
        try withUTF8Result(of: reference) { utf8 throws(HTTPURLError) in try resolving(utf8: utf8) }
    }

    /// Resolves a reference given as bytes, such as the value of a `Location` field.
    package func resolving(utf8 text: Span<UInt8>) throws(HTTPURLError) -> HTTPURL {
        let parts = try URLParts(text)
        let fragment = Self.fragment(text, parts: parts)
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

    init(_ storage: Storage) {
        self.storage = storage
    }

    private static func fragment(_ text: Span<UInt8>, parts: URLParts) -> String? {
        guard let range = parts.fragment else { return nil }
        var bytes: [UInt8] = []
        bytes.appendEscaped(text.extracting(range), where: \.isAllowedInFragment)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension HTTPURL {
    /// The scheme.
    public var scheme: Scheme { storage.authority.origin.scheme }

    /// The name or address, without trailing dot.
    public var host: HTTPHost { storage.authority.origin.host }

    /// Whether the URL writes the name with a trailing dot (`example.com.`), which marks it as complete.
    ///
    /// The dot is not part of the host: SNI, the certificate check, `Host`, cookies, resolvers of the client
    /// and the connection pool do without it. The system's resolver is asked with it, so that no search list
    /// applies.
    public var hasTrailingDot: Bool { storage.authority.hasTrailingDot }

    /// The port to connect to: the URL's own, or the default port of the scheme.
    public var port: UInt16 { storage.authority.origin.port }

    /// The path, escaped. Never empty.
    public var path: String { String(decoding: targetBytes[..<storage.target.pathLength], as: UTF8.self) }

    /// The query, escaped, without its question mark; `nil` if the URL has none.
    public var query: String? {
        let query = targetBytes[storage.target.pathLength...].dropFirst()
        return targetBytes.count == storage.target.pathLength ? nil : String(decoding: query, as: UTF8.self)
    }

    /// The fragment, escaped, without its number sign; `nil` if the URL has none. It is never sent.
    public var fragment: String? { storage.fragment }

    /// The user name, unescaped; `nil` if the URL contains neither a user name nor a password.
    public var user: String? {
        credentialBytes.map { String(decoding: $0.user, as: UTF8.self) }
    }

    /// The password, unescaped; `nil` if the URL contains neither a user name nor a password.
    public var password: String? {
        credentialBytes.map { String(decoding: $0.password, as: UTF8.self) }
    }

    /// The scheme, the host and the port.
    public var origin: Origin { storage.authority.origin }

    /// Whether the URL has this origin. Costs less than to compare with ``origin``, which is a copy.
    package func hasOrigin(_ origin: Origin) -> Bool { storage.authority.origin == origin }

    /// The whole URL with user information and fragment.
    ///
    /// `HTTPURL(url.text) == url`, unless escaping or resolving has made the text longer than 64 KiB. The
    /// package therefore never derives a URL from the text of another one.
    public var text: String { storage.text(userinfo: storage.authority.userinfo) }

    /// The host and, unless it is the default one of the scheme, the port, as in `Host`.
    public var authority: String { String(decoding: authorityBytes, as: UTF8.self) }

    /// The path and the query as the request line contains them: visible ASCII only, beginning with a slash.
    public var target: String { String(decoding: targetBytes, as: UTF8.self) }

    /// The same, as bytes.
    package var targetBytes: [UInt8] { storage.target.bytes }

    /// The number of bytes of the target that are the path.
    package var pathLength: Int { storage.target.pathLength }

    /// The value of `Host`. The default port is omitted, an IPv6 address is in brackets and has no zone, and
    /// a name has no trailing dot (a server that routes by name would not recognise it with the dot).
    package var authorityBytes: [UInt8] { storage.authority.bytes }

    /// The user name and the password, unescaped, as bytes: they need not be UTF-8.
    package var credentialBytes: (user: [UInt8], password: [UInt8])? {
        guard let userinfo = storage.authority.userinfo?.utf8 else { return nil }
        let colon = userinfo.firstIndex(of: UInt8(ascii: ":")) ?? userinfo.endIndex
        return (unescaped(userinfo[..<colon]), unescaped(userinfo[colon...].dropFirst()))
    }

    /// Whether the URL contains a user name or a password.
    package var hasCredentials: Bool { storage.authority.userinfo != nil }

    /// The same URL without user name and password.
    package var withoutCredentials: HTTPURL {
        guard storage.authority.userinfo != nil else { return self }
        let authority = URLAuthority(withoutUserinfo: storage.authority)
        return HTTPURL(Storage(authority: authority, target: storage.target, fragment: fragment))
    }

    /// The same URL with the name as it is sent, without a trailing dot.
    package var withoutTrailingDot: HTTPURL {
        guard hasTrailingDot else { return self }
        let authority = URLAuthority(withoutTrailingDot: storage.authority)
        return HTTPURL(Storage(authority: authority, target: storage.target, fragment: fragment))
    }

    /// Returns the same URL with another scheme: the default port becomes the default port of that scheme,
    /// any other port stays.
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

    /// Returns the same URL with the other one's fragment, unless it has a fragment itself (RFC 9110, section
    /// 10.2.2).
    package func inheritingFragment(from other: HTTPURL) -> HTTPURL {
        guard fragment == nil, let inherited = other.fragment else { return self }
        return HTTPURL(Storage(authority: storage.authority, target: storage.target, fragment: inherited))
    }
}

extension HTTPURL: Hashable {
    /// Whether both URLs have the same parts, user information and fragment included.
    public static func == (left: HTTPURL, right: HTTPURL) -> Bool {
        left.storage === right.storage || left.storage.equals(right.storage)
    }

    /// Hashes the origin and the target.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(storage.authority.origin)
        hasher.combine(storage.target.bytes)
    }
}

extension HTTPURL: CustomStringConvertible, CustomReflectable {
    /// The URL for people and logs: like ``text``, but with `***` instead of user name and password.
    public var description: String { storage.text(userinfo: storage.authority.userinfo == nil ? nil : "***") }

    /// A mirror without children, so that `dump` does not show user name and password either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Returns the bytes with each `%XX` decoded. A percent sign without two hexadecimal digits after it stays.
func unescaped(_ text: Substring.UTF8View) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = text
    while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "%"), let high = rest.first.flatMap(Hex.value),
            let low = rest.dropFirst().first.flatMap(Hex.value)
        {
            bytes.append(high << 4 | low)
            rest = rest.dropFirst(2)
        } else {
            bytes.append(byte)
        }
    }
    return bytes
}

extension HTTPURL {
    /// The parts of a URL, immutable, in the single allocation that all copies of the URL share.
    final class Storage: Sendable {
        let authority: URLAuthority
        let target: URLTarget
        /// The fragment, escaped.
        let fragment: String?

        init(authority: consuming URLAuthority, target: consuming URLTarget, fragment: consuming String?) {
            self.authority = authority
            self.target = target
            self.fragment = fragment
        }

        func equals(_ other: Storage) -> Bool {
            authority.origin == other.authority.origin && target.bytes == other.target.bytes
                && authority.hasTrailingDot == other.authority.hasTrailingDot
                && authority.userinfo == other.authority.userinfo && fragment == other.fragment
        }

        /// Returns the URL as text, with this user information instead of its own.
        func text(userinfo: String?) -> String {
            let origin = authority.origin
            var text = "\(origin.scheme.rawValue)://"
            if let userinfo { text += "\(userinfo)@" }
            switch origin.host {
            case .name(let name): text += authority.hasTrailingDot ? "\(name)." : "\(name)"
            case .address(let address): text += Self.text(of: address)
            }
            if origin.port != origin.scheme.defaultPort { text += ":\(origin.port)" }
            text += String(decoding: target.bytes, as: UTF8.self)
            if let fragment { text += "#\(fragment)" }
            return text
        }

        /// Returns the address as a URL writes it: IPv6 in brackets, with its zone after `%25` (RFC 6874).
        private static func text(of address: IPAddress) -> String {
            guard address.family == .v6 else { return address.description }
            let zone = address.zone.map { "%25\($0)" } ?? ""
            return "[\(address.withoutZone)\(zone)]"
        }
    }
}
