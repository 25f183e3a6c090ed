internal import DirectCore

/// The calls of the system's resolver for both families or for one of them, with threads of their own: calls
/// for one family that hang keep no call for the other one waiting.
///
/// Callers that ask for the same name at the same time share one call. See ``LookupPlan``.
final class LookupCalls: Sendable {
    /// Gets the answer, and the time at which the call for it began.
    typealias Asker = @Sendable (SystemLookups.Answer, _ callStart: Instant) -> Void

    private let plan: Locked<LookupPlan<Asker>>
    private let threads: BlockingWork
    private let call: @Sendable (String) -> SystemLookups.Answer

    init(_ limits: LookupPlan<Asker>.Limits, _ call: @escaping @Sendable (String) -> SystemLookups.Answer) {
        plan = Locked(LookupPlan(limits))
        threads = BlockingWork(threadLimit: limits.threads)
        self.call = call
    }

    /// The number of waiting callers.
    var waiting: Int { plan.withLock { $0.askerCount } }

    /// The nanoseconds after which a call no longer counts as awaited.
    var patience: UInt64 { plan.withLock { $0.patience } }

    /// Adds a caller for a name. Its call begins with the next ``beginCalls()``.
    func ask(_ name: String, until end: Instant, asker: @escaping Asker) -> LookupPlan<Asker>.Ticket {
        plan.withLock { $0.ask(name, asker: asker, until: end, at: .now) }
    }

    /// Removes a caller.
    func leave(_ ticket: LookupPlan<Asker>.Ticket) {
        plan.withLock { $0.leave(ticket) }
        // A call that has lost its last caller makes room for another one.
        beginCalls()
    }

    /// Returns what has become of the name that a caller waits for; `nil` if the caller was answered.
    func progress(of ticket: LookupPlan<Asker>.Ticket) -> LookupPlan<Asker>.Progress? {
        plan.withLock { $0.progress(of: ticket) }
    }

    /// Keeps calls that were started before from answering later callers.
    func forgetAll() {
        plan.withLock { $0.forgetAll() }
    }

    /// Starts all calls that the plan allows.
    func beginCalls() {
        while let next = plan.withLock({ $0.nextCall(at: .now) }) {
            threads.submit {
                self.end(next, with: self.call(next.name))
                self.beginCalls()
            } orElse: { refusal in
                // The loop around this goes on with the next name.
                self.end(next, with: .failure(LookupError(refusal)))
            }
        }
    }

    private func end(_ call: LookupPlan<Asker>.Call, with answer: SystemLookups.Answer) {
        for asker in plan.withLock({ $0.end(call) }) { asker(answer, call.start) }
    }
}
