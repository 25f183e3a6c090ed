package import DirectCore

/// Lookups by the system's resolver. All lookups of the process go through this type.
///
/// Callers that ask for the same name at the same time share one call, across all clients. A caller that gives up
/// is removed immediately. A call without callers is not started, and one that has started does not keep other
/// names from being looked up. Neither does one that takes longer than a second, as long as there are threads. See
/// ``LookupPlan``.
package final class SystemLookups: Sendable {
    /// The addresses of a name, or the resolver's error.
    package typealias Answer = Result<[IPAddress], LookupError>

    typealias Asker = Reply<Delivery>

    /// An answer, and the time at which the call for it began.
    struct Delivery: Sendable {
        let answer: Answer
        let callStart: Instant
    }

    /// The lookups of this process. There is one resolver in a process, so there is one of these.
    package static let shared = SystemLookups(lookUp)

    private let plan: Locked<LookupPlan<Asker>>
    private let threads: BlockingWork
    private let call: @Sendable (String) -> Answer

    /// Creates lookups by a function that may block.
    package convenience init(_ call: @escaping @Sendable (String) -> Answer) {
        self.init(LookupPlan.Limits(), call)
    }

    /// Creates lookups by the system's resolver for a program that looks up many names, some of which are never
    /// answered.
    ///
    /// - Parameters:
    ///   - awaited: The maximum number of calls that have waiting callers and are younger than half a second.
    ///   - threads: The maximum number of calls.
    package convenience init(awaited: Int, threads: Int) {
        // With few threads none can be reserved.
        let reserved = min(4, min(awaited, threads) / 4)
        self.init(
            .init(awaited: awaited, reserved: reserved, threads: threads, patience: 500_000_000),
            lookUp
        )
    }

    init(_ limits: LookupPlan<Asker>.Limits, _ call: @escaping @Sendable (String) -> Answer) {
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
        // The plan uses the system's clock. A caller with another clock stays in it until its own wait ends.
        let end = loop.isHeld ? .never : deadline
        return try await answer(to: name, end: end, on: loop) { _ in deadline }.answer
    }

    /// Returns the addresses of a name, and the time that the resolver took.
    ///
    /// The time before the call of the resolver begins does not count: however many names wait, each has the same
    /// time.
    ///
    /// - Parameter limit: The time limit of the call in nanoseconds.
    /// - Throws: ``BlockingWork/Abandoned`` if the time limit passes or the task is cancelled first.
    package func addresses(
        of name: String,
        allowing limit: UInt64,
        on loop: EventLoop
    ) async throws(BlockingWork.Abandoned) -> (answer: Answer, time: Duration) {
        if Task.isCancelled { throw .cancelled }
        let asked = loop.now
        let delivery = try await answer(to: name, end: .never, on: loop) { progress in
            // With another clock than the plan's, the start of the call is not known.
            guard !loop.isHeld else { return asked.advanced(byNanoseconds: limit) }
            guard case .called(let start) = progress else { return .never }
            return max(asked, start).advanced(byNanoseconds: limit)
        }
        let start = loop.isHeld ? asked : max(asked, delivery.callStart)
        return (delivery.answer, loop.now.since(start))
    }

    /// Waits for the answer until the deadline, which may depend on what has become of the name.
    private func answer(
        to name: String,
        end: Instant,
        on loop: EventLoop,
        deadline: (LookupPlan<Asker>.Progress?) -> Instant
    ) async throws(BlockingWork.Abandoned) -> Delivery {
        let reply = Asker(on: loop)
        let ticket = plan.withLock { $0.ask(name, asker: reply, until: end, at: .now) }
        do throws(BlockingWork.Abandoned) {
            return try await reply.value {
                // A call that has taken long by now makes room for another one.
                beginCalls()
                let (progress, patience) = plan.withLock { ($0.progress(of: ticket), $0.patience) }
                return Asker.Pause(
                    end: deadline(progress),
                    nextLook: nextLook(progress, patience: patience, on: loop)
                )
            }
        } catch {
            plan.withLock { $0.leave(ticket) }
            // A call that has lost its last caller makes room for another one.
            beginCalls()
            throw error
        }
    }

    /// Returns the time at which a caller looks again: when its call no longer counts as awaited. Until its call is
    /// started, it looks as often.
    private func nextLook(
        _ progress: LookupPlan<Asker>.Progress?,
        patience: UInt64,
        on loop: EventLoop
    ) -> Instant {
        guard !loop.isHeld else { return .never }
        let now = loop.now
        switch progress {
        case .queued: return now.advanced(byNanoseconds: patience)
        case .called(let start):
            let end = start.advanced(byNanoseconds: patience)
            return end > now ? end : .never
        case nil: return .never
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
                let delivery = Delivery(answer: self.call(next.name), callStart: next.start)
                for asker in self.plan.withLock({ $0.end(next) }) { asker.give(delivery) }
                self.beginCalls()
            }
        }
    }
}
