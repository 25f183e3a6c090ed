public import DirectHTTP1
internal import DirectIO

/// Cookies that servers set, to be sent back to them (RFC 6265bis). Any number of clients may share one.
///
/// A jar knows hosts by the names in URLs, wherever their requests were sent. It sends a cookie over http
/// only if it came without `Secure`, takes none for other names than the server's own, and none for all names
/// below a public suffix such as `co.uk` or `github.io`.
public final class CookieJar: CookieStore {
    /// How many cookies a jar holds, sends and takes at once.
    public struct Limits: Hashable, Sendable {
        /// Of one site, that is of a name that can be registered, and all names below it.
        public var perSite = 180
        /// Of all sites.
        public var total = 10_000
        /// In one response.
        public var perResponse = 50
        /// In one request.
        public var perRequest = 150
        /// Bytes of one request's `Cookie` field, the caller's own cookies not counted (CVE-2022-32205).
        public var fieldLength = 8190

        /// The defaults.
        public init() {}

        /// Of a site that has more, cookies go first when there are too many (RFC 6265bis, section 5.7).
        static let fairShare = 50
    }

    private let limits: Limits
    private let table: Locked<CookieTable>

    /// An empty jar.
    public init(limits: Limits = Limits()) {
        self.limits = limits
        table = Locked(CookieTable(limits: limits))
    }

    /// All cookies, those that have expired left out, the oldest first.
    public var cookies: [Cookie] {
        let now = UnixTime.now
        return table.withLock(\.cookies).filter { !$0.hasExpired(at: now) }
    }

    /// The cookies that a request for this URL carries, in their order and within the limits of one request.
    public func cookies(for url: HTTPURL) -> [Cookie] {
        cookies(for: url, at: .now)
    }

    /// Keeps what the `Set-Cookie` fields of the response to a request for this URL say.
    public func take(_ headers: Headers, from url: HTTPURL) {
        take(headers, from: url, at: .now)
    }

    /// Puts a cookie in, in place of one of the same name, host and path; one that has expired only removes that.
    public func add(_ cookie: Cookie) {
        store([cookie], at: .now)
    }

    /// Takes out the cookie of the same name, host and path.
    public func remove(_ cookie: Cookie) {
        removeAll { $0.replaces(cookie) }
    }

    /// Takes out all cookies.
    public func removeAll() {
        removeAll { _ in true }
    }

    /// Takes out the cookies for which the closure answers true. It must not use the jar.
    public func removeAll(where isUnwanted: (Cookie) -> Bool) {
        table.withLock { $0.removeAll(where: isUnwanted) }
    }

    /// Ends the session: takes out the cookies without an expiry.
    public func endSession() {
        removeAll { $0.expiry == nil }
    }

    func store(_ cookies: [Cookie], at now: UnixTime) {
        let placed = cookies.map { ($0, $0.host.site) }
        table.withLock { table in
            for (cookie, site) in placed { table.store(cookie, in: site, at: now) }
        }
    }
}

/// The same at any time, and as bytes.
extension CookieJar {
    /// The value of the `Cookie` field of a request; `nil` if there is no cookie for it. It need not be text.
    package func fieldBytes(for url: HTTPURL, at now: UnixTime) -> [UInt8]? {
        let cookies = cookies(for: url, at: now)
        return cookies.isEmpty ? nil : cookies.fieldBytes
    }

    func cookies(for url: HTTPURL, at now: UnixTime) -> [Cookie] {
        let request = CookieRequest(url, at: now)
        var cookies: [Cookie] = []
        var length = 0
        table.withLock { table in
            table.visit(request) { cookie in
                length += cookie.pair.count + (cookies.isEmpty ? 0 : 2)
                guard cookies.count < limits.perRequest, length <= limits.fieldLength else { return false }
                cookies.append(cookie)
                return true
            }
        }
        return cookies
    }

    /// Takes what the response to a request for this URL sets.
    package func take(_ headers: Headers, from url: HTTPURL, at now: UnixTime) {
        guard var index = headers.index(of: "set-cookie") else { return }
        var found: [(cookie: Cookie, site: Host)] = []
        for _ in 0..<max(0, limits.perResponse) {
            if let cookie = SetCookie(headers.valueBytes(at: index))?.cookie(from: url, at: now) {
                found.append((cookie, cookie.host.site))
            }
            guard let next = headers.index(of: "set-cookie", from: index + 1) else { break }
            index = next
        }
        guard !found.isEmpty else { return }
        table.withLock { table in
            for (cookie, site) in found {
                if url.scheme == .http, table.wouldOverlaySecureCookie(cookie, in: site) { continue }
                table.store(cookie, in: site, at: now)
            }
        }
    }
}

extension CookieJar: CustomReflectable {
    /// The cookies, without their values.
    public var customMirror: Mirror { Mirror(self, children: ["cookies": cookies]) }
}
