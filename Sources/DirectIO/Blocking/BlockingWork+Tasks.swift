package import DirectCore

extension BlockingWork: TaskExecutor {
    /// Runs the next step of a task on a thread of the pool: the executor of tasks whose code may block.
    ///
    /// A step cannot fail, and the call that waits for it may have no time limit. So where the system refuses
    /// all threads, Swift's own run it. While all threads there may be hang it waits: as it may block, too,
    /// it would take Swift's threads from the whole program.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        withStrongReference {
            _ = add(
                Job(
                    make: { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) },
                    refuse: { _ in globalConcurrentExecutor.enqueue(job) },
                    isPatient: true
                )
            )
        }
    }
}

extension TaskExecutor {
    /// Keeps the executor until `handOver` has given a job to another thread.
    ///
    /// The task of the job may be all that holds the executor. It may run to its end on the other thread, and
    /// release the executor, before that thread has been woken or `handOver` returns.
    package func withStrongReference(_ handOver: () -> Void) {
        let executor = Unmanaged.passRetained(self)
        handOver()
        executor.release()
    }
}

extension BlockingWork {
    /// Returns the result of a blocking call.
    ///
    /// Throws `CancellationError` if the task is cancelled first, `Abandoned.expired` if `deadline` passes
    /// first, and ``SystemError`` if there is no thread.
    package func run<Value: Sendable>(
        until deadline: Instant = .never,
        atMost: UInt64 = .max,
        on loop: EventLoop,
        _ call: @escaping @Sendable () throws(SystemError) -> Value
    ) async throws -> Value {
        let outcome: Result<Value, SystemError>
        do throws(BlockingWork.Abandoned) {
            outcome = try await run(until: deadline, atMost: atMost, on: loop) {
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
