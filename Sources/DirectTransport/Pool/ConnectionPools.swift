internal import DirectCore
internal import DirectIO

/// The pools of all clients in the process, which share its file descriptors.
final class ConnectionPools: Sendable {
    static let shared = ConnectionPools()

    private struct Entry {
        let identifier: ObjectIdentifier
        weak var pool: ConnectionPool?
    }

    /// The pools in the order of their creation.
    private let entries = Locked<[Entry]>([])

    func add(_ pool: ConnectionPool) {
        entries.withLock { $0.append(Entry(identifier: ObjectIdentifier(pool), pool: pool)) }
    }

    func remove(_ identifier: ObjectIdentifier) {
        entries.withLock { entries in
            entries.firstIndex { $0.identifier == identifier }.map { _ = entries.remove(at: $0) }
        }
    }

    /// Closes the connection that has been idle for longest, whichever client it belongs to, that of the
    /// oldest client if several are equal. Returns false if none is idle.
    func closeLongestIdle() -> Bool {
        // The pools are retained until the lock has been released: dropping the last reference to a pool
        // takes the lock.
        let pools = entries.withLock { $0.compactMap(\.pool) }
        let oldest = pools.compactMap { pool in pool.longestIdleSince.map { (pool, $0) } }.min { $0.1 < $1.1 }
        return oldest?.0.closeLongestIdle() ?? false
    }
}
