package import DirectCore

/// A value that one task waits for and another thread or task provides.
package struct Reply<Value: Sendable>: Sendable {
    private let answer = Locked<Value?>(nil)
    private let turn: LoopHandle

    /// Creates a reply whose wait uses the clock of `loop`.
    package init(on loop: EventLoop) {
        turn = LoopHandle(loop: loop)
    }

    /// Provides the value. Call it once, before, during or after the wait.
    package func give(_ value: Value) {
        answer.withLock { $0 = value }
        turn.input.signal()
    }

    /// Waits for the value. Only one task may call this, and only once.
    ///
    /// - Throws: ``BlockingWork/Abandoned`` if the deadline passes or the task is cancelled first.
    package func value(until deadline: Instant) async throws(BlockingWork.Abandoned) -> Value {
        turn.loop.add(turn)
        defer { turn.loop.remove(turn) }
        while true {
            let wake = await turn.waitForSignal(until: deadline)
            // A value counts even if it arrives together with the deadline.
            if let value = answer.withLock({ $0.take() }) { return value }
            switch wake {
            case .ready: continue
            case .expired: throw .expired
            case .cancelled: throw .cancelled
            }
        }
    }
}
