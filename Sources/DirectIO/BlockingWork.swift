/// Runs calls that block (reading files, name look-ups) on threads of their own, a few at a time, so that no event
/// loop and no thread of Swift's ever waits for them.
package final class BlockingWork: Sendable {
    package static let shared = BlockingWork(threadLimit: 8)

    /// Why the caller waits no longer. A call that has begun runs to its end, and its answer is dropped.
    package enum Abandoned: Error {
        case expired
        case cancelled
    }

    private typealias Job = @Sendable () -> Void
    private typealias Ticket = Waitlist<Job>.Ticket

    private struct Queue {
        var jobs = Waitlist<Job>()
        var threads = 0
        /// Those of them that wait, also when they have been woken and have not had their turn yet.
        var idle = 0
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

    /// The call's answer, unless the deadline or the cancellation of the task comes first. A call that has not begun
    /// by then is never made, and what it holds is released at once.
    package func run<Answer: Sendable>(
        until deadline: Instant,
        on loop: EventLoop,
        _ call: @escaping @Sendable () -> Answer
    ) async throws(Abandoned) -> Answer {
        if Task.isCancelled { throw .cancelled }
        if deadline <= loop.now { throw .expired }
        let reply = Reply<Answer>(on: loop)
        let ticket = add { reply.give(call()) }
        do throws(Abandoned) {
            return try await reply.value(until: deadline)
        } catch {
            withdraw(ticket)
            throw error
        }
    }

    /// The answer of a call that has to be made although its caller may wait no longer: a removal, say, or the last
    /// step of many.
    package func carryOut<Answer: Sendable>(
        until deadline: Instant,
        on loop: EventLoop,
        _ call: @escaping @Sendable () -> Answer
    ) async throws(Abandoned) -> Answer {
        let reply = Reply<Answer>(on: loop)
        submit { reply.give(call()) }
        return try await reply.value(until: deadline)
    }

    /// Runs a call that nobody waits for.
    package func submit(_ job: @escaping @Sendable () -> Void) {
        _ = add(job)
    }

    /// How many calls wait for a thread.
    package var waiting: Int { queue.withLock { $0.jobs.count } }

    private func withdraw(_ ticket: Ticket) {
        // Handed out, to be released outside the lock: the end of what the job holds may run code of its own.
        _ = queue.withLock { $0.jobs.remove(ticket) }
    }

    private func add(_ job: @escaping Job) -> Ticket {
        let (ticket, needsThread) = queue.withLock { queue in
            let ticket = queue.jobs.append(job)
            guard queue.jobs.count > queue.idle, queue.threads < threadLimit else { return (ticket, false) }
            queue.threads += 1
            return (ticket, true)
        }
        if needsThread { startThread() } else { arrival.signal() }
        return ticket
    }

    private func startThread() {
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
            if let job = queue.jobs.popFirst() { return job }
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
