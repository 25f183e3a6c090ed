internal import DirectCore
internal import DirectHTTP1
package import DirectIO

extension Connection {
    /// Waits until an attempt to move bytes that returned this step may be repeated.
    ///
    /// The reading task and the writing task wait at points of their own, for either direction: TLS may want the
    /// other direction, for example when keys are changed.
    ///
    /// - Throws: If the step was an end or a failure, or if the deadline passes or the task is cancelled.
    package func wait(
        for step: Step,
        as side: LoopHandle.Side,
        _ deadline: Deadline
    ) async throws(TransportError) {
        switch step {
        case .moved: return
        case .again:
            try await deadline.takeTurn(on: loop)
        case .wantsRead:
            let wake = await socket.waitForInput(side, until: deadline.instant)
            // The next attempt to write may take bytes from the socket that the reader waits for.
            if case .writer = side { socket.input.signal() }
            try deadline.check(wake)
        case .wantsWrite: try deadline.check(await socket.waitForOutput(side, until: deadline.instant))
        case .ended: throw .failed(deadline.phase, .connectionClosed)
        case .failed(let reason): throw .failed(deadline.phase, reason)
        }
    }

    /// Writes all bytes and flushes the last TLS record. The memory must not move meanwhile.
    package func writeAll(
        _ bytes: UnsafeRawBufferPointer,
        deadline: Deadline
    ) async throws(TransportError) {
        var deadline = deadline
        var sent = 0
        while sent < bytes.count {
            let step = unsafe write(UnsafeRawBufferPointer(rebasing: bytes[sent...]))
            if case .moved(let count) = step {
                sent += count
                deadline.extend(from: loop.now)
            } else {
                try await wait(for: step, as: .writer, deadline)
            }
        }
        try await flushAll(deadline)
    }

    /// Sends the bytes that the layers have accepted and not passed on yet.
    package func flushAll(_ deadline: Deadline) async throws(TransportError) {
        while hasUnsentBytes {
            let step = flush()
            if case .moved = step { continue }
            try await wait(for: step, as: .writer, deadline)
        }
    }
}
