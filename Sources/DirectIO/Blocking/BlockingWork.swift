package import DirectCore

/// A pool of threads for blocking calls (reading files, name lookups), so that they block neither an event loop nor
/// one of Swift's cooperative threads.
///
/// Calls start in order, at most `threadLimit` at a time. Threads are started on demand and end after an idle
/// period. A call that has started cannot be interrupted; a call that has not is removed from the queue when its
/// caller gives up.
package final class BlockingWork: Sendable {
    /// The pool for file access, with 8 threads.
    package static let shared = BlockingWork(threadLimit: 8)

    /// The reason why a caller stopped waiting. A call that has started runs to its end, and its result is dropped.
    package enum Abandoned: Error {
        /// The deadline has passed.
        case expired
        /// The task was cancelled.
        case cancelled
    }

    private typealias Job = @Sendable () -> Void
    private typealias Ticket = Waitlist<Job>.Ticket

    private struct Queue {
        var jobs = Waitlist<Job>()
        /// The number of running threads.
        var threads = 0
        /// The number of threads that wait for a job, including those that have been woken but have not yet run.
        var idle = 0
    }

    private let queue = Locked(Queue())
    private let arrival = Condition()
    private let threadLimit: Int
    private let idleTime: UInt64

    /// Creates a pool.
    ///
    /// - Parameter threadLimit: The maximum number of threads.
    /// - Parameter idleTime: The idle time, in nanoseconds, after which a thread ends. A file is read piece by
    ///   piece, and a thread for each piece would cost more than the reading.
    package init(threadLimit: Int, idleTime: UInt64 = 1_000_000_000) {
        self.threadLimit = threadLimit
        self.idleTime = idleTime
    }

    /// Runs a call on a thread of the pool and returns its result.
    ///
    /// A call that has not started when the wait ends is never made, and everything it captures is released
    /// immediately.
    ///
    /// - Parameter deadline: The deadline by the clock of `loop`.
    /// - Throws: ``Abandoned`` if the deadline passes or the task is cancelled first.
    package func run<Value: Sendable>(
        until deadline: Instant,
        on loop: EventLoop,
        _ call: @escaping @Sendable () -> Value
    ) async throws(Abandoned) -> Value {
        if Task.isCancelled { throw .cancelled }
        if deadline <= loop.now { throw .expired }
        let reply = Reply<Value>(on: loop)
        let ticket = add { reply.give(call()) }
        do throws(Abandoned) {
            return try await reply.value(until: deadline)
        } catch {
            withdraw(ticket)
            throw error
        }
    }

    /// Like ``run(until:on:_:)``, for a call that must be made even if its caller stops waiting, for example a
    /// removal or the last step of several.
    package func carryOut<Value: Sendable>(
        until deadline: Instant,
        on loop: EventLoop,
        _ call: @escaping @Sendable () -> Value
    ) async throws(Abandoned) -> Value {
        let reply = Reply<Value>(on: loop)
        submit { reply.give(call()) }
        return try await reply.value(until: deadline)
    }

    /// Runs a call without waiting for it.
    package func submit(_ job: @escaping @Sendable () -> Void) {
        _ = add(job)
    }

    /// The number of calls that wait for a thread.
    package var waiting: Int { queue.withLock { $0.jobs.count } }

    /// The number of running threads.
    package var threads: Int { queue.withLock { $0.threads } }

    private func withdraw(_ ticket: Ticket) {
        // Returned from the lock and released outside it, since releasing the captured values may run arbitrary
        // code.
        _ = queue.withLock { $0.jobs.remove(ticket) }
    }

    /// Queues a job, and starts a thread or wakes an idle one.
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
            pool.work(idleTime: pool.idleTime)
        }
        guard refused != nil else { return }
        // The system refused a thread. The caller is blocked instead, since otherwise the job might never run.
        Unmanaged<BlockingWork>.fromOpaque(context).takeRetainedValue().work(idleTime: 0)
    }

    /// Runs jobs until there has been none for `idleTime` nanoseconds. The thread then ends, since most programs
    /// block rarely.
    private func work(idleTime: UInt64) {
        while let job = nextJob(idleTime) { job() }
    }

    /// Returns the next job, or `nil` if the thread must end. In that case it is no longer counted.
    private func nextJob(_ idleTime: UInt64) -> Job? {
        var isIdle = false
        return queue.wait(at: arrival, nanoseconds: idleTime) { queue, isLast in
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

extension BlockingWork {
    /// Returns the result of a blocking call.
    ///
    /// Throws `CancellationError` if the task is cancelled first, and `Abandoned.expired` if `deadline` passes
    /// first.
    package func run<Value: Sendable>(
        until deadline: Instant = .never,
        on loop: EventLoop,
        _ call: @escaping @Sendable () throws(SystemError) -> Value
    ) async throws -> Value {
        let outcome: Result<Value, SystemError>
        do throws(BlockingWork.Abandoned) {
            outcome = try await run(until: deadline, on: loop) {
                do throws(SystemError) {
                    return .success(try call())
                } catch {
                    return .failure(error)
                }
            }
        } catch {
            guard error == .expired else { throw CancellationError() }
            throw error
        }
        return try outcome.get()
    }
}
