internal import DirectCore
public import DirectHTTP1
internal import DirectIO

/// Stores the cookies that servers set, and returns the cookies to send with a request (RFC 6265bis). Any
/// number of clients may share a jar.
///
/// A jar identifies hosts by the names in URLs, regardless of the address that a request was sent to. A
/// cookie without `Secure` is also sent over http. A server can set cookies only for its own name and the
/// names above it, and not for all names below a public suffix such as `co.uk` or `github.io`.
public final class CookieJar: CookieStore {
    /// Cookies accepted from one response.
    private static let perResponse = 50
    /// Cookies sent with one request.
    private static let perRequest = 150
    /// Bytes of the `Cookie` field of one request (CVE-2022-32205). Cookies that the caller writes into the
    /// field itself do not count.
    private static let fieldLength = 8190

    private let table: Locked<CookieTable>
    /// The name of the user whose cookies these are, for caches; see ``CookieStore/lastingName``.
    public let lastingName: String?
    let saves = StateSaves()

    /// Creates an empty jar.
    ///
    /// - Parameters:
    ///   - perSite: The limit on cookies of one site: a registrable domain and all names below it.
    ///   - total: The limit on cookies of all sites together.
    ///   - lastingName: The name of the user, if a cache in a folder is to find the user's responses in the
    ///     next run: each user of the folder needs another one.
    public init(perSite: Int = 180, total: Int = 10_000, lastingName: String? = nil) {
        self.lastingName = lastingName
        table = Locked(CookieTable(perSite: perSite, total: total))
    }

    /// All cookies that have not expired, the oldest first.
    public var cookies: [Cookie] {
        let now = UnixTime.now
        return table.withLock(\.cookies).filter { !$0.hasExpired(at: now) }
    }

    /// Returns the cookies to send with a request to this URL, in the order of the `Cookie` field and within
    /// the limits for one request.
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

    /// Adds a cookie, and replaces the one with the same name, host and path. A cookie that has already
    /// expired only removes the one that it replaces.
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
    /// - Parameter isUnwanted: The predicate. It must not use the jar: the jar's lock is held while it runs.
    public func removeAll(where isUnwanted: (Cookie) -> Bool) {
        table.withLock { $0.removeAll(where: isUnwanted) }
    }

    /// Ends the session: removes all cookies without an expiry date.
    public func endSession() {
        removeAll { $0.expiry == nil }
    }

    func store(_ cookies: [Cookie], at now: UnixTime) {
        // The sites are determined before the lock is taken, so that it is held for less time.
        let cookiesAndSites = cookies.map { ($0, $0.host.site) }
        table.withLock { table in
            for (cookie, site) in cookiesAndSites { table.store(cookie, in: site, at: now) }
        }
    }
}

/// The same operations as of a given time, and the field's value as bytes.
extension CookieJar {
    /// Returns the value of the `Cookie` field of a request; `nil` if there is no cookie for it. The value
    /// need not be valid UTF-8.
    package func fieldBytes(for url: HTTPURL, at now: UnixTime) -> [UInt8]? {
        let cookies = cookies(for: url, at: now)
        return cookies.isEmpty ? nil : cookies.fieldBytes
    }

    package func cookies(for url: HTTPURL, at now: UnixTime) -> [Cookie] {
        let request = CookieRequest(url, at: now)
        var cookies: [Cookie] = []
        var length = 0
        table.withLock { table in
            table.visit(request) { cookie in
                // Two for the "; " between cookies.
                length += cookie.pair.count + (cookies.isEmpty ? 0 : 2)
                guard cookies.count < Self.perRequest, length <= Self.fieldLength else { return false }
                cookies.append(cookie)
                return true
            }
        }
        return cookies
    }

    /// Stores the cookies that a response sets, as of the given time.
    package func take(_ headers: HTTPHeaders, from url: HTTPURL, at now: UnixTime) {
        guard var index = headers.index(of: "set-cookie") else { return }
        var accepted: [(cookie: Cookie, site: HTTPHost)] = []
        for _ in 0..<Self.perResponse {
            if let cookie = SetCookie(headers.valueBytes(at: index))?.cookie(from: url, at: now) {
                accepted.append((cookie, cookie.host.site))
            }
            guard let next = headers.index(of: "set-cookie", from: index + 1) else { break }
            index = next
        }
        guard !accepted.isEmpty else { return }
        table.withLock { table in
            for (cookie, site) in accepted {
                // An insecure response must not replace or shadow a `Secure` cookie (RFC 6265bis, section
                // 5.7).
                if url.scheme == .http, table.wouldOverlaySecureCookie(cookie, at: now) { continue }
                table.store(cookie, in: site, at: now)
            }
        }
    }
}

extension CookieJar: CustomReflectable {
    /// A mirror of the cookies, whose descriptions leave out the values.
    public var customMirror: Mirror { Mirror(self, children: ["cookies": cookies]) }
}
