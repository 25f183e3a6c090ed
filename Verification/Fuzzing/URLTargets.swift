import DirectCore

extension FuzzTarget {
    /// URLs.
    ///
    /// - The text of a URL is read as the same URL, and has the same text again.
    /// - The request target is visible ASCII, begins with a slash, and has no dot segments.
    /// - The value of `Host` has no user information and no character that could end a line.
    /// - The description holds no user name and no password.
    /// - Another scheme and back gives the same URL, unless the port is the other scheme's default.
    static let url = FuzzTarget(name: "url") { choices in
        let input = choices.rest()
        guard let url = try? input.withSpan(HTTPURL.init(utf8:)) else { return }
        requireSound(url)
        if let text = String(validating: input, as: UTF8.self) {
            requireEqual(try? HTTPURL(text), url, "text and bytes are read alike")
        }
        requireEqual(url.withoutCredentials.hasCredentials, false, "no credentials")
        requireEqual(url.withoutFragment.fragment, nil, "no fragment")
        let other: HTTPURL.Scheme = url.scheme == .http ? .https : .http
        if url.port != other.defaultPort {
            requireEqual(url.with(scheme: other).with(scheme: url.scheme), url, "there and back")
        }
        requireHidden(url)
    }

    /// References against a base URL.
    ///
    /// - The result is a URL whose text is read back, and keeps the base's origin unless the reference has
    ///   its own.
    /// - The path is that of a simple implementation of RFC 3986, section 5.2, with the dot segments of the
    ///   URL Standard.
    /// - A whole URL does not depend on the base, and the text of a result leads to the same result.
    static let reference = FuzzTarget(name: "reference") { choices in
        let texts = choices.texts()
        guard texts.count == 2, let base = try? texts[0].withSpan(HTTPURL.init(utf8:)) else { return }
        let reference = texts[1]
        if let whole = try? reference.withSpan(HTTPURL.init(utf8:)) {
            requireEqual(try? reference.withSpan(base.resolving(utf8:)), whole, "a URL needs no base")
        }
        guard let url = try? reference.withSpan(base.resolving(utf8:)) else { return }
        requireSound(url)
        guard url.text.utf8.count <= 65_536 else { return }
        requireEqual(try? base.resolving(url.text), url, "the result's text leads to the result")
        guard let simple = SimpleReference(reference) else { return }
        requireEqual(url.origin, base.origin, "a relative reference keeps the origin")
        requireEqual(url.path, simple.path(from: base), "the path of RFC 3986")
        requireEqual(url.query, simple.query(from: base), "the query of RFC 3986")
        requireEqual(url.fragment, simple.fragment, "the fragment is the reference's")
    }
}

private func requireSound(_ url: HTTPURL) {
    let target = url.targetBytes
    require(target.first == UInt8(ascii: "/"), "a target begins with a slash")
    require(
        target.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") },
        "a target is visible ASCII"
    )
    for segment in url.path.split(separator: "/", omittingEmptySubsequences: false) {
        require(!SimpleReference.isDots(segment), "dot segments are removed")
    }
    let host = url.authorityBytes
    require(
        !host.isEmpty && host.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"@/\\?#%".utf8.contains($0) },
        "Host"
    )
    require(host.allSatisfy { $0 < 0x41 || $0 > 0x5A }, "Host is in lower case")
    guard url.text.utf8.count <= 65_536 else { return }
    guard let again = try? HTTPURL(url.text) else { return require(false, "\(url.text) is read") }
    requireEqual(again, url, "the text is the URL")
    requireEqual(again.text, url.text, "the text of the text")
    requireEqual(again.hashValue, url.hashValue, "equal URLs have equal hashes")
    requireEqual(again.authorityBytes, url.authorityBytes, "equal URLs have an equal Host")
}

/// A user name or password of some length is nowhere in the description, but where the URL repeats it.
private func requireHidden(_ url: HTTPURL) {
    guard let (user, password) = url.credentialBytes else { return }
    let rest = url.withoutCredentials.text
    for secret in [user.text, password.text] where secret.utf8.count > 3 && !rest.contains(secret) {
        require(!url.description.contains(secret), "the description hides user name and password")
    }
}

/// A relative reference without authority, of characters that need no escaping, resolved in the simplest way.
private struct SimpleReference {
    private let path: Substring
    private let query: Substring?
    let fragment: String?

    /// `nil` for references that have a scheme or an authority, or bytes that must be escaped.
    init?(_ bytes: [UInt8]) {
        guard bytes.allSatisfy(Self.isPlain) else { return nil }
        var rest = Substring(bytes.text)
        guard !rest.hasPrefix("//") else { return nil }
        var parts = rest.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        fragment = parts.count > 1 ? String(parts[1]) : nil
        rest = parts[0]
        parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        query = parts.count > 1 ? parts[1] : nil
        path = parts[0]
    }

    func path(from base: HTTPURL) -> String {
        if path.isEmpty { return base.path }
        if path.hasPrefix("/") { return Self.withoutDots(path) }
        let folder = base.path[...(base.path.lastIndex(of: "/") ?? base.path.startIndex)]
        return Self.withoutDots(folder + path)
    }

    func query(from base: HTTPURL) -> String? {
        path.isEmpty && query == nil ? base.query : query.map(String.init)
    }

    /// The segments of an absolute path; `..` removes the one before it.
    private static func withoutDots(_ path: Substring) -> String {
        var segments: [Substring] = []
        let all = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in all.enumerated() {
            let isLast = index == all.count - 1
            guard isDots(segment) else {
                segments.append(segment)
                continue
            }
            let isParent = segment.replacing("%2e", with: ".").replacing("%2E", with: ".") == ".."
            if isParent, !segments.isEmpty { segments.removeLast() }
            if isLast { segments.append("") }
        }
        return "/" + segments.joined(separator: "/")
    }

    static func isDots(_ segment: Substring) -> Bool {
        [".", ".."].contains(segment.replacing("%2e", with: ".").replacing("%2E", with: "."))
    }

    /// Unreserved characters and delimiters; no colon, so that there is no scheme.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~!$&()*+,;=@/?#%".utf8.contains(byte)
        }
    }
}
