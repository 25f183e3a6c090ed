internal import DirectCore
internal import DirectIO

/// The pools of all clients in the process, which share its file descriptors.
final class ConnectionPools: Sendable {
    static let shared = ConnectionPools()

    private struct Entry {
        let number: Int
        weak var pool: ConnectionPool?
    }

    private struct Entries {
        var byPool: [ObjectIdentifier: Entry] = [:]
        /// The number of pools that have been added.
        var count = 0
    }

    private let entries = Locked(Entries())

    func add(_ pool: ConnectionPool) {
        entries.withLock { entries in
            entries.count += 1
            entries.byPool[ObjectIdentifier(pool)] = Entry(number: entries.count, pool: pool)
        }
    }

    func remove(_ identifier: ObjectIdentifier) {
        _ = entries.withLock { $0.byPool.removeValue(forKey: identifier) }
    }

    /// Closes the connection that has been idle for longest, whichever client it belongs to, that of the
    /// oldest client if several are equal. Returns false if none is idle.
    func closeLongestIdle() -> Bool {
        // The pools are retained until the lock has been released: dropping the last reference to a pool
        // takes the lock.
        let pools = entries.withLock { entries in
            entries.byPool.values.sorted { $0.number < $1.number }.compactMap(\.pool)
        }
        let oldest = pools.compactMap { pool in pool.longestIdleSince.map { (pool, $0) } }.min { $0.1 < $1.1 }
        return oldest?.0.closeLongestIdle() ?? false
    }
}
