package import DirectCore

/// A pool of threads for blocking calls (reading files, code that may block), so that they block neither an
/// event loop nor one of Swift's cooperative threads.
///
/// Calls start in order, at most `threadLimit` at a time. Threads are started on demand and end after an idle
/// period. A call that has started cannot be interrupted; a call that has not is removed from the queue when
/// its caller gives up.
///
/// A call that no caller waits for any more, or that takes longer than the pool's `patience` while others
/// wait for a thread, keeps its thread but does not count as one of `threadLimit`: it may hang, and the
/// others must not wait for it. So a pool runs dry only when as many calls hang as it may have threads in all
/// (`most`), each for its patience or for a second. Then calls fail as without a thread, instead of waiting;
/// tasks wait.
///
/// No call is ever made on the thread that asks for it. If the system refuses a thread (pthread_create(3),
/// EAGAIN), the calls wait for one that exists, or for the next one that can be started; without any, they
/// fail, except for those that must be made: these wait until there is one.
package final class BlockingWork: Sendable {
    /// The pool for what blocks and belongs neither to a folder nor to a client.
    package static let shared = BlockingWork(
        threadLimit: 8,
        most: 256,
        patience: 1_000_000_000,
        longestWait: fiveMinutes
    )
    static let fiveMinutes: UInt64 = 300_000_000_000

    /// The threads for a program's functions that belong to no client.
    package static let code = forCode()

    /// Makes the executor of code that may block: calls that the library begins itself, and the functions of
    /// a program. Such code may wait for other code of its kind, so what comes next gets a thread soon.
    package static func forCode() -> BlockingWork {
        BlockingWork(threadLimit: 8, most: 4096, patience: 20_000_000)
    }

    /// The reason why a caller stopped waiting. A call that has started runs to its end, and its result is
    /// dropped.
    package enum Abandoned: Error, Equatable {
        /// The deadline has passed.
        case expired
        /// The task was cancelled.
        case cancelled
        /// The system refused to start a thread, and there is no other: the call was not made. Or there was
        /// no deadline, and the call took longer than any may.
        case refused(SystemError)
    }

    /// The consequences of a change of the queue, which are carried out outside its lock.
    private struct Consequences {
        /// The number of threads to start.
        var threads = 0
        /// The jobs that get no thread.
        var refused: [Job] = []
        /// When to look at the queue again, in nanoseconds from now.
        var look: UInt64?
    }

    /// The argument of a thread.
    private final class Beginning {
        let pool: BlockingWork
        let worker: Worker

        init(_ pool: BlockingWork, _ worker: Worker) {
            (self.pool, self.worker) = (pool, worker)
        }
    }

    private let queue = Locked(Queue())
    private let arrival = Condition()
    private let threadLimit: Int
    private let most: Int
    private let patience: UInt64
    private let longestWait: UInt64
    private let idleTime: UInt64
    private let start: Starter

    /// Starts a thread that runs a function with a pointer; returns the error if the system refuses.
    typealias Starter =
        @Sendable (UnsafeMutableRawPointer, @escaping @convention(c) (UnsafeMutableRawPointer) -> Void)
        -> SystemError?

    /// Creates a pool.
    ///
    /// - Parameter threadLimit: The maximum number of threads whose calls count.
    /// - Parameter most: The maximum number of threads in all; `nil` for `threadLimit`: no call ages.
    /// - Parameter patience: The nanoseconds for which a call counts while others wait.
    /// - Parameter longestWait: The nanoseconds after which ``run(until:on:_:)`` fails without a deadline.
    /// - Parameter idleTime: The idle time, in nanoseconds, after which a thread ends. A file is read piece
    ///   by piece, and a thread for each piece would cost more than the reading.
    package convenience init(
        threadLimit: Int,
        most: Int? = nil,
        patience: UInt64 = .max,
        longestWait: UInt64 = .max,
        idleTime: UInt64 = 1_000_000_000
    ) {
        self.init(
            threadLimit: threadLimit,
            most: most,
            patience: patience,
            longestWait: longestWait,
            idleTime: idleTime
        ) { startDetachedThread(named: "direct-http io", $0, body: $1) }
    }

    init(
        threadLimit: Int,
        most: Int? = nil,
        patience: UInt64 = .max,
        longestWait: UInt64 = .max,
        idleTime: UInt64 = 1_000_000_000,
        start: @escaping Starter
    ) {
        self.threadLimit = threadLimit
        self.most = most ?? threadLimit
        self.patience = patience
        self.longestWait = longestWait
        self.idleTime = idleTime
        self.start = start
    }

    /// Runs a call on a thread of the pool and returns its result.
    ///
    /// A call that has not started when the wait ends is never made, and everything it captures is released
    /// immediately.
    ///
    /// - Parameter deadline: The deadline by the clock of `loop`.
    /// - Parameter atMost: The nanoseconds after which the call counts as failed, if that is earlier.
    /// - Throws: ``Abandoned`` if the deadline passes or the task is cancelled first, or if there is no
    ///   thread, or no answer within `atMost` or the pool's `longestWait`.
    package func run<Value: Sendable>(
        until deadline: Instant,
        atMost: UInt64 = .max,
        on loop: EventLoop,
        _ call: @escaping @Sendable () -> Value
    ) async throws(Abandoned) -> Value {
        if Task.isCancelled { throw .cancelled }
        let now = loop.now
        if deadline <= now { throw .expired }
        let last = now.advanced(byNanoseconds: min(atMost, longestWait))
        let reply = Reply<Result<Value, SystemError>>(on: loop)
        let ticket = add(
            Job(make: { reply.give(.success(call())) }, refuse: { reply.give(.failure($0)) })
        )
        let outcome: Result<Value, SystemError>
        do throws(Abandoned) {
            outcome = try await reply.value(until: min(deadline, last))
        } catch {
            withdraw(ticket)
            throw error == .expired && last < deadline ? .refused(.silent) : error
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
        let last = loop.now.advanced(byNanoseconds: longestWait)
        let reply = Reply<Value>(on: loop)
        let ticket = add(Job(make: { reply.give(call()) }, refuse: nil))
        do throws(Abandoned) {
            return try await reply.value(until: min(deadline, last))
        } catch {
            perform(queue.withLock { abandon(ticket, in: &$0) })
            throw error
        }
    }

    /// Runs a call without waiting for it.
    ///
    /// - Parameter refuse: Called instead if there is no thread. If it is `nil`, the call waits until there
    ///   is one.
    package func submit(
        _ call: @escaping @Sendable () -> Void,
        orElse refuse: (@Sendable (SystemError) -> Void)? = nil
    ) {
        add(Job(make: call, refuse: refuse))
    }

    /// The number of calls that wait for a thread.
    package var waiting: Int { queue.withLock { $0.jobs.count } }

    /// The number of running threads.
    package var threads: Int { queue.withLock { $0.threads } }

    /// Removes a call that has not begun; one that has does not count any more.
    private func withdraw(_ ticket: Ticket) {
        // Returned from the lock and released outside it, since releasing the captured values may run
        // arbitrary code.
        let (job, consequences) = queue.withLock { queue -> (Job?, Consequences) in
            if let job = queue.jobs.remove(ticket) { return (job, Consequences()) }
            return (nil, abandon(ticket, in: &queue))
        }
        perform(consequences)
        _ = job
    }

    /// Stops counting a call that has begun.
    private func abandon(_ ticket: Ticket, in queue: inout Queue) -> Consequences {
        guard most > threadLimit, let worker = queue.workers.first(where: { $0.ticket == ticket }),
            !worker.isLate
        else { return Consequences() }
        worker.isLate = true
        queue.late += 1
        return serve(&queue)
    }

    /// Queues a job, and starts a thread or wakes an idle one.
    @discardableResult
    func add(_ job: Job) -> Ticket {
        let (ticket, consequences) = queue.withLock { queue -> (Ticket, Consequences) in
            let ticket = queue.jobs.append(job)
            return (ticket, serve(&queue))
        }
        if consequences.threads == 0 { arrival.signal() }
        perform(consequences)
        return ticket
    }

    /// Counts the threads that the waiting jobs need and may have. If they need more, calls that are late
    /// will be looked for; if all threads there may be hang, the jobs fail.
    private func serve(_ queue: inout Queue) -> Consequences {
        var consequences = Consequences()
        guard queue.unserved > 0 else { return consequences }
        let allowed = min(threadLimit - (queue.threads - queue.late), most - queue.threads)
        consequences.threads = max(0, min(queue.unserved, allowed))
        queue.threads += consequences.threads
        queue.starting += consequences.threads
        if queue.unserved > 0, patience < .max, queue.late < most {
            consequences.look = look(&queue, after: timeUntilLate(queue))
        }
        if queue.late == most {
            let youngest = queue.workers.filter(\.isLate).map(\.start).max() ?? .now
            let end = youngest.advanced(byNanoseconds: hangTime)
            if end <= .now {
                consequences.refused = queue.jobs.removeAll(where: \.isImpatient)
            } else {
                consequences.look = look(&queue, after: end.nanoseconds - min(.now, end).nanoseconds)
            }
        }
        return consequences
    }

    /// The nanoseconds after which a call without a waiting caller counts as hanging.
    private var hangTime: UInt64 { patience < .max ? patience : 1_000_000_000 }

    /// The time until the oldest call that counts is late.
    private func timeUntilLate(_ queue: Queue) -> UInt64 {
        let now = Instant.now
        let oldest = queue.workers.filter { $0.ticket != nil && !$0.isLate }.map(\.start).min() ?? now
        return max(oldest.advanced(byNanoseconds: patience), now).nanoseconds - now.nanoseconds
    }

    /// Plans another look at the queue, unless there is one.
    private func look(_ queue: inout Queue, after delay: UInt64) -> UInt64? {
        guard !queue.willLook else { return nil }
        queue.willLook = true
        return max(delay, Self.shortestLook)
    }

    private func perform(_ consequences: Consequences, refusal: SystemError = .noThread) {
        for job in consequences.refused { job.refuse?(refusal) }
        if let delay = consequences.look { lookLater(after: delay) }
        for _ in 0..<consequences.threads { startThread() }
    }

    /// Starts a thread that has been counted.
    private func startThread() {
        let worker = Worker()
        queue.withLock { $0.workers.append(worker) }
        let context = Unmanaged.passRetained(Beginning(self, worker)).toOpaque()
        let refused = start(context) { context in
            let beginning = Unmanaged<Beginning>.fromOpaque(context).takeRetainedValue()
            beginning.pool.work(beginning.worker)
        }
        guard let refused else { return }
        Unmanaged<Beginning>.fromOpaque(context).release()
        noteRefusal(refused, of: worker)
    }

    /// Leaves the jobs to the threads that exist. If there is none, refuses those that need not be done.
    /// Tries again later for the others: all threads may be in calls that take long, or even wait for a job
    /// in the queue.
    private func noteRefusal(_ error: SystemError, of worker: Worker) {
        let consequences = queue.withLock { queue -> Consequences in
            queue.free(worker)
            queue.end(worker)
            var consequences = Consequences()
            if queue.threads == 0 { consequences.refused = queue.jobs.removeAll { $0.refuse != nil } }
            if queue.unserved > 0 {
                consequences.look = look(&queue, after: Self.nanosecondsBetweenAttempts)
            }
            return consequences
        }
        perform(consequences, refusal: error)
    }

    /// Looks at the queue again after a while. A thread of the pool's own for that could be refused; the loop
    /// has one already.
    private func lookLater(after delay: UInt64) {
        let loop = EventLoop.shared
        Task(executorPreference: loop) {
            try? await loop.sleep(until: loop.now.advanced(byNanoseconds: delay))
            self.lookNow()
        }
    }

    private func lookNow() { perform(queue.withLock { look(at: &$0) }) }

    /// Stops counting the calls that are late while jobs wait, which get threads then.
    private func look(at queue: inout Queue) -> Consequences {
        queue.willLook = false
        guard queue.unserved > 0 else { return Consequences() }
        let now = Instant.now
        for worker in queue.workers where worker.ticket != nil && !worker.isLate && most > threadLimit {
            guard now >= worker.start.advanced(byNanoseconds: patience) else { continue }
            worker.isLate = true
            queue.late += 1
        }
        return serve(&queue)
    }

    private static let nanosecondsBetweenAttempts: UInt64 = 50_000_000
    private static let shortestLook: UInt64 = 1_000_000

    /// Runs jobs until there has been none for `idleTime` nanoseconds. The thread then ends, since most
    /// programs block rarely.
    private func work(_ worker: Worker) {
        while let job = nextJob(worker) { job.make() }
    }

    /// Returns the next job, or `nil` if the thread must end. In that case it is no longer counted.
    private func nextJob(_ worker: Worker) -> Job? {
        let found: Job?? = queue.wait(at: arrival, nanoseconds: idleTime) { queue, isLast in
            queue.free(worker)
            // Another thread has taken the place of one whose call was late.
            let isSurplus = queue.threads - queue.late > threadLimit
            if !isSurplus, let (ticket, job) = queue.jobs.popFirstWithTicket() {
                (worker.ticket, worker.start) = (ticket, most > threadLimit ? .now : .never)
                return .some(job)
            }
            if isSurplus || isLast {
                queue.end(worker)
                return .some(nil)
            }
            queue.rest(worker)
            return nil
        }
        return found ?? nil
    }
}

extension BlockingWork {
    struct Job: Sendable {
        let make: @Sendable () -> Void
        /// Called instead if there is no thread; `nil` for a call that must be made.
        let refuse: (@Sendable (SystemError) -> Void)?
        /// Whether it waits while all threads hang, and is refused only where the system starts none.
        var isPatient = false

        /// Whether it is refused because all threads hang.
        var isImpatient: Bool { refuse != nil && !isPatient }
    }

    typealias Ticket = Waitlist<Job>.Ticket

    struct Queue {
        var jobs = Waitlist<Job>()
        /// The number of running threads.
        var threads = 0
        /// The number of threads that wait for a job, including those that have been woken but have not yet
        /// run.
        var idle = 0
        /// The number of threads that have been counted and do not run yet.
        var starting = 0
        /// The threads, with the calls that they are in.
        var workers: [Worker] = []
        /// The number of threads whose calls do not count any more.
        var late = 0
        /// Whether a task will look for late calls, or try again to start a thread.
        var willLook = false

        /// The number of jobs for which there is no thread.
        var unserved: Int { jobs.count - idle - starting }

        /// Notes that a thread has begun, or ended its call or its wait for one.
        mutating func free(_ worker: Worker) {
            if worker.isStarting { starting -= 1 }
            if worker.isIdle { idle -= 1 }
            if worker.isLate { late -= 1 }
            (worker.ticket, worker.isLate, worker.isIdle, worker.isStarting) = (nil, false, false, false)
        }

        /// Notes that a thread waits for a call.
        mutating func rest(_ worker: Worker) {
            idle += 1
            worker.isIdle = true
        }

        /// Removes a thread.
        mutating func end(_ worker: Worker) {
            threads -= 1
            workers.removeAll { $0 === worker }
        }
    }

    /// A thread and its call. The lock of the queue guards it.
    final class Worker: @unchecked Sendable {
        /// The call; `nil` between two of them.
        var ticket: Ticket?
        var start = Instant.never
        var isLate = false
        var isIdle = false
        var isStarting = true
    }
}
