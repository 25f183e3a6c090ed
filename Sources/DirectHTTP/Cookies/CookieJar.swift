internal import DirectCore
public import DirectHTTP1
internal import DirectIO

/// Stores the cookies that servers set and returns those to send (RFC 6265bis). Any number of clients may share
/// one.
///
/// A jar identifies hosts by the names in URLs, regardless of the address that a request was sent to. A cookie
/// without `Secure` is also sent over http. A server can set cookies only for its own name and the names above it,
/// and not for all names below a public suffix such as `co.uk` or `github.io`.
public final class CookieJar: CookieStore {
    /// The number of cookies that a jar stores, sends and accepts.
    public struct Limits: Hashable, Sendable {
        /// Cookies of one site: a registrable domain and all names below it.
        public var perSite = 180
        /// Cookies of all sites together.
        public var total = 10_000
        /// Cookies accepted from one response.
        package var perResponse = 50
        /// Cookies sent with one request.
        package var perRequest = 150
        /// Bytes of one request's `Cookie` field, without the caller's own cookies (CVE-2022-32205).
        package var fieldLength = 8190

        /// Creates the default limits.
        public init() {}

        /// The number of cookies that each site may keep when the jar is over its limit; those of sites with more
        /// are evicted first (RFC 6265bis, section 5.7).
        static let fairShare = 50
    }

    private let limits: Limits
    private let table: Locked<CookieTable>

    /// Creates an empty jar.
    public init(limits: Limits = Limits()) {
        self.limits = limits
        table = Locked(CookieTable(limits: limits))
    }

    /// All cookies that have not expired, the oldest first.
    public var cookies: [Cookie] {
        let now = UnixTime.now
        return table.withLock(\.cookies).filter { !$0.hasExpired(at: now) }
    }

    /// Returns the cookies to send with a request to this URL, in the order of the `Cookie` field and within the
    /// limits for one request.
    public func cookies(for url: HTTPURL) -> [Cookie] {
        cookies(for: url, at: .now)
    }

    /// Stores the cookies in the `Set-Cookie` fields of a response.
    ///
    /// - Parameter headers: The fields of the response.
    /// - Parameter url: The URL of the request.
    public func take(_ headers: HTTPHeaders, from url: HTTPURL) {
        take(headers, from: url, at: .now)
    }

    /// Adds a cookie, and replaces one with the same name, host and path. A cookie that has expired only removes
    /// the old one.
    public func add(_ cookie: Cookie) {
        store([cookie], at: .now)
    }

    /// Removes the cookie with the same name, host and path.
    public func remove(_ cookie: Cookie) {
        removeAll { $0.replaces(cookie) }
    }

    /// Removes all cookies.
    public func removeAll() {
        removeAll { _ in true }
    }

    /// Removes all cookies that satisfy the predicate.
    ///
    /// - Parameter isUnwanted: The predicate. It must not use the jar, whose lock is held.
    public func removeAll(where isUnwanted: (Cookie) -> Bool) {
        table.withLock { $0.removeAll(where: isUnwanted) }
    }

    /// Ends the session: removes all cookies without an expiry date.
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

/// The same operations with an explicit time, and with bytes.
extension CookieJar {
    /// The value of the `Cookie` field of a request; `nil` if there is no cookie for it. It need not be valid
    /// UTF-8.
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

    /// Stores the cookies that a response sets, as of the given time.
    package func take(_ headers: HTTPHeaders, from url: HTTPURL, at now: UnixTime) {
        guard var index = headers.index(of: "set-cookie") else { return }
        var found: [(cookie: Cookie, site: HTTPHost)] = []
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
    /// A mirror with the cookies, which hide their values.
    public var customMirror: Mirror { Mirror(self, children: ["cookies": cookies]) }
}
