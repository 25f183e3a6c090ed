package import DirectCore
internal import DirectIO

/// A limit on the bytes of bodies in a second. Requests that share a limit share its bytes.
///
/// It slows down this side: a server that sends faster finds its way closed when the system's buffers are
/// full. The time that a limit takes counts towards the total time of a call, and towards no other limit.
public final class RateLimit: Sendable {
    /// The number of bytes in a second, at least 1.
    public let bytesPerSecond: Int
    /// When the bytes that were moved so far are paid for.
    private let due = Locked(Instant(nanoseconds: 0))

    /// Makes a limit.
    public init(bytesPerSecond: Int) {
        self.bytesPerSecond = max(1, bytesPerSecond)
    }

    /// The largest number of bytes to move at once, so that slow bodies move evenly: those of a quarter of a
    /// second.
    var pieceSize: Int { min(max(bytesPerSecond / 4, 1024), 64 * 1024) }

    /// Counts bytes that were moved. Returns when they, and those that were counted before, are paid for.
    @discardableResult
    package func count(_ bytes: Int, at now: Instant) -> Instant {
        due.withLock { due in
            due = max(due, now).advanced(byNanoseconds: cost(of: bytes))
            return due
        }
    }

    /// The time of these bytes in nanoseconds.
    private func cost(of bytes: Int) -> UInt64 {
        UInt64(min(Double(max(0, bytes)) / Double(bytesPerSecond) * 1_000_000_000, 1e18))
    }

    /// Counts bytes that were received and waits until they are paid for. So each response waits for its own
    /// bytes, one of a few bytes too, and for none that came later: many small ones cannot stop a large one.
    ///
    /// Bytes that cannot be paid for before the end of the call, and those of a cancelled one, are not
    /// counted: calls that fail would make those after them wait.
    func pay(
        for bytes: Int,
        within limit: CallLimit,
        on loop: EventLoop
    ) async throws(TransportError) {
        guard bytes > 0 else { return }
        let (now, cost) = (loop.now, cost(of: bytes))
        let reserved = due.withLock { due -> Instant? in
            let end = max(due, now).advanced(byNanoseconds: cost)
            guard end <= limit.end else { return nil }
            due = end
            return end
        }
        do throws(TransportError) {
            try await wait(until: reserved ?? .never, .body, within: limit, on: loop)
        } catch {
            if reserved != nil {
                due.withLock { $0 = Instant(nanoseconds: $0.nanoseconds - min(cost, $0.nanoseconds)) }
            }
            throw error
        }
    }

    /// Waits until the bytes that were moved so far are paid for, but not past the end of the call.
    func wait(
        _ phase: TransportError.Phase,
        within limit: CallLimit,
        on loop: EventLoop
    ) async throws(TransportError) {
        try await wait(until: due.withLock { $0 }, phase, within: limit, on: loop)
    }

    private func wait(
        until due: Instant,
        _ phase: TransportError.Phase,
        within limit: CallLimit,
        on loop: EventLoop
    ) async throws(TransportError) {
        guard due > loop.now else { return }
        let handle = LoopHandle(loop: loop)
        loop.add(handle)
        defer { loop.remove(handle) }
        if await handle.waitForSignal(until: due.atMost(limit.end)) == .cancelled { throw .cancelled }
        // A process that was stopped meanwhile has paid all the same.
        if due > limit.end { try limit.check(phase, at: loop.now) }
    }
}
