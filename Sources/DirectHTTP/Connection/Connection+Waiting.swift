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
        case .wantsInput: try await waitForInput(patience, from: .now)
        case .wantsRoom:
            let wake = await socket.output.wait(until: patience.deadline(from: .now), on: socket.loop)
            try patience.check(wake)
        case .ended: throw .failed(patience.phase, .connectionClosed)
        case .failed(let reason): throw .failed(patience.phase, reason)
        }
    }

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

extension Patience {
    func check(_ wake: WaitPoint.Wake) throws(CallFailure) {
        switch wake {
        case .ready: return
        case .expired: throw timeout
        case .cancelled: throw .cancelled
        }
    }
}
