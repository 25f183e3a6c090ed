package import DirectCore

/// Lookups by the system's resolver. All lookups of the process go through this type.
///
/// Callers that ask for the same name at the same time share one call, across all clients. A caller that gives up
/// is removed immediately. A call without callers is not started, and one that has started does not keep other
/// names from being looked up. See ``LookupPlan``.
package final class SystemLookups: Sendable {
    /// The addresses of a name, or the resolver's error.
    package typealias Answer = Result<[IPAddress], LookupError>

    /// The lookups of this process. There is one resolver in a process, so there is one of these.
    package static let shared = SystemLookups(lookUp)

    private let plan: Locked<LookupPlan<Reply<Answer>>>
    private let threads: BlockingWork
    private let call: @Sendable (String) -> Answer

    /// Creates lookups by a function that may block.
    package convenience init(_ call: @escaping @Sendable (String) -> Answer) {
        self.init(LookupPlan.Limits(), call)
    }

    init(_ limits: LookupPlan<Reply<Answer>>.Limits, _ call: @escaping @Sendable (String) -> Answer) {
        plan = Locked(LookupPlan(limits))
        threads = BlockingWork(threadLimit: limits.threads)
        self.call = call
    }

    /// Returns the addresses of a name.
    ///
    /// - Throws: ``BlockingWork/Abandoned`` if the deadline passes or the task is cancelled first.
    package func addresses(
        of name: String,
        until deadline: Instant,
        on loop: EventLoop
    ) async throws(BlockingWork.Abandoned) -> Answer {
        if Task.isCancelled { throw .cancelled }
        if deadline <= loop.now { throw .expired }
        let reply = Reply<Answer>(on: loop)
        // The plan uses the system's clock. A caller with another clock stays in it until its own wait ends.
        let end = loop.isHeld ? .never : deadline
        let ticket = plan.withLock { $0.ask(name, asker: reply, until: end, at: .now) }
        beginCalls()
        do throws(BlockingWork.Abandoned) {
            return try await reply.value(until: deadline)
        } catch {
            plan.withLock { $0.leave(ticket) }
            // A call that has lost its last caller makes room for another one.
            beginCalls()
            throw error
        }
    }

    /// Keeps calls that were started before from answering later callers. Call this when the network has changed.
    package func forgetAll() {
        plan.withLock { $0.forgetAll() }
    }

    /// The number of callers that wait for an answer.
    package var waiting: Int { plan.withLock { $0.askerCount } }

    /// Starts all calls that the plan allows.
    private func beginCalls() {
        while let next = plan.withLock({ $0.nextCall(at: .now) }) {
            threads.submit {
                let answer = self.call(next.name)
                for asker in self.plan.withLock({ $0.end(next) }) { asker.give(answer) }
                self.beginCalls()
            }
        }
    }
}
