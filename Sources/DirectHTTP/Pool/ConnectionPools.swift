internal import DirectIO

/// All pools of the process, as far as they have to share its descriptors.
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

    /// Closes the connection that has been idle for longest, whichever client it belongs to. False if there is none.
    func closeLongestIdle() -> Bool {
        // Held until the lock is let go of: what ends with the last reference to a pool may come for the lock.
        let pools = entries.withLock { $0.values.compactMap(\.pool) }
        let oldest = pools.compactMap { pool in pool.longestIdleSince.map { (pool, $0) } }.min { $0.1 < $1.1 }
        return oldest?.0.closeLongestIdle() ?? false
    }
}
