internal import DirectCore
internal import DirectIO

/// The cookies of a jar, without lock or clock.
///
/// Cookies are grouped by site, that is by registrable domain. All names below one share its limit, so that a
/// server with a thousand names cannot fill the jar. A request looks at the sites of its host and of the
/// names above it, which are few.
struct CookieTable {
    /// When there are more than `total`, sites with more than this number of cookies lose their cookies first
    /// (RFC 6265bis, section 5.7).
    private static let fairShare = 50

    let perSite, total: Int
    private var sites = NameTable<CookieSite>()
    private(set) var count = 0
    /// Counts cookies stored and look-ups: the order of events, since the clock has a resolution of a second
    /// only.
    private var ticks: UInt64 = 0

    init(perSite: Int, total: Int) {
        self.perSite = perSite
        self.total = total
    }

    /// All cookies, the oldest first.
    var cookies: [Cookie] {
        sites.values.flatMap(\.kept).sorted { $0.created < $1.created }.map(\.cookie)
    }

    /// Passes the cookies for a request to `body`, until `body` returns `false`.
    ///
    /// Cookies with the longest path come first, then the oldest (RFC 6265bis, section 5.8.3).
    mutating func visit(_ request: CookieRequest, body: (Cookie) -> Bool) {
        guard count > 0 else { return }
        ticks += 1
        var first: CookieSite?
        var others: [CookieSite] = []
        sites.visit(atOrAbove: request.host) { site in
            guard site.kept.contains(where: { request.wants($0.cookie) }) else { return }
            if first == nil { first = site } else { others.append(site) }
        }
        guard let first else { return }
        if others.isEmpty { return first.visit(request, tick: ticks, body: body) }
        // A registrable domain below another registrable domain: rare. Then the cookies of both have to be
        // merged.
        let mixed = CookieSite()
        for site in [first] + others { site.visit(request, tick: ticks) { _ in true } }
        mixed.kept = ([first] + others).flatMap(\.kept).sorted { $0.precedes($1) }
        mixed.visit(request, tick: ticks, body: body)
    }

    /// Stores a cookie. One that has already expired only removes the cookie that it replaces.
    mutating func store(_ cookie: Cookie, in siteHost: HTTPHost, at now: UnixTime) {
        let hasExpired = cookie.hasExpired(at: now)
        guard let site = sites[siteHost] ?? (hasExpired ? nil : CookieSite()) else { return }
        count -= site.kept.count
        ticks += 1
        let replaced = site.remove { $0.replaces(cookie) }
        if !hasExpired {
            site.insert(KeptCookie(cookie: cookie, created: replaced?.created ?? ticks, used: ticks))
            if site.kept.count > perSite { site.makeRoom(perSite, at: now) }
        }
        count += site.kept.count
        sites[siteHost] = site.kept.isEmpty ? nil : site
        if count > total { makeRoom(at: now) }
    }

    /// Whether a cookie set over http could be mistaken for a stored `Secure` cookie (RFC 6265bis, section
    /// 5.7).
    ///
    /// It is not enough to look at the cookie's own site: a registrable domain may lie below another one.
    func wouldOverlaySecureCookie(_ cookie: Cookie, at now: UnixTime) -> Bool {
        sites.values.contains { site in
            site.kept.contains { kept in
                let other = kept.cookie
                return other.isSecure && other.nameBytes == cookie.nameBytes
                    && (other.host.isAtOrBelow(cookie.host) || cookie.host.isAtOrBelow(other.host))
                    && other.pathBytes.isPathPrefix(of: cookie.pathBytes[...]) && !other.hasExpired(at: now)
            }
        }
    }

    mutating func removeAll(where isUnwanted: (Cookie) -> Bool) {
        removeAllKept { isUnwanted($0.cookie) }
    }

    /// Brings the jar 5 % below its limit, so that this need not be done for every new cookie.
    ///
    /// Expired cookies go first, then the least recently used: those of sites with more than their fair share
    /// before others, and among those, cookies that are not `Secure` before `Secure` ones.
    private mutating func makeRoom(at now: UnixTime) {
        removeAll { $0.hasExpired(at: now) }
        let excess = count - (total - total / 20)
        guard excess > 0, count > total else { return }
        var candidates = sites.values.flatMap { $0.evictionOrder(share: Self.fairShare) }
        candidates.sort { ($0.rank, $0.used) < ($1.rank, $1.used) }
        let victims = Set(candidates.prefix(excess).map(\.created))
        removeAllKept { victims.contains($0.created) }
    }

    private mutating func removeAllKept(where isUnwanted: (KeptCookie) -> Bool) {
        var removed = 0
        sites.keep { site in
            removed += site.kept.count
            site.kept.removeAll(where: isUnwanted)
            removed -= site.kept.count
            return !site.kept.isEmpty
        }
        count -= removed
    }
}
