internal import CDirectOpenSSL
internal import DirectCore

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The connections that may share a session: those with the same identity and port under the same context.
///
/// The context determines trust, client identity, pins, versions and ALPN. The address is not part of the key: the
/// same name at another address may resume, another name never.
struct SessionKey: Hashable {
    let identity: ServerIdentity
    let port: UInt16
    let context: UInt64
}

/// Sessions of finished handshakes, kept for the next connection to the same server. Any thread may use it.
package final class SessionCache: Sendable {
    private let shelves: Locked<Shelves>

    /// Creates a cache that keeps at most this many sessions for one name and port, and in total.
    package init(perServer: Int = 4, total: Int = 512) {
        shelves = Locked(Shelves(limitPerKey: max(1, perServer), limit: max(1, total)))
    }

    deinit {
        removeAll()
    }

    /// The number of sessions that are kept.
    package var count: Int { shelves.withLock { $0.total } }

    /// Drops all sessions, for example after trust has changed.
    package func removeAll() { removeAll { _ in true } }

    /// Takes ownership of the caller's reference to the session, and keeps the pins of the keys in the chain that the
    /// session began with.
    func store(_ session: OpaquePointer, for key: SessionKey, keys: [KeyPin] = [], now: Int = time(nil)) {
        let expiry = sessionExpiry(session)
        guard expiry > now, SSL_SESSION_is_resumable(session) == 1 else { return SSL_SESSION_free(session) }
        let kept = KeptSession(pointer: session, expiry: expiry, isSingleUse: isTLS13(session), keys: keys)
        shelves.withLock { $0.add(kept, for: key) }
    }

    /// Returns the newest session that is still valid. The caller owns the reference.
    ///
    /// A TLS 1.3 ticket is removed from the cache: if it were used twice, an observer could link the connections (RFC
    /// 8446, appendix C.4). A session of an older version stays.
    func take(_ key: SessionKey, now: Int = time(nil)) -> (session: OpaquePointer, keys: [KeyPin])? {
        shelves.withLock { $0.take(key, now: now) }
    }

    /// Drops the sessions of these keys.
    func removeAll(where isUnwanted: (SessionKey) -> Bool) {
        shelves.withLock { $0.removeAll(where: isUnwanted) }
    }
}

/// The sessions by key, within the limits. Frees each session that it drops.
private struct Shelves {
    let limitPerKey: Int
    let limit: Int
    /// The number of sessions in all shelves.
    private(set) var total = 0
    private var shelves: [SessionKey: Shelf] = [:]
    /// Counts uses. The shelf that was used longest ago has the smallest stamp, and loses its sessions first.
    private var clock: UInt64 = 0

    init(limitPerKey: Int, limit: Int) {
        self.limitPerKey = limitPerKey
        self.limit = limit
    }

    mutating func add(_ session: KeptSession, for key: SessionKey) {
        clock += 1
        shelves[key, default: Shelf()].lastUse = clock
        shelves[key]?.sessions.append(session)
        total += 1
        if let count = shelves[key]?.sessions.count, count > limitPerKey { drop(at: 0, from: key) }
        while total > limit, let oldest = shelves.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            drop(at: 0, from: oldest.key)
        }
    }

    mutating func take(_ key: SessionKey, now: Int) -> (session: OpaquePointer, keys: [KeyPin])? {
        while let last = shelves[key]?.sessions.last {
            let isGood = last.expiry > now && SSL_SESSION_is_resumable(last.pointer) == 1
            if isGood { SSL_SESSION_up_ref(last.pointer) }
            if last.isSingleUse || !isGood {
                drop(at: (shelves[key]?.sessions.count ?? 1) - 1, from: key)
            } else {
                clock += 1
                shelves[key]?.lastUse = clock
            }
            if isGood { return (last.pointer, last.keys) }
        }
        return nil
    }

    mutating func removeAll(where isUnwanted: (SessionKey) -> Bool) {
        for key in shelves.keys.filter(isUnwanted) {
            while shelves[key] != nil { drop(at: 0, from: key) }
        }
    }

    private mutating func drop(at index: Int, from key: SessionKey) {
        guard let session = shelves[key]?.sessions.remove(at: index) else { return }
        SSL_SESSION_free(session.pointer)
        total -= 1
        if shelves[key]?.sessions.isEmpty == true { shelves[key] = nil }
    }
}

/// The sessions of one key, the oldest first.
private struct Shelf {
    var sessions: [KeptSession] = []
    var lastUse: UInt64 = 0
}

private struct KeptSession {
    /// Owned by the cache.
    let pointer: OpaquePointer
    /// Seconds since 1970.
    let expiry: Int
    let isSingleUse: Bool
    let keys: [KeyPin]
}

private func isTLS13(_ session: OpaquePointer) -> Bool {
    SSL_SESSION_get_protocol_version(session) >= TLS1_3_VERSION
}

/// Returns the time from which the session is no longer offered: after the server's lifetime hint if it gave one, and
/// never later than seven days (RFC 8446, section 4.6.1). In TLS 1.3 a hint of zero means immediately.
private func sessionExpiry(_ session: OpaquePointer) -> Int {
    let hint = Int(clamping: SSL_SESSION_get_ticket_lifetime_hint(session))
    let lifetime = isTLS13(session) || hint > 0 ? hint : Int(SSL_SESSION_get_timeout(session))
    return Int(SSL_SESSION_get_time(session)) + min(lifetime, 7 * 24 * 3600)
}
