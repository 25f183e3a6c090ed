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
/// The context determines trust, client identity, pins, versions and ALPN. The IP address is not part of the
/// key: a connection to the same name at another address may resume a session, one to another name never.
struct SessionKey: Hashable {
    let identity: ServerIdentity
    /// The server name that is sent; `nil` for none.
    let serverName: String?
    /// Whether the server name is encrypted. What was sent in clear text is not sent encrypted later, nor the
    /// other way around.
    var isEncrypted = false
    let port: UInt16
    let context: UInt64
}

/// TLS sessions that later connections to the same server may resume. Any thread may use it.
package final class SessionCache: Sendable {
    private let table: Locked<SessionTable>

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - perServer: The largest number of sessions for one name and port.
    ///   - total: The largest number of sessions.
    ///   - bytes: The largest number of bytes of certificates beyond those that sessions keep as a rule, all
    ///     together.
    package init(perServer: Int = 4, total: Int = 512, bytes: Int = 100 * 1024) {
        table = Locked(SessionTable(limitPerKey: max(1, perServer), limit: max(1, total), byteLimit: bytes))
    }

    /// The number of stored sessions.
    package var count: Int { table.withLock { $0.total } }

    /// Drops all sessions, for example after trust has changed.
    package func removeAll() { table.withLock { $0.removeAll() } }

    /// Drops the sessions of this key.
    func removeAll(for key: SessionKey) { table.withLock { $0.removeAll(for: key) } }

    /// Stores a session, unless it has ended.
    func store(_ session: SavedSession, for key: SessionKey, now: Int = time(nil)) {
        guard session.expiry > now else { return }
        table.withLock { $0.add(session, for: key) }
    }

    /// Returns the newest session for the key that is still valid.
    ///
    /// A TLS 1.3 ticket is removed from the cache: if it were used twice, an observer could link the
    /// connections (RFC 8446, appendix C.4). A session of an older version stays.
    func take(for key: SessionKey, now: Int = time(nil)) -> SavedSession? {
        table.withLock { $0.take(for: key, now: now) }
    }
}

/// The sessions by key, within the limits.
private struct SessionTable {
    let limitPerKey: Int
    let limit: Int
    let byteLimit: Int
    /// The number of sessions in all lists.
    private(set) var total = 0
    /// The sum of the sessions' excess.
    private var excess = 0
    private var lists: [SessionKey: SessionList] = [:]
    /// The number of uses so far, which orders the lists: the least recently used one loses its sessions
    /// first.
    private var useCount: UInt64 = 0

    init(limitPerKey: Int, limit: Int, byteLimit: Int) {
        self.limitPerKey = limitPerKey
        self.limit = limit
        self.byteLimit = byteLimit
    }

    mutating func add(_ session: SavedSession, for key: SessionKey) {
        useCount += 1
        lists[key, default: SessionList()].lastUse = useCount
        lists[key]?.sessions.append(session)
        total += 1
        excess += session.excess
        if let count = lists[key]?.sessions.count, count > limitPerKey { drop(at: 0, from: key) }
        while total > limit, let oldest = lists.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            drop(at: 0, from: oldest.key)
        }
        // Large sessions make room for each other, not ordinary ones for them.
        while excess > byteLimit, let largest = lists.max(by: { $0.value.excess < $1.value.excess }) {
            drop(at: 0, from: largest.key)
        }
    }

    mutating func take(for key: SessionKey, now: Int) -> SavedSession? {
        while let last = lists[key]?.sessions.last {
            let isUsable = last.expiry > now
            if last.isSingleUse || !isUsable {
                drop(at: (lists[key]?.sessions.count ?? 1) - 1, from: key)
            } else {
                useCount += 1
                lists[key]?.lastUse = useCount
            }
            if isUsable { return last }
        }
        return nil
    }

    mutating func removeAll(for key: SessionKey) {
        while lists[key] != nil { drop(at: 0, from: key) }
    }

    mutating func removeAll() {
        (lists, total, excess) = ([:], 0, 0)
    }

    private mutating func drop(at index: Int, from key: SessionKey) {
        guard let session = lists[key]?.sessions.remove(at: index) else { return }
        total -= 1
        excess -= session.excess
        if lists[key]?.sessions.isEmpty == true { lists[key] = nil }
    }
}

/// The sessions of one key, the oldest first.
private struct SessionList {
    var sessions: [SavedSession] = []
    /// The `useCount` of the last use.
    var lastUse: UInt64 = 0

    var excess: Int { sessions.reduce(0) { $0 + $1.excess } }
}
