/// An answer that one task waits for and another thread or task gives.
package struct Reply<Answer: Sendable>: Sendable {
    private let answer = Locked<Answer?>(nil)
    private let turn: LoopHandle

    package init(on loop: EventLoop) {
        turn = LoopHandle(loop: loop)
    }

    /// Gives the answer. Once; before, while or after it is waited for.
    package func give(_ value: Answer) {
        answer.withLock { $0 = value }
        turn.input.signal()
    }

    /// The answer, unless the deadline or the cancellation of the task comes first. One task may wait, once.
    package func value(until deadline: Instant) async throws(BlockingWork.Abandoned) -> Answer {
        turn.loop.add(turn)
        defer { turn.loop.remove(turn) }
        while true {
            let wake = await turn.input.wait(until: deadline, on: turn.loop)
            // Cleared before the look: an answer that comes after it signals again.
            turn.input.clear()
            // The answer counts even when it comes together with the deadline.
            if let value = answer.withLock({ $0.take() }) { return value }
            switch wake {
            case .ready: continue
            case .expired: throw .expired
            case .cancelled: throw .cancelled
            }
        }
    }
}
