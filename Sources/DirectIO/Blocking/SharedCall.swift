package import DirectCore

/// A blocking call whose result all get that ask for it while it runs.
///
/// A call that takes long may hang for good. So one who asks later begins another: after a second, then after
/// two, four and so on. What was mended is found after at most as long again, and what hangs for hours has a
/// dozen threads.
package final class SharedCall<Value: Sendable>: Sendable {
    private typealias Ending = Result<Value, SystemError>

    /// A call that has not ended. The lock guards it.
    private final class Run: @unchecked Sendable {
        let start: Instant
        var callers = Waitlist<Reply<Ending>>()

        init(start: Instant) { self.start = start }
    }

    /// In the order of their beginning.
    private let runs = Locked<[Run]>([])
    private let work: BlockingWork

    /// - Parameter work: The threads of the calls.
    package init(on work: BlockingWork) {
        self.work = work
    }

    /// Returns the result of the call that runs, or of this one.
    ///
    /// - Parameter deadline: The deadline by the clock of `loop`.
    /// - Parameter age: The nanoseconds from the beginning of a call for which it is waited for.
    package func value(
        until deadline: Instant,
        toAge age: UInt64 = .max,
        on loop: EventLoop,
        _ call: @escaping @Sendable () -> Value
    ) async throws(BlockingWork.Abandoned) -> Value {
        if Task.isCancelled { throw .cancelled }
        let now = loop.now
        if deadline <= now { throw .expired }
        let reply = Reply<Ending>(on: loop)
        let (run, ticket, isNew) = runs.withLock { runs in
            let latest = runs.last.flatMap { Self.isAwaited($0, among: runs.count, at: now) ? $0 : nil }
            let run = latest ?? Run(start: now)
            if latest == nil { runs.append(run) }
            return (run, run.callers.append(reply), latest == nil)
        }
        if isNew { begin(run, call) }
        let ending: Ending
        do throws(BlockingWork.Abandoned) {
            ending = try await reply.value(until: min(deadline, run.start.advanced(byNanoseconds: age)))
        } catch {
            _ = runs.withLock { _ in run.callers.remove(ticket) }
            throw error
        }
        switch ending {
        case .success(let value): return value
        case .failure(let refusal): throw .refused(refusal)
        }
    }

    /// Whether no other call need be begun beside the latest one.
    private static func isAwaited(_ latest: Run, among count: Int, at now: Instant) -> Bool {
        now < latest.start.advanced(byNanoseconds: 1_000_000_000 << UInt64(min(count, 30) - 1))
    }

    private func begin(_ run: Run, _ call: @escaping @Sendable () -> Value) {
        work.submit {
            self.end(run, .success(call()))
        } orElse: {
            self.end(run, .failure($0))
        }
    }

    /// Ends a call. Its result is also that of the calls before it, which hang.
    private func end(_ run: Run, _ ending: Ending) {
        let callers = runs.withLock { runs in
            guard let place = runs.firstIndex(where: { $0 === run }) else { return [Reply<Ending>]() }
            defer { runs.remove(at: place) }
            return runs[...place].flatMap { $0.callers.removeAll { _ in true } }
        }
        for caller in callers { caller.give(ending) }
    }
}
