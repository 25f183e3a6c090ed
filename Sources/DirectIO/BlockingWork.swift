/// Runs calls that block (name look-ups, reading files of certificates) on threads of their own, a few at
/// a time, so that no event loop and no thread of Swift's ever waits for them.
package final class BlockingWork: Sendable {
    package static let shared = BlockingWork(threadLimit: 8)
    /// For the system's resolver alone: names that hang, each for many seconds, hold up no files.
    package static let lookups = BlockingWork(threadLimit: 16)

    /// The caller no longer waits; the call itself runs to its end and its answer is dropped.
    package enum Abandoned: Error {
        case expired
        case cancelled
    }

    private typealias Job = @Sendable () -> Void

    private struct Queue {
        var jobs: [Job] = []
        var next = 0
        var threads = 0
        /// Those of them that wait, also when they have been woken and have not had their turn yet.
        var idle = 0

        var waiting: Int { jobs.count - next }

        mutating func take() -> Job? {
            guard waiting > 0 else { return nil }
            defer {
                next += 1
                if next == jobs.count {
                    jobs.removeAll(keepingCapacity: next < 64)
                    next = 0
                }
            }
            return jobs[next]
        }
    }

    private let queue = Locked(Queue())
    private let arrival = Condition()
    private let threadLimit: Int
    private let patience: UInt64

    /// Threads stay for `patience` nanoseconds: a file is read piece by piece, and a thread for each piece would cost
    /// more than the reading.
    package init(threadLimit: Int, patience: UInt64 = 1_000_000_000) {
        self.threadLimit = threadLimit
        self.patience = patience
    }

    /// The call's answer, unless the deadline or the cancellation of the task comes first.
    package func run<Answer: Sendable>(
        until deadline: Instant,
        on loop: EventLoop,
        _ call: @escaping @Sendable () -> Answer
    ) async throws(Abandoned) -> Answer {
        let answer = Locked<Answer?>(nil)
        let turn = LoopHandle(loop: loop)
        loop.add(turn)
        defer { loop.remove(turn) }
        submit {
            let value = call()
            answer.withLock { $0 = value }
            turn.input.signal()
        }
        while true {
            let wake = await turn.input.wait(until: deadline, on: loop)
            // Cleared before the look: an answer that comes after it signals again.
            turn.input.clear()
            // The answer counts even when it comes together with the deadline.
            if let value = answer.withLock({ $0 }) { return value }
            switch wake {
            case .ready: continue
            case .expired: throw .expired
            case .cancelled: throw .cancelled
            }
        }
    }

    /// Runs a call that nobody waits for.
    package func submit(_ job: @escaping @Sendable () -> Void) {
        let needsThread = queue.withLock { queue in
            queue.jobs.append(job)
            guard queue.waiting > queue.idle, queue.threads < threadLimit else { return false }
            queue.threads += 1
            return true
        }
        guard needsThread else { return arrival.signal() }
        let context = Unmanaged.passRetained(self).toOpaque()
        let refused = startDetachedThread(named: "direct-http io", context) { context in
            let pool = Unmanaged<BlockingWork>.fromOpaque(context).takeRetainedValue()
            pool.work(patience: pool.patience)
        }
        guard refused != nil else { return }
        // No thread to be had. Blocking the caller is the lesser evil: nobody waits for ever.
        Unmanaged<BlockingWork>.fromOpaque(context).takeRetainedValue().work(patience: 0)
    }

    /// Works until nothing has been left to do for a while. The thread then ends, for most programs block rarely.
    private func work(patience: UInt64) {
        while let job = nextJob(patience) { job() }
    }

    /// Nothing if the thread shall end; it is no longer counted then.
    private func nextJob(_ patience: UInt64) -> Job? {
        var isIdle = false
        return queue.wait(at: arrival, nanoseconds: patience) { queue, isLast in
            if isIdle { queue.idle -= 1 }
            if let job = queue.take() { return job }
            if isLast {
                queue.threads -= 1
            } else {
                queue.idle += 1
            }
            isIdle = !isLast
            return nil
        }
    }
}
