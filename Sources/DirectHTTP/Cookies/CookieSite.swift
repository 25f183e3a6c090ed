internal import DirectCore
internal import DirectIO

/// A cookie in a jar, with its creation and last use. A class, since it is read more often than it is
/// changed.
final class KeptCookie {
    let cookie: Cookie
    /// The tick at which the first cookie of this name, host and path was stored. Unique among the cookies of
    /// a jar.
    let created: UInt64
    /// The tick at which the cookie was stored or last sent.
    var used: UInt64

    init(cookie: Cookie, created: UInt64, used: UInt64) {
        self.cookie = cookie
        self.created = created
        self.used = used
    }

    /// Whether the cookie is sent before the other one (RFC 6265bis, section 5.8.3).
    func precedes(_ other: KeptCookie) -> Bool {
        let lengths = (cookie.pathBytes.count, other.cookie.pathBytes.count)
        return lengths.0 == lengths.1 ? created < other.created : lengths.0 > lengths.1
    }
}

/// The cookies of one registrable domain and of the names below it, in the order in which they are sent.
final class CookieSite {
    var kept: [KeptCookie] = []

    /// Passes the cookies for a request to `body` and marks them as used, until `body` returns `false`.
    func visit(_ request: CookieRequest, tick: UInt64, body: (Cookie) -> Bool) {
        for one in kept where request.wants(one.cookie) {
            one.used = tick
            guard body(one.cookie) else { return }
        }
    }

    func insert(_ new: KeptCookie) {
        let place = kept.firstIndex { new.precedes($0) } ?? kept.count
        kept.insert(new, at: place)
    }

    func remove(where isWanted: (Cookie) -> Bool) -> KeptCookie? {
        kept.firstIndex { isWanted($0.cookie) }.map { kept.remove(at: $0) }
    }

    /// Evicts cookies until the site is within its limit.
    func makeRoom(_ limit: Int, at now: UnixTime) {
        kept.removeAll { $0.cookie.hasExpired(at: now) }
        while kept.count > limit, let victim = kept.indices.min(by: { goesBefore(kept[$0], other: kept[$1]) })
        {
            kept.remove(at: victim)
        }
    }

    /// Returns the site's cookies for eviction from the jar, with their ranks: lower ranks go first, and the
    /// site's fair share goes last.
    func evictionOrder(share: Int) -> [(rank: Int, used: UInt64, created: UInt64)] {
        let sorted = kept.sorted(by: goesBefore)
        return sorted.enumerated().map { index, one in
            let isBeyondShare = index < sorted.count - share
            let rank = isBeyondShare ? (one.cookie.isSecure ? 1 : 0) : 2
            return (rank, one.used, one.created)
        }
    }

    /// Whether `one` is evicted before `other`: not `Secure` before `Secure`, then the least recently used.
    private func goesBefore(_ one: KeptCookie, other: KeptCookie) -> Bool {
        let isSecure = (one.cookie.isSecure, other.cookie.isSecure)
        return isSecure.0 == isSecure.1 ? one.used < other.used : isSecure.1
    }
}

/// The properties of a request that select its cookies.
struct CookieRequest {
    let host: HTTPHost
    let path: ArraySlice<UInt8>
    let isSecure: Bool
    let now: UnixTime

    init(_ url: HTTPURL, at now: UnixTime) {
        host = url.host
        path = url.targetBytes[..<url.pathLength]
        isSecure = url.scheme == .https
        self.now = now
    }

    func wants(_ cookie: Cookie) -> Bool {
        (isSecure || !cookie.isSecure) && cookie.pathBytes.isPathPrefix(of: path) && cookie.belongs(to: host)
            && !cookie.hasExpired(at: now)
    }
}

extension [UInt8] {
    /// Whether a cookie with this path is sent to the given path (RFC 6265bis, section 5.1.4). Bytes are
    /// compared exactly (CVE-2016-8615).
    func isPathPrefix(of path: ArraySlice<UInt8>) -> Bool {
        // Most cookies have the path `/`, and every request path begins with a slash.
        if count == 1 { return path.first == self[0] }
        guard path.starts(with: self) else { return false }
        return path.count == count || last == UInt8(ascii: "/")
            || path[path.startIndex + count] == UInt8(ascii: "/")
    }
}

extension HTTPHost {
    /// The registrable domain that the host belongs to. A host without one is a site of its own.
    var site: HTTPHost {
        guard let registrable = name?.registrableDomain else { return self }
        return .name(registrable)
    }

    func isAtOrBelow(_ other: HTTPHost) -> Bool {
        if self == other { return true }
        guard let name, let otherName = other.name else { return false }
        return name.isSubdomain(of: otherName)
    }
}
