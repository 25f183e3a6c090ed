internal import DirectCore
internal import DirectIO

/// A parsed `Set-Cookie` field (RFC 6265bis, section 5.6), and the cookie that results from it (section 5.7).
struct SetCookie {
    private var content: CookieContent
    private var domain: ArraySlice<UInt8> = []
    /// The value of the last `Path` attribute; empty if it does not begin with a slash.
    private var path: ArraySlice<UInt8> = []
    private var expires: UnixTime?
    private var maximumAge: Int64?

    /// Parses a field; `nil` if the whole field has to be ignored.
    init?(_ field: [UInt8]) {
        guard field.allSatisfy({ $0.isAllowedInCookie || $0 == UInt8(ascii: ";") }) else { return nil }
        var pieces = field.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)[...]
        guard let pair = pieces.popFirst() else { return nil }
        let (name, value) = Self.halves(of: pair)
        // Without an equals sign the whole piece is the value.
        content = CookieContent(name: Array(value == nil ? [] : name), value: Array(value ?? name))
        for piece in pieces {
            let (name, value) = Self.halves(of: piece)
            read(name, value: value ?? [])
        }
    }

    /// Returns the cookie that a response from this URL sets; `nil` if it may not set it.
    func cookie(from url: HTTPURL, at now: UnixTime) -> Cookie? {
        var content = content
        let limit = now.advanced(bySeconds: CookieContent.longestLife)
        if let maximumAge {
            content.expiry = min(
                limit,
                maximumAge <= 0 ? UnixTime(seconds: .min) : now.advanced(bySeconds: maximumAge)
            )
        } else if let expires {
            content.expiry = min(limit, expires)
        }
        content.path = path.isEmpty ? .derived(url.defaultCookiePath) : .given(Array(path))
        guard !content.isSecure || url.scheme == .https else { return nil }
        guard let (host, coversSubdomains) = scope(for: url.host) else { return nil }
        return try? Cookie(content, for: host, coversSubdomains: coversSubdomains)
    }

    /// Returns the hosts that the cookie is for; `nil` if the domain attribute is not allowed.
    ///
    /// A claimed domain must be the host or a name above it, compared label by label (CVE-2013-1944), up to
    /// the host's registrable domain. A name above that has another owner, even if it is not a public suffix
    /// itself: `windows.net` lies above the public suffix `blob.core.windows.net`.
    private func scope(for host: HTTPHost) -> (HTTPHost, coversSubdomains: Bool)? {
        guard !domain.isEmpty else { return (host, false) }
        guard let claimed = try? Array(domain).withSpan(HTTPHost.init(utf8:)) else { return nil }
        guard host.isAtOrBelow(claimed), claimed.isAtOrBelow(host.site) else { return nil }
        // An address has no names below it (CVE-2014-3613); the names below a public suffix have other
        // owners.
        return (claimed, claimed.name.map { !$0.isPublicSuffix } ?? false)
    }

    /// Applies an attribute. The last one of a name counts.
    private mutating func read(_ name: ArraySlice<UInt8>, value: ArraySlice<UInt8>) {
        guard value.count <= CookieContent.maximumAttributeLength else { return }
        switch name.count {
        case 4 where name.equalsIgnoringCase("path"):
            path = value.first == UInt8(ascii: "/") ? value : []
        case 6 where name.equalsIgnoringCase("domain"):
            domain = value.first == UInt8(ascii: ".") ? value.dropFirst() : value
        case 6 where name.equalsIgnoringCase("secure"):
            content.isSecure = true
        case 7 where name.equalsIgnoringCase("expires"):
            if let date = CookieDate.parse(value) { expires = date }
        case 7 where name.equalsIgnoringCase("max-age"):
            if let seconds = Self.seconds(value) { maximumAge = seconds }
        case 8 where name.equalsIgnoringCase("httponly"):
            content.isHTTPOnly = true
        case 8 where name.equalsIgnoringCase("samesite"):
            content.sameSite = Self.sameSite(value)
        default: break
        }
    }

    private static func sameSite(_ value: ArraySlice<UInt8>) -> Cookie.SameSite? {
        if value.equalsIgnoringCase("strict") { return .strict }
        if value.equalsIgnoringCase("lax") { return .lax }
        return value.equalsIgnoringCase("none") ? .unrestricted : nil
    }

    /// Parses digits with an optional minus sign. Values that overflow become the largest number.
    private static func seconds(_ value: ArraySlice<UInt8>) -> Int64? {
        let isNegative = value.first == UInt8(ascii: "-")
        let digits = isNegative ? value.dropFirst() : value
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
        if isNegative { return -1 }
        return digits.reduce(0) { total, digit in
            let (product, overflow) = total.multipliedReportingOverflow(by: 10)
            let (sum, more) = product.addingReportingOverflow(Int64(digit - UInt8(ascii: "0")))
            return overflow || more || total == .max ? .max : sum
        }
    }

    /// Returns the parts before and after the first equals sign, trimmed; the second is `nil` if there is
    /// none.
    private static func halves(of piece: ArraySlice<UInt8>) -> (ArraySlice<UInt8>, ArraySlice<UInt8>?) {
        guard let sign = piece.firstIndex(of: UInt8(ascii: "=")) else { return (piece.trimmed, nil) }
        return (piece[..<sign].trimmed, piece[(sign + 1)...].trimmed)
    }
}

extension HTTPURL {
    /// The default path of a cookie (RFC 6265bis, section 5.1.4): the URL's path up to its last slash.
    fileprivate var defaultCookiePath: [UInt8] {
        let path = targetBytes[..<pathLength]
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")), slash > 0 else { return [UInt8(ascii: "/")] }
        return Array(path[..<slash])
    }
}
