internal import DirectHTTP1
internal import DirectIO

/// Why a call cannot go on. Becomes an `HTTPError`, or a `CancellationError`, where the call ends.
enum CallFailure: Error {
    case cancelled
    case failed(HTTPError.Phase, HTTPError.Reason)
}

/// How long to wait: for progress, and for everything together.
struct Patience {
    var phase: HTTPError.Phase
    /// Nanoseconds without progress.
    var stall: UInt64
    /// The end of the whole call, and how long that was to take.
    var end: Instant
    var total: UInt64

    /// The moment to give up at, counted from `now`.
    func deadline(from now: Instant) -> Instant {
        min(now.advanced(byNanoseconds: stall), end)
    }

    /// What to say when that moment has come.
    var timeout: CallFailure {
        let limit = end <= .now ? total : stall
        return .failed(phase, .timedOut(after: .nanoseconds(Int64(clamping: limit))))
    }
}

extension Connection {
    /// Waits until there may be something to read.
    func waitForInput(_ patience: Patience, from now: Instant) async throws(CallFailure) {
        let wake = await socket.input.wait(until: patience.deadline(from: now), on: socket.loop)
        try patience.check(wake)
    }

    /// Waits until what kept an attempt to move bytes from moving any may be over.
    func wait(for step: Step, _ patience: Patience) async throws(CallFailure) {
        switch step {
        case .moved: return
        case .again: try await patience.takeTurn(from: .now)
        case .wantsInput: try await waitForInput(patience, from: .now)
        case .wantsRoom:
            let wake = await socket.output.wait(until: patience.deadline(from: .now), on: socket.loop)
            try patience.check(wake)
        case .ended: throw .failed(patience.phase, .connectionClosed)
        case .failed(let reason): throw .failed(patience.phase, reason)
        }
    }

    /// The same for the task that writes while another one reads, which has the point for input to itself.
    func waitToWrite(
        after step: Step,
        _ patience: Patience,
        from now: Instant
    ) async throws(CallFailure) {
        if case .wantsInput = step { return try await waitCrosswise(patience, from: now) }
        try await wait(for: step, patience)
    }

    /// Waits a moment for what the other task waits for: TLS wants the other direction, as it does when keys are
    /// changed. At most one task waits at a point, and that one is the other; so rare a case is tried again and
    /// again instead.
    func waitCrosswise(_ patience: Patience, from now: Instant) async throws(CallFailure) {
        let limit = patience.deadline(from: now)
        let turn = LoopHandle(loop: loop)
        loop.add(turn)
        defer { loop.remove(turn) }
        let pause = min(limit, Instant.now.advanced(byNanoseconds: Self.crosswisePause))
        let wake = await turn.input.wait(until: pause, on: loop)
        if case .expired = wake, pause < limit { return }
        try patience.check(wake)
    }

    private static let crosswisePause: UInt64 = 2_000_000

    /// Writes all of it; the memory has to stay where it is.
    func writeAll(
        _ bytes: UnsafeRawBufferPointer,
        _ patience: Patience
    ) async throws(CallFailure) {
        var sent = 0
        while sent < bytes.count {
            let step = unsafe write(UnsafeRawBufferPointer(rebasing: bytes[sent...]))
            if case .moved(let count) = step { sent += count } else { try await wait(for: step, patience) }
        }
    }
}

extension CallFailure {
    var isTimeout: Bool {
        if case .failed(_, .timedOut) = self { true } else { false }
    }
}

extension Patience {
    /// Lets other tasks run where there is nothing to wait for, and looks at what would have ended a wait.
    func takeTurn(from start: Instant) async throws(CallFailure) {
        await Task.yield()
        if Task.isCancelled { throw .cancelled }
        if deadline(from: start) <= .now { throw timeout }
    }

    func check(_ wake: WaitPoint.Wake) throws(CallFailure) {
        switch wake {
        case .ready: return
        case .expired: throw timeout
        case .cancelled: throw .cancelled
        }
    }
}
