internal import DirectIO

/// A cookie in its jar, with its place in the order of events; an object, as it is looked at more often than changed.
final class KeptCookie {
    let cookie: Cookie
    /// When the first cookie of this name, host and path came; no two cookies have the same.
    let created: UInt64
    /// When it was stored or last sent.
    var used: UInt64

    init(cookie: Cookie, created: UInt64, used: UInt64) {
        self.cookie = cookie
        self.created = created
        self.used = used
    }

    /// Whether it is sent before the other (RFC 6265bis, section 5.8.3).
    func precedes(_ other: KeptCookie) -> Bool {
        let lengths = (cookie.pathBytes.count, other.cookie.pathBytes.count)
        return lengths.0 == lengths.1 ? created < other.created : lengths.0 > lengths.1
    }
}

/// The cookies of one name that can be registered and of the names below it, in the order they are sent.
final class CookieSite {
    var kept: [KeptCookie] = []

    func visit(_ request: CookieRequest, tick: UInt64, _ body: (Cookie) -> Bool) {
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

    /// Brings the site down to its limit.
    func makeRoom(_ limit: Int, at now: UnixTime) {
        kept.removeAll { $0.cookie.hasExpired(at: now) }
        while kept.count > limit, let victim = kept.indices.min(by: { goesBefore(kept[$0], kept[$1]) }) {
            kept.remove(at: victim)
        }
    }

    /// What the jar as a whole may take away, and how soon: the site's share goes last.
    func evictionOrder(share: Int) -> [(rank: Int, used: UInt64, created: UInt64)] {
        let sorted = kept.sorted(by: goesBefore)
        return sorted.enumerated().map { index, one in
            let isBeyondShare = index < sorted.count - share
            let rank = isBeyondShare ? (one.cookie.isSecure ? 1 : 0) : 2
            return (rank, one.used, one.created)
        }
    }

    private func goesBefore(_ one: KeptCookie, _ other: KeptCookie) -> Bool {
        let isSecure = (one.cookie.isSecure, other.cookie.isSecure)
        return isSecure.0 == isSecure.1 ? one.used < other.used : isSecure.1
    }
}

/// What decides which cookies go with a request.
struct CookieRequest {
    let host: Host
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
    /// Whether a cookie of this path goes to that one (RFC 6265bis, section 5.1.4). Bytes are compared as they
    /// are (CVE-2016-8615).
    func isPathPrefix(of path: ArraySlice<UInt8>) -> Bool {
        // Most cookies are for the root, and every path has its slash.
        if count == 1 { return path.first == self[0] }
        guard path.starts(with: self) else { return false }
        return path.count == count || last == UInt8(ascii: "/")
            || path[path.startIndex + count] == UInt8(ascii: "/")
    }
}

extension Host {
    /// The name that can be registered, with all below it; what has none is a site by itself.
    var site: Host {
        guard let registrable = name?.registrableDomain else { return self }
        return .name(registrable)
    }

    func isAtOrBelow(_ other: Host) -> Bool {
        if self == other { return true }
        guard let name, let otherName = other.name else { return false }
        return name.isSubdomain(of: otherName)
    }
}
