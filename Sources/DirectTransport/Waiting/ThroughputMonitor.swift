package import DirectCore
internal import DirectIO

/// Checks the minimum speed of a body that is received or sent.
///
/// Only time spent waiting for the peer counts: a slow reader on this side does not make the server slow.
package struct ThroughputMonitor: Sendable {
    private let watch: Timeouts.Speed.Watch
    /// All bytes moved so far.
    private var moved: UInt64 = 0
    /// The bytes moved before the current interval.
    private var movedBefore: UInt64 = 0
    /// The time waited in the current interval.
    private var waited: UInt64 = 0

    package init(_ watch: Timeouts.Speed.Watch) {
        self.watch = watch
    }

    /// Whether there is a minimum speed.
    var isOn: Bool { watch.nanoseconds != .max }

    /// Returns the moment at which a wait that begins now, and brings no bytes, is too slow: now, if an
    /// interval is complete in which too few were moved.
    package mutating func end(from start: Instant) -> Instant {
        guard isOn else { return .never }
        let isEnough = moved &- movedBefore >= watch.bytes
        if waited >= watch.nanoseconds {
            guard isEnough else { return start }
            (movedBefore, waited) = (moved, 0)
            return start.advanced(byNanoseconds: watch.nanoseconds)
        }
        let end = start.advanced(byNanoseconds: watch.nanoseconds - waited)
        return isEnough ? end.advanced(byNanoseconds: watch.nanoseconds) : end
    }

    /// The minimum speed.
    package var speed: Timeouts.Speed {
        let time = Duration.nanoseconds(Int64(clamping: watch.nanoseconds))
        return Timeouts.Speed(bytes: Int(clamping: watch.bytes), in: time)
    }

    /// Counts bytes that were moved.
    package mutating func count(_ more: Int) {
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
    package mutating func enter(waitFrom start: Instant, to end: Instant) {
        let (sum, overflow) = waited.addingReportingOverflow(end.nanoseconds &- start.nanoseconds)
        waited = overflow ? .max : sum
    }

    /// Throws if the interval is complete and too few bytes were moved in it.
    mutating func judge(_ phase: TransportError.Phase) throws(TransportError) {
        guard waited >= watch.nanoseconds else { return }
        guard moved &- movedBefore >= watch.bytes else {
            throw .failed(phase, .tooSlow(speed))
        }
        (movedBefore, waited) = (moved, 0)
    }
}
