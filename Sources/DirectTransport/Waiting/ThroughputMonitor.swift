internal import DirectCore
internal import DirectIO

/// Checks the minimum speed of a body that is received or sent.
///
/// Only time spent waiting for the peer counts: a slow reader on this side does not make the server slow.
struct ThroughputMonitor {
    private let watch: Timeouts.Speed.Watch
    /// All bytes moved so far.
    private var moved: UInt64 = 0
    /// The bytes moved before the current interval.
    private var movedBefore: UInt64 = 0
    /// The time waited in the current interval.
    private var waited: UInt64 = 0

    init(_ watch: Timeouts.Speed.Watch) {
        self.watch = watch
    }

    /// Whether there is a minimum speed.
    var isOn: Bool { watch.nanoseconds != .max }

    /// Counts bytes that were moved.
    mutating func count(_ more: Int) {
        moved &+= UInt64(more)
    }

    /// Sets the number of bytes moved.
    mutating func count(to total: UInt64) {
        moved = total
    }

    /// Waits until the deadline, and no longer than to the end of the current interval: then it returns
    /// `true` without the event. Throws if an interval is complete in which too few bytes were moved.
    ///
    /// A wait that ended with the event is judged before the next one, when what it brought has been counted:
    /// this task may run late.
    mutating func check(
        _ deadline: Deadline,
        on loop: EventLoop,
        wait: (Deadline) async throws(TransportError) -> Bool
    ) async throws(TransportError) -> Bool {
        guard isOn else { return try await wait(deadline) }
        try judge(deadline.phase)
        let start = loop.now
        let look = start.advanced(byNanoseconds: watch.nanoseconds - waited)
        do throws(TransportError) {
            let result = try await wait(deadline.shortened(to: look))
            enter(waitFrom: start, to: loop.now)
            return result
        } catch {
            // This was only the time to check the speed, and not the deadline.
            guard error.isTimeout, look < deadline.instant else { throw error }
        }
        enter(waitFrom: start, to: loop.now)
        try judge(deadline.phase)
        return true
    }

    /// Counts a wait.
    mutating func enter(waitFrom start: Instant, to end: Instant) {
        let (sum, overflow) = waited.addingReportingOverflow(end.nanoseconds &- start.nanoseconds)
        waited = overflow ? .max : sum
    }

    /// Throws if the interval is complete and too few bytes were moved in it.
    mutating func judge(_ phase: TransportError.Phase) throws(TransportError) {
        guard waited >= watch.nanoseconds else { return }
        guard moved &- movedBefore >= watch.bytes else {
            let time = Duration.nanoseconds(Int64(clamping: watch.nanoseconds))
            throw .failed(phase, .tooSlow(Timeouts.Speed(bytes: Int(clamping: watch.bytes), in: time)))
        }
        (movedBefore, waited) = (moved, 0)
    }
}
