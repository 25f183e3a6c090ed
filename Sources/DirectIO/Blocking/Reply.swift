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

    /// Makes the task that waits look at the deadline again.
    func lookAgain() { turn.input.signal() }

    /// Waits for the value. Only one task may call this, and only once.
    ///
    /// - Throws: ``BlockingWork/Abandoned`` if the deadline passes or the task is cancelled first.
    package func value(until deadline: Instant) async throws(BlockingWork.Abandoned) -> Value {
        try await value { Pause(end: deadline) }
    }

    /// Waits for the value, with a deadline that may change. `pause` is called before the wait, each time
    /// that its result says, and at the deadline.
    ///
    /// - Throws: ``BlockingWork/Abandoned`` if the deadline passes or the task is cancelled first.
    func value(_ pause: () -> Pause) async throws(BlockingWork.Abandoned) -> Value {
        turn.loop.add(turn)
        defer { turn.loop.remove(turn) }
        while true {
            let current = pause()
            let wake = await turn.waitForSignal(until: current.end.atMost(current.nextLook))
            // A value counts even if it arrives together with the deadline.
            if let value = answer.withLock({ $0.take() }) { return value }
            switch wake {
            case .ready: continue
            case .expired where turn.loop.now < pause().end: continue
            case .expired: throw .expired
            case .cancelled: throw .cancelled
            }
        }
    }

    /// The duration of a wait.
    struct Pause {
        /// The deadline.
        var end: Instant
        /// The time of the next look at the deadline, if that is earlier.
        var nextLook = Instant.never
    }
}
