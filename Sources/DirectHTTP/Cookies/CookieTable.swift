internal import DirectIO

/// The cookies of a jar: no lock and no clock.
///
/// They lie in sites, one for each name that somebody can register: names below one share its limit, so
/// that a server with a thousand names cannot fill the jar. A request looks at the sites of its host and of
/// the names above it, which are at most a few.
struct CookieTable {
    let limits: CookieJar.Limits
    private var sites = HostTable<CookieSite>()
    private(set) var count = 0
    /// Counts cookies stored and looked up: the order of events, where the clock has only seconds.
    private var ticks: UInt64 = 0

    init(limits: CookieJar.Limits) {
        self.limits = limits
    }

    var isEmpty: Bool { count == 0 }

    /// Every cookie, the oldest first.
    var cookies: [Cookie] {
        sites.values.flatMap(\.kept).sorted { $0.created < $1.created }.map(\.cookie)
    }

    /// The cookies for a request, those with the longest path first, then the oldest (RFC 6265bis, section
    /// 5.8.3). Lends them to `body`, which says whether it wants more.
    mutating func visit(_ request: CookieRequest, _ body: (Cookie) -> Bool) {
        guard count > 0 else { return }
        ticks += 1
        var first: CookieSite?
        var others: [CookieSite] = []
        sites.visit(atOrAbove: request.host) { site in
            guard site.kept.contains(where: { request.wants($0.cookie) }) else { return }
            if first == nil { first = site } else { others.append(site) }
        }
        guard let first else { return }
        if others.isEmpty { return first.visit(request, tick: ticks, body) }
        // A name that can be registered below another such name: rare, and then they have to be mixed.
        let mixed = CookieSite()
        for site in [first] + others { site.visit(request, tick: ticks) { _ in true } }
        mixed.kept = ([first] + others).flatMap(\.kept).sorted { $0.precedes($1) }
        mixed.visit(request, tick: ticks, body)
    }

    /// Stores a cookie, or removes the one that it replaces if it has expired already.
    mutating func store(_ cookie: Cookie, in siteHost: Host, at now: UnixTime) {
        let hasExpired = cookie.hasExpired(at: now)
        guard let site = sites[siteHost] ?? (hasExpired ? nil : CookieSite()) else { return }
        count -= site.kept.count
        ticks += 1
        let replaced = site.remove { $0.replaces(cookie) }
        if !hasExpired {
            site.insert(KeptCookie(cookie: cookie, created: replaced?.created ?? ticks, used: ticks))
            if site.kept.count > limits.perSite { site.makeRoom(limits.perSite, at: now) }
        }
        count += site.kept.count
        sites[siteHost] = site.kept.isEmpty ? nil : site
        if count > limits.total { makeRoom(at: now) }
    }

    /// Whether a cookie that came over http would be taken for one that only goes over https (RFC 6265bis,
    /// section 5.7). Cookies of other sites never go to the same host.
    func wouldOverlaySecureCookie(_ cookie: Cookie, in siteHost: Host) -> Bool {
        guard let site = sites[siteHost] else { return false }
        return site.kept.contains { kept in
            let other = kept.cookie
            return other.isSecure && other.nameBytes == cookie.nameBytes
                && (other.host.isAtOrBelow(cookie.host) || cookie.host.isAtOrBelow(other.host))
                && other.pathBytes.isPathPrefix(of: cookie.pathBytes[...])
        }
    }

    mutating func removeAll(where isUnwanted: (Cookie) -> Bool) {
        removeAllKept { isUnwanted($0.cookie) }
    }

    /// Brings the whole down below its limit, by so much that it need not be done each time: what has expired,
    /// then what was not used for longest, from sites that have many before others, and over http before https.
    private mutating func makeRoom(at now: UnixTime) {
        removeAll { $0.hasExpired(at: now) }
        let excess = count - (limits.total - limits.total / 20)
        guard excess > 0, count > limits.total else { return }
        var candidates = sites.values.flatMap { $0.evictionOrder(share: CookieJar.Limits.fairShare) }
        candidates.sort { ($0.rank, $0.used) < ($1.rank, $1.used) }
        let victims = Set(candidates.prefix(excess).map(\.created))
        removeAllKept { victims.contains($0.created) }
    }

    private mutating func removeAllKept(where isUnwanted: (KeptCookie) -> Bool) {
        var removed = 0
        sites.removeAll { site in
            removed += site.kept.count
            site.kept.removeAll(where: isUnwanted)
            removed -= site.kept.count
            return site.kept.isEmpty
        }
        count -= removed
    }
}
