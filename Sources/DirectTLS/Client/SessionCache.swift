internal import CDirectOpenSSL
internal import DirectCore

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Identifies the connections that may share a session: those with the same identity, server name, port and
/// context.
///
/// The context determines trust, client identity, pins, versions and ALPN. The IP address is not part of the key: a
/// connection to the same name at another address may resume a session, one to another name never.
struct SessionKey: Hashable {
    let identity: ServerIdentity
    /// The server name that is sent; `nil` for none.
    let serverName: String?
    let port: UInt16
    let context: UInt64
}

/// TLS sessions that later connections to the same server may resume. Any thread may use it.
package final class SessionCache: Sendable {
    private let table: Locked<SessionTable>

    /// Creates a cache that keeps at most this many sessions for one name and port, and in total.
    package init(perServer: Int = 4, total: Int = 512) {
        table = Locked(SessionTable(limitPerKey: max(1, perServer), limit: max(1, total)))
    }

    deinit {
        removeAll()
    }

    /// The number of stored sessions.
    package var count: Int { table.withLock { $0.total } }

    /// Drops all sessions, for example after trust has changed.
    package func removeAll() { removeAll { _ in true } }

    /// Stores a session, and takes ownership of the caller's reference to it.
    ///
    /// - Parameter proof: What the session's first handshake has proved. A resumed handshake sends no certificates, so
    ///   pins are checked against these. A session ends with the first of the certificates and with the statement of its
    ///   OCSP staple: a new handshake could pass where the resumed one fails, for example with a renewed certificate.
    func store(
        _ session: OpaquePointer,
        for key: SessionKey,
        proof: ServerProof = ServerProof(),
        now: Int = time(nil)
    ) {
        let expiry = min(sessionExpiry(session), proof.expiry)
        guard expiry > now, SSL_SESSION_is_resumable(session) == 1 else { return SSL_SESSION_free(session) }
        let cached = CachedSession(
            pointer: session,
            expiry: expiry,
            isSingleUse: isTLS13(session),
            proof: proof
        )
        table.withLock { $0.add(cached, for: key) }
    }

    /// Returns the newest session for the key that is still valid, with what it has proved. The caller owns the
    /// reference.
    ///
    /// A TLS 1.3 ticket is removed from the cache: if it were used twice, an observer could link the connections (RFC
    /// 8446, appendix C.4). A session of an older version stays.
    func take(for key: SessionKey, now: Int = time(nil)) -> (session: OpaquePointer, proof: ServerProof)? {
        table.withLock { $0.take(for: key, now: now) }
    }

    /// Drops the sessions of these keys.
    func removeAll(where isUnwanted: (SessionKey) -> Bool) {
        table.withLock { $0.removeAll(where: isUnwanted) }
    }
}

/// The sessions by key, within the limits. Frees each session that it drops.
private struct SessionTable {
    let limitPerKey: Int
    let limit: Int
    /// The number of sessions in all lists.
    private(set) var total = 0
    private var lists: [SessionKey: SessionList] = [:]
    /// The number of uses so far, which orders the lists: the least recently used one loses its sessions first.
    private var useCount: UInt64 = 0

    init(limitPerKey: Int, limit: Int) {
        self.limitPerKey = limitPerKey
        self.limit = limit
    }

    mutating func add(_ session: CachedSession, for key: SessionKey) {
        useCount += 1
        lists[key, default: SessionList()].lastUse = useCount
        lists[key]?.sessions.append(session)
        total += 1
        if let count = lists[key]?.sessions.count, count > limitPerKey { drop(at: 0, from: key) }
        while total > limit, let oldest = lists.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            drop(at: 0, from: oldest.key)
        }
    }

    mutating func take(for key: SessionKey, now: Int) -> (session: OpaquePointer, proof: ServerProof)? {
        while let last = lists[key]?.sessions.last {
            let isUsable = last.expiry > now && SSL_SESSION_is_resumable(last.pointer) == 1
            if isUsable { SSL_SESSION_up_ref(last.pointer) }
            if last.isSingleUse || !isUsable {
                drop(at: (lists[key]?.sessions.count ?? 1) - 1, from: key)
            } else {
                useCount += 1
                lists[key]?.lastUse = useCount
            }
            if isUsable { return (last.pointer, last.proof) }
        }
        return nil
    }

    mutating func removeAll(where isUnwanted: (SessionKey) -> Bool) {
        for key in lists.keys.filter(isUnwanted) {
            while lists[key] != nil { drop(at: 0, from: key) }
        }
    }

    private mutating func drop(at index: Int, from key: SessionKey) {
        guard let session = lists[key]?.sessions.remove(at: index) else { return }
        SSL_SESSION_free(session.pointer)
        total -= 1
        if lists[key]?.sessions.isEmpty == true { lists[key] = nil }
    }
}

/// The sessions of one key, the oldest first.
private struct SessionList {
    var sessions: [CachedSession] = []
    /// The `useCount` of the last use.
    var lastUse: UInt64 = 0
}

private struct CachedSession {
    /// Owned by the cache.
    let pointer: OpaquePointer
    /// Seconds since 1970.
    let expiry: Int
    /// Whether the session is removed when it is used.
    let isSingleUse: Bool
    let proof: ServerProof
}

private func isTLS13(_ session: OpaquePointer) -> Bool {
    SSL_SESSION_get_protocol_version(session) >= TLS1_3_VERSION
}

/// Returns the time from which the session is no longer offered: when the server's lifetime hint has passed, if it gave
/// one, and after seven days at the latest (RFC 8446, section 4.6.1). In TLS 1.3 a hint of zero means that the session
/// must not be used at all; in older versions it means that the server gave no hint (RFC 5077, section 3.3).
private func sessionExpiry(_ session: OpaquePointer) -> Int {
    let hint = Int(clamping: SSL_SESSION_get_ticket_lifetime_hint(session))
    let lifetime = isTLS13(session) || hint > 0 ? hint : Int(SSL_SESSION_get_timeout(session))
    return Int(SSL_SESSION_get_time(session)) + min(lifetime, 7 * 24 * 3600)
}
