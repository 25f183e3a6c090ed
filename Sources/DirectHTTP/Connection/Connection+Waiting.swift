internal import DirectHTTP1
internal import DirectIO

extension Connection {
    /// Waits until an attempt to move bytes that returned this step may be repeated.
    ///
    /// The reading task and the writing task wait at points of their own, for either direction: TLS may want the
    /// other direction, for example when keys are changed.
    ///
    /// - Throws: If the step was an end or a failure, or if the deadline passes or the task is cancelled.
    func wait(
        for step: Step,
        as side: LoopHandle.Side,
        _ patience: Patience
    ) async throws(CallFailure) {
        switch step {
        case .moved: return
        case .again:
            try await patience.takeTurn(on: loop)
        case .wantsInput:
            let wake = await socket.waitForInput(side, until: patience.deadline)
            // The next attempt to write may take bytes from the socket that the reader waits for.
            if case .writer = side { socket.input.signal() }
            try patience.check(wake)
        case .wantsRoom: try patience.check(await socket.waitForOutput(side, until: patience.deadline))
        case .ended: throw .failed(patience.phase, .connectionClosed)
        case .failed(let reason): throw .failed(patience.phase, reason)
        }
    }

    /// Writes all bytes and flushes the last TLS record. The memory must not move meanwhile.
    func writeAll(
        _ bytes: UnsafeRawBufferPointer,
        _ patience: Patience
    ) async throws(CallFailure) {
        var patience = patience
        var sent = 0
        while sent < bytes.count {
            let step = unsafe write(UnsafeRawBufferPointer(rebasing: bytes[sent...]))
            if case .moved(let count) = step {
                sent += count
                patience.extend(from: loop.now)
            } else {
                try await wait(for: step, as: .writer, patience)
            }
        }
        try await flushAll(patience)
    }

    /// Sends the bytes that the layers have accepted and not passed on yet.
    func flushAll(_ patience: Patience) async throws(CallFailure) {
        while hasUnsentBytes {
            let step = flush()
            if case .moved = step { continue }
            try await wait(for: step, as: .writer, patience)
        }
    }
}
