internal import DirectHTTP1
internal import DirectIO

/// Cookies that servers set, to be sent back to them (RFC 6265bis). Any number of clients may share one.
///
/// A jar knows hosts by the names in URLs, wherever their requests were sent. It sends a cookie over http
/// only if it came without `Secure`, takes none for other names than the server's own, and none for all names
/// below a public suffix such as `co.uk` or `github.io`.
public final class CookieJar: Sendable {
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

    /// The cookies that a request for this URL would carry, in their order.
    public func cookies(for url: HTTPURL) -> [Cookie] {
        var cookies: [Cookie] = []
        let request = CookieRequest(url, at: .now)
        table.withLock { table in
            table.visit(request) { cookie in
                cookies.append(cookie)
                return true
            }
        }
        return cookies
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

/// What the client asks of a jar for each request and response.
extension CookieJar {
    /// The value of the `Cookie` field for a request; nothing if there is no cookie for it.
    package func field(for url: HTTPURL, at now: UnixTime) -> String? {
        fieldBytes(for: url, at: now).map { String(cookieText: $0[...]) }
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

    /// The field's bytes, which need not be text; `isTaken` says which names must not come from the jar.
    package func fieldBytes(
        for url: HTTPURL,
        at now: UnixTime,
        unless isTaken: ((ArraySlice<UInt8>) -> Bool)? = nil
    ) -> [UInt8]? {
        let request = CookieRequest(url, at: now)
        var field: [UInt8] = []
        var count = 0
        table.withLock { table in
            table.visit(request) { cookie in
                if let isTaken, isTaken(cookie.nameBytes) { return true }
                let length = field.count + cookie.pair.count + (count == 0 ? 0 : 2)
                guard count < limits.perRequest, length <= limits.fieldLength else { return false }
                if count == 0 {
                    field.reserveCapacity(256)
                } else {
                    field.append(UInt8(ascii: ";"))
                    field.append(UInt8(ascii: " "))
                }
                field += cookie.pair
                count += 1
                return true
            }
        }
        return count == 0 ? nil : field
    }
}

extension CookieJar: CustomReflectable {
    /// The cookies, without their values.
    public var customMirror: Mirror { Mirror(self, children: ["cookies": cookies]) }
}
