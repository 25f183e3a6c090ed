internal import DirectCore
internal import DirectIO
internal import DirectTransport

/// The time that a call waits for a disk, which may block for any length of time: a cache's, or that of a
/// download.
package struct DiskWait: Sendable {
    /// The call's limits; the deadline is on the clock of `loop`.
    let limit: CallLimit
    /// The name that is reported in the error.
    let name: String?
    let loop: EventLoop
    /// The nanoseconds after which a step of the disk counts as failed.
    private let patience: UInt64

    init(within limit: CallLimit, name: String?, loop: EventLoop, patience: UInt64 = .max) {
        self.limit = limit
        self.name = name
        self.loop = loop
        self.patience = patience
    }

    /// The time that a cache's disk gets for a step: what it has is not worth more, and without it the call
    /// goes on.
    static let cachePatience: UInt64 = 10_000_000_000

    /// No time limit but that of the threads.
    static let unlimited = DiskWait(within: .none, name: nil, loop: .shared)

    /// The wait for what stands in for a response: as long again if the call's time is over.
    var forStandIn: DiskWait {
        let now = loop.now
        guard limit.end <= now else { return self }
        let more = CallLimit(limit.timeouts, until: now.advanced(byNanoseconds: limit.total))
        return DiskWait(within: more, name: name, loop: loop, patience: patience)
    }

    /// Runs blocking work. If the deadline passes or the task is cancelled, this stops waiting, and work that
    /// has not started is never started.
    func run<Answer: Sendable>(
        on work: BlockingWork,
        _ phase: HTTPError.Phase,
        job: @escaping @Sendable () throws(SystemError) -> Answer
    ) async throws -> Answer {
        switch try await outcome(on: work, phase, job: job) {
        case .success(let answer): return answer
        case .failure(let error): throw HTTPError(phase, .system(error), name: name)
        }
    }

    /// Like ``run(on:_:job:)``, and returns the system's error, also if it refuses a thread.
    func outcome<Answer: Sendable>(
        on work: BlockingWork,
        _ phase: HTTPError.Phase,
        job: @escaping @Sendable () throws(SystemError) -> Answer
    ) async throws -> Result<Answer, SystemError> {
        do {
            return .success(try await work.run(until: limit.end, atMost: patience, on: loop, job))
        } catch let error as SystemError {
            return .failure(error)
        } catch BlockingWork.Abandoned.expired {
            throw HTTPError(phase, HTTPError.Reason(limit.timeout), name: name)
        }
    }

    /// Runs work that must be done even if the call ends before, and waits for it no longer than the call may
    /// take. Returns `false` if it took longer.
    func carryOut(on work: BlockingWork, _ job: @escaping @Sendable () -> Void) async -> Bool {
        let end = loop.now.advanced(byNanoseconds: patience)
        do throws(BlockingWork.Abandoned) {
            try await work.carryOut(until: min(limit.end, end), on: loop, job)
            return true
        } catch {
            return error == .cancelled
        }
    }
}
