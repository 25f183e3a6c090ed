package import DirectCore
package import DirectIO

/// The time limits of dialling, for each phase and for the whole call, and the log of its events.
package struct DialLimits: Sendable {
    package let timeouts: Timeouts.Nanoseconds
    /// The end of the whole call.
    package let end: Instant
    package let loop: EventLoop
    /// The moment until which dialling waits for a descriptor during a shortage: the time limit of the pool's
    /// queue.
    let descriptorDeadline: Instant
    package var log: (any TransportObserver)?

    package init(
        timeouts: Timeouts.Nanoseconds,
        end: Instant,
        loop: EventLoop,
        log: (any TransportObserver)? = nil
    ) {
        self.timeouts = timeouts
        self.end = end
        self.loop = loop
        self.log = log
        descriptorDeadline = min(end, loop.now.advanced(byNanoseconds: timeouts.queue))
    }

    /// Returns the limits of a wait that begins now.
    package func deadline(_ phase: TransportError.Phase, stall: UInt64) -> Deadline {
        Deadline(phase, stall: stall, end: end, total: timeouts.total, from: loop.now)
    }

    /// Returns the limits of dialling for a request.
    init(_ limits: RequestLimits, loop: EventLoop) {
        self.init(timeouts: limits.timeouts, end: limits.end, loop: loop, log: limits.observer)
    }
}
