internal import DirectIO

/// Why a call cannot go on. Becomes an `HTTPError`, or a `CancellationError`, where the call ends.
enum CallFailure: Error {
    case cancelled
    case failed(HTTPError.Phase, HTTPError.Reason)
}

/// The limits of one wait: for the next progress, and for the whole call.
///
/// Made when the wait begins and passed down unchanged, so that no attempt in between can begin the limit anew. Only
/// the code that sees real progress may extend it.
struct Patience {
    let phase: HTTPError.Phase
    /// Nanoseconds without progress.
    let stall: UInt64
    /// The end of the whole call, and how long that was to take.
    let end: Instant
    let total: UInt64
    /// When to give up, unless there is progress before.
    private(set) var deadline: Instant

    init(_ phase: HTTPError.Phase, stall: UInt64, end: Instant, total: UInt64, from now: Instant) {
        self.phase = phase
        self.stall = stall
        self.end = end
        self.total = total
        deadline = min(now.advanced(byNanoseconds: stall), end)
    }

    /// There was progress: the limit for the next one begins now.
    mutating func extend(from now: Instant) {
        deadline = min(now.advanced(byNanoseconds: stall), end)
    }

    /// The same wait with an earlier end, for a look at something else.
    func shortened(to moment: Instant) -> Patience {
        var shorter = self
        shorter.deadline = min(deadline, moment)
        return shorter
    }

    /// The same wait without a limit for progress.
    var untilEnd: Patience {
        var longer = self
        longer.deadline = end
        return longer
    }

    /// What to say when the deadline has come.
    var timeout: CallFailure {
        let limit = deadline >= end ? total : stall
        return .failed(phase, .timedOut(after: .nanoseconds(Int64(clamping: limit))))
    }

    /// Throws if the wait ended for another reason than the event.
    func check(_ wake: WaitPoint.Wake) throws(CallFailure) {
        switch wake {
        case .ready: return
        case .expired: throw timeout
        case .cancelled: throw .cancelled
        }
    }

    /// Throws if the call is over or cancelled: for work that never has to wait, and so is never woken.
    func checkEnd(at now: @autoclosure () -> Instant) throws(CallFailure) {
        if Task.isCancelled { throw .cancelled }
        guard end < .never, now() >= end else { return }
        throw .failed(phase, .timedOut(after: .nanoseconds(Int64(clamping: total))))
    }

    /// Lets other tasks run where there is nothing to wait for, and looks at what would have ended a wait.
    func takeTurn(on loop: EventLoop) async throws(CallFailure) {
        await Task.yield()
        try check(at: loop.now)
    }

    /// The same for the limit of this wait.
    func check(at now: Instant) throws(CallFailure) {
        if Task.isCancelled { throw .cancelled }
        if now >= deadline { throw timeout }
    }
}

extension CallFailure {
    var isTimeout: Bool {
        if case .failed(_, .timedOut) = self { true } else { false }
    }
}
