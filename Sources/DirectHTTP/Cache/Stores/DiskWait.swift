internal import DirectCore
internal import DirectIO

/// The time that a call waits for a cache's disk, which may block for any length of time.
package struct DiskWait: Sendable {
    /// The call's deadline, on the clock of `loop`.
    let end: Instant
    /// The call's time limit in nanoseconds. It is reported in the error, as is `name`.
    let total: UInt64
    let name: String?
    let loop: EventLoop

    /// No time limit.
    package static let unlimited = DiskWait(end: .never, total: .max, name: nil, loop: .shared)

    /// The wait for what stands in for a response: as long again if the call's time is over.
    var forStandIn: DiskWait {
        let now = loop.now
        guard end <= now else { return self }
        return DiskWait(end: now.advanced(byNanoseconds: total), total: total, name: name, loop: loop)
    }

    /// Runs blocking work. If the deadline passes or the task is cancelled, this stops waiting, and work that
    /// has not started is never started.
    func run<Answer: Sendable>(
        on work: BlockingWork,
        _ phase: HTTPError.Phase,
        job: @escaping @Sendable () -> Answer
    ) async throws -> Answer {
        switch try await outcome(on: work, phase, job: job) {
        case .success(let answer): return answer
        case .failure(let refusal): throw HTTPError(phase, .system(refusal), name: name)
        }
    }

    /// Like ``run(on:_:job:)``, and returns the system's error if it refuses a thread.
    func outcome<Answer: Sendable>(
        on work: BlockingWork,
        _ phase: HTTPError.Phase,
        job: @escaping @Sendable () -> Answer
    ) async throws -> Result<Answer, SystemError> {
        do throws(BlockingWork.Abandoned) {
            return .success(try await work.run(until: end, on: loop, job))
        } catch {
            switch error {
            case .cancelled: throw CancellationError()
            case .expired:
                throw HTTPError(phase, .timedOut(after: .nanoseconds(Int64(clamping: total))), name: name)
            case .refused(let refusal): return .failure(refusal)
            }
        }
    }

    /// Runs work that must be done even if the call ends before, and waits for it no longer than the call may
    /// take.
    func carryOut(on work: BlockingWork, _ job: @escaping @Sendable () -> Void) async {
        try? await work.carryOut(until: end, on: loop, job)
    }
}
