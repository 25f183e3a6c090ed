internal import DirectCore

/// Bytes that had arrived by the end of a call, and are read although the call is over: a process that was
/// stopped could not do so in time.
///
/// It ends where the socket is empty, and with as many bytes as its buffer holds, however much the server
/// sends.
struct LateBytes {
    /// The end of a call that has come, and how many bytes may still be read.
    private var end = Instant.never
    private var left = 0

    /// Notes the result of a read.
    mutating func note(_ step: Connection.Step) {
        if case .moved(let count) = step { left = max(0, left - count) }
        if case .wantsRead = step { left = 0 }
    }

    /// Throws if the task is cancelled, or if its call is over and no more of this may be read.
    mutating func check(
        _ limit: CallLimit,
        _ phase: TransportError.Phase,
        at now: Instant
    ) throws(TransportError) {
        do throws(TransportError) {
            try limit.check(phase, at: now)
        } catch {
            guard error.isTimeout else { throw error }
            if end != limit.end { (end, left) = (limit.end, Self.bytesInBuffers) }
            guard left > 0 else { throw error }
        }
    }

    /// Twice what a receive buffer of Linux has room for at first (tcp(7), `tcp_rmem`): it grows only while
    /// it is read.
    private static let bytesInBuffers = 256 * 1024
}
