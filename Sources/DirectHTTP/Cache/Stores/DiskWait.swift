internal import DirectIO

/// How long a call waits for the disk of a cache, which may stand still for any time.
package struct DiskWait: Sendable {
    /// When the call is over, on the clock of the loop.
    let end: Instant
    /// How long the call was to take, in nanoseconds, and the name that it is for: what its error says.
    let total: UInt64
    let name: String?
    let loop: EventLoop

    /// For whom no time is set.
    package static let unlimited = DiskWait(end: .never, total: .max, name: nil, loop: .shared)

    /// Runs what blocks. Once the call is over or cancelled nobody waits for it; it may then never be started.
    func run<Answer: Sendable>(
        on work: BlockingWork,
        _ phase: HTTPError.Phase,
        _ job: @escaping @Sendable () -> Answer
    ) async throws -> Answer {
        do throws(BlockingWork.Abandoned) {
            return try await work.run(until: end, on: loop, job)
        } catch {
            guard error == .expired else { throw CancellationError() }
            throw HTTPError(phase, .timedOut(after: .nanoseconds(Int64(clamping: total))), name: name)
        }
    }

    /// Runs what has to be done whatever becomes of the call, and waits for it as long as the call does.
    func carryOut(on work: BlockingWork, _ job: @escaping @Sendable () -> Void) async {
        try? await work.carryOut(until: end, on: loop, job)
    }
}
