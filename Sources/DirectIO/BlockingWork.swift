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

    private struct Queue {
        var jobs: [@Sendable () -> Void] = []
        var next = 0
        var threads = 0
    }

    private let queue = Locked(Queue())
    private let threadLimit: Int

    package init(threadLimit: Int) {
        self.threadLimit = threadLimit
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
            guard queue.threads < threadLimit else { return false }
            queue.threads += 1
            return true
        }
        guard needsThread else { return }
        let context = Unmanaged.passRetained(self).toOpaque()
        let refused = startDetachedThread(named: "direct-http io", context) { context in
            Unmanaged<BlockingWork>.fromOpaque(context).takeRetainedValue().drain()
        }
        guard refused != nil else { return }
        // No thread to be had. Blocking the caller is the lesser evil: nobody waits for ever.
        Unmanaged<BlockingWork>.fromOpaque(context).takeRetainedValue().drain()
    }

    /// Works until nothing is left; the thread then ends, for these calls are rare.
    private func drain() {
        while true {
            let job = queue.withLock { queue -> (@Sendable () -> Void)? in
                guard queue.next < queue.jobs.count else {
                    queue.jobs.removeAll()
                    queue.next = 0
                    queue.threads -= 1
                    return nil
                }
                defer { queue.next += 1 }
                return queue.jobs[queue.next]
            }
            guard let job else { return }
            job()
        }
    }
}
