private import Foundation

/// Watches whether this process uses processor time.
final class Idleness: @unchecked Sendable {
    static let shared = Idleness()

    // The lock protects the other properties.
    private let lock = NSLock()
    private var watchers: [Int: UnsafeContinuation<Bool, Never>] = [:]
    private var watcherCount = 0
    private var childCount = 0
    private var idleSeconds = 0
    private var isWatching = false

    /// Waits until the process has been idle for half a minute and returns `true`, or `false` if the task is
    /// cancelled.
    func isLong() async -> Bool {
        let number = enter()
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                lock.withLock { watchers[number] = continuation }
                if Task.isCancelled { leave(number) }
            }
        } onCancel: {
            leave(number)
        }
    }

    /// Notes that a child process has started: until it ends, no second counts as idle.
    func childHasBegun() { lock.withLock { childCount += 1 } }
    /// Notes that a child process has ended.
    func childHasEnded() { lock.withLock { childCount -= 1 } }

    private func enter() -> Int {
        lock.withLock {
            if !isWatching { Thread.detachNewThread { self.watch() } }
            isWatching = true
            // Idle seconds before this test do not count for it.
            idleSeconds = 0
            watcherCount += 1
            return watcherCount
        }
    }

    private func leave(_ number: Int) {
        lock.withLock { watchers.removeValue(forKey: number) }?.resume(returning: false)
    }

    private func watch() {
        var before = processorTime()
        while true {
            Thread.sleep(forTimeInterval: 1)
            let now = processorTime()
            if now - before < Self.almostNothing { countIdleSecond() } else { forget() }
            before = now
        }
    }

    private func countIdleSecond() {
        let ended = lock.withLock {
            idleSeconds = childCount > 0 ? 0 : idleSeconds + 1
            guard idleSeconds >= Self.limit else { return [UnsafeContinuation<Bool, Never>]() }
            defer { watchers = [:] }
            return Array(watchers.values)
        }
        for watcher in ended { watcher.resume(returning: true) }
    }

    private func forget() { lock.withLock { idleSeconds = 0 } }

    private func processorTime() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// The limit in idle seconds.
    private static let limit = 30
    /// The most processor time of an idle second, in nanoseconds: timers and this watch need that much.
    private static let almostNothing: UInt64 = 5_000_000
}
