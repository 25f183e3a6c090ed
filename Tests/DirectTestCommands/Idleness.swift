private import Foundation

/// Watches whether this process and its children use processor time.
final class Idleness: @unchecked Sendable {
    static let shared = Idleness()

    // The lock protects the other properties.
    private let lock = NSLock()
    private var watchers: [Int: UnsafeContinuation<Bool, Never>] = [:]
    private var watcherCount = 0
    private var childCount = 0
    private var idleSeconds = 0
    /// Tests that have been cancelled for standing still, and have not ended.
    private var standingCount = 0
    private var isWatching = false

    /// Waits until the process has been idle for half a minute, or for longer while it has children, and
    /// returns `true`, or `false` if the task is cancelled.
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

    /// Notes that a test has ended that was cancelled for standing still.
    func endedLate() { lock.withLock { standingCount -= 1 } }

    /// Notes that a child process has started. Until its end has been noticed the limit is higher: it may wait
    /// for something that takes no time of the processor.
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
            // Less than before, if a child has ended.
            if now < before + Self.almostNothing { countIdleSecond() } else { forget() }
            before = now
        }
    }

    private func countIdleSecond() {
        let (ended, standing) = lock.withLock { () -> ([UnsafeContinuation<Bool, Never>], Int) in
            idleSeconds += 1
            let limit = childCount > 0 ? Self.limitWithChildren : Self.limit
            guard idleSeconds >= limit else { return ([], 0) }
            defer {
                standingCount += watchers.count
                (idleSeconds, watchers) = (0, [:])
            }
            return (Array(watchers.values), standingCount)
        }
        if ended.isEmpty, standing > 0 { Self.endProcess(standing) }
        for watcher in ended { watcher.resume(returning: true) }
    }

    /// Other threads may be anywhere, so nothing of the process runs any more.
    private static func endProcess(_ standing: Int) -> Never {
        let words = "error: the run ends: tests that stand still although they are cancelled: \(standing)\n"
        FileHandle.standardError.write(Data(words.utf8))
        fflush(nil)
        _exit(1)
    }

    private func forget() { lock.withLock { idleSeconds = 0 } }

    /// What this process and its descendants have used, in nanoseconds.
    private func processorTime() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        let own = UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        return own + (lock.withLock { childCount } > 0 ? descendantsTime() : 0)
    }

    /// From the table of processes, where the system shows it as files (proc(5): the parent is field 4, the
    /// times are 14 and 15).
    private func descendantsTime() -> UInt64 {
        var parents: [Int: Int] = [:]
        var times: [Int: UInt64] = [:]
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
            guard let process = Int(name),
                let text = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8)
            else { continue }
            // The name of the program is in parentheses and may have blanks.
            let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
            guard fields.count > 12, let parent = Int(fields[1]), let user = UInt64(fields[11]),
                let system = UInt64(fields[12])
            else { continue }
            parents[process] = parent
            times[process] = (user + system) * 10_000_000
        }
        return times.reduce(0) { sum, entry in
            var process = entry.key
            while let parent = parents[process], parent != getpid() { process = parent }
            return parents[process] == nil ? sum : sum + entry.value
        }
    }

    /// The limits in idle seconds.
    private static let limit = 30
    private static let limitWithChildren = 90
    /// The most processor time of an idle second, in nanoseconds: timers and this watch need that much.
    private static let almostNothing: UInt64 = 20_000_000
}
