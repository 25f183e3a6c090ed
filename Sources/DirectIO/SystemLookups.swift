/// Asks the system's resolver, for everybody: the one way to it.
///
/// All who ask for one name at a time share one call, also those of several clients. Who no longer waits is forgotten
/// at once; a call for nobody is never begun, and one that has begun keeps no other name from being asked for.
package final class SystemLookups: Sendable {
    package typealias Answer = Result<[IPAddress], LookupError>

    /// A process has one resolver, so it has one of these.
    package static let shared = SystemLookups(lookUp)

    private let plan: Locked<LookupPlan<Reply<Answer>>>
    private let threads: BlockingWork
    private let call: @Sendable (String) -> Answer

    /// Look-ups by a function that may block.
    package convenience init(_ call: @escaping @Sendable (String) -> Answer) {
        self.init(LookupPlan.Limits(), call)
    }

    init(_ limits: LookupPlan<Reply<Answer>>.Limits, _ call: @escaping @Sendable (String) -> Answer) {
        plan = Locked(LookupPlan(limits))
        threads = BlockingWork(threadLimit: limits.threads)
        self.call = call
    }

    /// The addresses of a name, unless the deadline or the cancellation of the task comes first.
    package func addresses(
        of name: String,
        until deadline: Instant,
        on loop: EventLoop
    ) async throws(BlockingWork.Abandoned) -> Answer {
        if Task.isCancelled { throw .cancelled }
        if deadline <= loop.now { throw .expired }
        let reply = Reply<Answer>(on: loop)
        // The plan counts by the system's clock. Who counts by another one stays in it until its own wait ends.
        let end = loop.isHeld ? .never : deadline
        let ticket = plan.withLock { $0.ask(name, reply, until: end, at: .now) }
        beginCalls()
        do throws(BlockingWork.Abandoned) {
            return try await reply.value(until: deadline)
        } catch {
            plan.withLock { $0.leave(ticket) }
            // A call that nobody waits for makes room for another one.
            beginCalls()
            throw error
        }
    }

    /// In another network a call that was made in the old one answers nobody who asks from now on.
    package func forgetAll() {
        plan.withLock { $0.forgetAll() }
    }

    /// How many wait for an answer.
    package var waiting: Int { plan.withLock { $0.askerCount } }

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
