package import DirectCore

/// A pool of threads for blocking calls (reading files, name lookups), so that they block neither an event
/// loop nor one of Swift's cooperative threads.
///
/// Calls start in order, at most `threadLimit` at a time. Threads are started on demand and end after an idle
/// period. A call that has started cannot be interrupted; a call that has not is removed from the queue when
/// its caller gives up.
///
/// No call is ever made on the thread that asks for it. If the system refuses a thread (pthread_create(3),
/// EAGAIN), the calls wait for one that exists, or for the next one that can be started; without any, they
/// fail, except for those that must be made: these wait until there is one.
package final class BlockingWork: Sendable {
    /// The pool for file access, with 8 threads.
    package static let shared = BlockingWork(threadLimit: 8)

    /// The reason why a caller stopped waiting. A call that has started runs to its end, and its result is
    /// dropped.
    package enum Abandoned: Error, Equatable {
        /// The deadline has passed.
        case expired
        /// The task was cancelled.
        case cancelled
        /// The system refused to start a thread, and there is no other. The call was not made.
        case refused(SystemError)
    }

    private struct Job: Sendable {
        let make: @Sendable () -> Void
        /// Called instead if there is no thread; `nil` for a call that must be made.
        let refuse: (@Sendable (SystemError) -> Void)?
    }

    private typealias Ticket = Waitlist<Job>.Ticket

    private struct Queue {
        var jobs = Waitlist<Job>()
        /// The number of running threads.
        var threads = 0
        /// The number of threads that wait for a job, including those that have been woken but have not yet
        /// run.
        var idle = 0
        /// Whether a task will try again to start a thread.
        var willRetry = false
    }

    private let queue = Locked(Queue())
    private let arrival = Condition()
    private let threadLimit: Int
    private let idleTime: UInt64
    private let start: Starter

    /// Starts a thread that runs a function with a pointer; returns the error if the system refuses.
    typealias Starter =
        @Sendable (UnsafeMutableRawPointer, @escaping @convention(c) (UnsafeMutableRawPointer) -> Void)
        -> SystemError?

    /// Creates a pool.
    ///
    /// - Parameter threadLimit: The maximum number of threads.
    /// - Parameter idleTime: The idle time, in nanoseconds, after which a thread ends. A file is read piece
    ///   by piece, and a thread for each piece would cost more than the reading.
    package convenience init(threadLimit: Int, idleTime: UInt64 = 1_000_000_000) {
        self.init(threadLimit: threadLimit, idleTime: idleTime) { context, body in
            startDetachedThread(named: "direct-http io", context, body: body)
        }
    }

    init(threadLimit: Int, idleTime: UInt64 = 1_000_000_000, start: @escaping Starter) {
        self.threadLimit = threadLimit
        self.idleTime = idleTime
        self.start = start
    }

    /// Runs a call on a thread of the pool and returns its result.
    ///
    /// A call that has not started when the wait ends is never made, and everything it captures is released
    /// immediately.
    ///
    /// - Parameter deadline: The deadline by the clock of `loop`.
    /// - Throws: ``Abandoned`` if the deadline passes or the task is cancelled first, or if there is no
    ///   thread.
    package func run<Value: Sendable>(
        until deadline: Instant,
        on loop: EventLoop,
        _ call: @escaping @Sendable () -> Value
    ) async throws(Abandoned) -> Value {
        if Task.isCancelled { throw .cancelled }
        if deadline <= loop.now { throw .expired }
        let reply = Reply<Result<Value, SystemError>>(on: loop)
        let ticket = add(
            Job(make: { reply.give(.success(call())) }, refuse: { reply.give(.failure($0)) })
        )
        let outcome: Result<Value, SystemError>
        do throws(Abandoned) {
            outcome = try await reply.value(until: deadline)
        } catch {
            withdraw(ticket)
            throw error
        }
        switch outcome {
        case .success(let value): return value
        case .failure(let error): throw .refused(error)
        }
    }

    /// Like ``run(until:on:_:)``, for a call that must be made even if its caller stops waiting, for example
    /// a removal or the last step of several.
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
    ///
    /// - Parameter refuse: Called instead if there is no thread. If it is `nil`, the call waits until there
    ///   is one.
    package func submit(
        _ call: @escaping @Sendable () -> Void,
        orElse refuse: (@Sendable (SystemError) -> Void)? = nil
    ) {
        _ = add(Job(make: call, refuse: refuse))
    }

    /// The number of calls that wait for a thread.
    package var waiting: Int { queue.withLock { $0.jobs.count } }

    /// The number of running threads.
    package var threads: Int { queue.withLock { $0.threads } }

    private func withdraw(_ ticket: Ticket) {
        // Returned from the lock and released outside it, since releasing the captured values may run
        // arbitrary code.
        _ = queue.withLock { $0.jobs.remove(ticket) }
    }

    /// Queues a job, and starts a thread or wakes an idle one.
    private func add(_ job: Job) -> Ticket {
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
        let refused = start(context) { context in
            let pool = Unmanaged<BlockingWork>.fromOpaque(context).takeRetainedValue()
            pool.work(idleTime: pool.idleTime)
        }
        guard let refused else { return }
        Unmanaged<BlockingWork>.fromOpaque(context).release()
        noteRefusal(refused)
    }

    /// Leaves the jobs to the threads that exist. If there is none, refuses those that need not be done.
    /// Tries again later for the others: all threads may be in calls that take long, or even wait for a job
    /// in the queue.
    private func noteRefusal(_ error: SystemError) {
        let (refused, retries) = queue.withLock { queue -> ([Job], Bool) in
            queue.threads -= 1
            let refused = queue.threads > 0 ? [] : queue.jobs.removeAll { $0.refuse != nil }
            guard queue.jobs.count > queue.idle, !queue.willRetry else { return (refused, false) }
            queue.willRetry = true
            return (refused, true)
        }
        for job in refused { job.refuse?(error) }
        if retries { retryLater() }
    }

    private func retryLater() {
        let loop = EventLoop.shared
        Task(executorPreference: loop) {
            try? await loop.sleep(until: loop.now.advanced(byNanoseconds: Self.nanosecondsBetweenAttempts))
            let needsThread = self.queue.withLock { queue in
                queue.willRetry = false
                guard queue.jobs.count > queue.idle, queue.threads < self.threadLimit else { return false }
                queue.threads += 1
                return true
            }
            if needsThread { self.startThread() }
        }
    }

    private static let nanosecondsBetweenAttempts: UInt64 = 50_000_000

    /// Runs jobs until there has been none for `idleTime` nanoseconds. The thread then ends, since most
    /// programs block rarely.
    private func work(idleTime: UInt64) {
        while let job = nextJob(idleTime) { job.make() }
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
    /// Throws `CancellationError` if the task is cancelled first, `Abandoned.expired` if `deadline` passes
    /// first, and ``SystemError`` if there is no thread.
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
            switch error {
            case .expired: throw error
            case .cancelled: throw CancellationError()
            case .refused(let refusal): throw refusal
            }
        }
        return try outcome.get()
    }
}
