package import DirectCore

/// The blocking calls of one user of a pool: at most `width` of them run at a time, so that calls which hang
/// do not take the threads of the pool's other users. The others wait in order.
///
/// If the pool has no thread for them, they fail as calls of the pool do.
package final class BlockingLane: Sendable {
    /// A call, or its refusal for want of a thread.
    private typealias Job = @Sendable (SystemError?) -> Void

    private struct State {
        var jobs = Waitlist<Job>()
        /// The number of threads that run jobs of this lane, or are about to.
        var runners = 0
    }

    private let state = Locked(State())
    private let pool: BlockingWork
    private let width: Int

    package init(on pool: BlockingWork, width: Int) {
        self.pool = pool
        self.width = width
    }

    /// Runs a call on a thread of the pool and returns its result. A call that has not started when the wait
    /// ends is never made.
    package func run<Value: Sendable>(
        until deadline: Instant,
        on loop: EventLoop,
        _ call: @escaping @Sendable () -> Value
    ) async throws(BlockingWork.Abandoned) -> Value {
        if Task.isCancelled { throw .cancelled }
        if deadline <= loop.now { throw .expired }
        let reply = Reply<Result<Value, BlockingWork.Abandoned>>(on: loop)
        let ticket = add { refusal in
            reply.give(refusal.map { .failure(.refused($0)) } ?? .success(call()))
        }
        let outcome: Result<Value, BlockingWork.Abandoned>
        do throws(BlockingWork.Abandoned) {
            outcome = try await reply.value(until: deadline)
        } catch {
            // Released outside the lock, since releasing the captured values may run arbitrary code.
            _ = state.withLock { $0.jobs.remove(ticket) }
            throw error
        }
        return try outcome.get()
    }

    /// Queues a job, and asks the pool for a thread if the lane may have one more.
    private func add(_ job: @escaping Job) -> Waitlist<Job>.Ticket {
        let (ticket, needsRunner) = state.withLock { state in
            let ticket = state.jobs.append(job)
            guard state.runners < width else { return (ticket, false) }
            state.runners += 1
            return (ticket, true)
        }
        if needsRunner {
            pool.submit {
                self.runJobs()
            } orElse: {
                self.refuseJobs($0)
            }
        }
        return ticket
    }

    /// Ends a runner that has no thread. Its jobs are left to the other runners, if there are any.
    private func refuseJobs(_ refusal: SystemError) {
        let refused = state.withLock { state in
            state.runners -= 1
            return state.runners == 0 ? state.jobs.removeAll { _ in true } : []
        }
        for job in refused { job(refusal) }
    }

    /// Runs jobs until there is none. The last look and the end of the runner are one step, so no job is left
    /// behind.
    private func runJobs() {
        while let job = state.withLock({ state -> Job? in
            let job = state.jobs.popFirst()
            if job == nil { state.runners -= 1 }
            return job
        }) { job(nil) }
    }
}
