package import DirectCore

/// When a request began, how long it may take, and its observer.
package struct RequestLimits: Sendable {
    package let start: Instant
    /// The deadline of the whole call.
    package let end: Instant
    /// The time limits of each phase.
    package let timeouts: Timeouts.Nanoseconds
    /// Is told what happens to the request; `nil` without an observer.
    package let observer: (any TransportObserver)?

    /// Makes a value of its parts.
    @inline(__always)
    package init(
        from start: Instant,
        until end: Instant,
        timeouts: Timeouts.Nanoseconds,
        observer: (any TransportObserver)? = nil
    ) {
        self.start = start
        self.end = end
        self.timeouts = timeouts
        self.observer = observer
    }

    /// The deadline and the total time limit of the call.
    var call: CallLimit { CallLimit(end: end, total: timeouts.total) }

    /// Returns the deadline of a phase that begins at `now`.
    func deadline(_ phase: TransportError.Phase, stall: UInt64, from now: Instant) -> Deadline {
        Deadline(phase, stall: stall, end: end, total: timeouts.total, from: now)
    }
}
