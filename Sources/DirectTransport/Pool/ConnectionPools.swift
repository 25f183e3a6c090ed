internal import DirectCore
internal import DirectIO

/// The pools of all clients in the process, which share its file descriptors.
final class ConnectionPools: Sendable {
    static let shared = ConnectionPools()

    private struct Entry {
        weak var pool: ConnectionPool?
    }

    private let entries = Locked<[ObjectIdentifier: Entry]>([:])

    func add(_ pool: ConnectionPool) {
        entries.withLock { $0[ObjectIdentifier(pool)] = Entry(pool: pool) }
    }

    func remove(_ identifier: ObjectIdentifier) {
        _ = entries.withLock { $0.removeValue(forKey: identifier) }
    }

    /// Closes the connection that has been idle for longest, whichever client it belongs to. Returns false if none
    /// is idle.
    func closeLongestIdle() -> Bool {
        // The pools are retained until the lock has been released: dropping the last reference to a pool takes the
        // lock.
        let pools = entries.withLock { $0.values.compactMap(\.pool) }
        let oldest = pools.compactMap { pool in pool.longestIdleSince.map { (pool, $0) } }.min { $0.1 < $1.1 }
        return oldest?.0.closeLongestIdle() ?? false
    }
}
