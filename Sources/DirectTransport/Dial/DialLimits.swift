package import DirectCore
package import DirectIO

/// The time limits of dialling, and the log of its events.
package struct DialLimits: Sendable {
    /// The limits of the whole call.
    package let call: CallLimit
    package let loop: EventLoop
    /// The moment until which dialling waits for a descriptor during a shortage: the time limit of the pool's
    /// queue.
    let descriptorDeadline: Instant
    package var log: (any TransportObserver)?

    package init(_ call: CallLimit, loop: EventLoop, log: (any TransportObserver)? = nil) {
        self.call = call
        self.loop = loop
        self.log = log
        descriptorDeadline = loop.now.advanced(byNanoseconds: call.timeouts.queue.nanoseconds).atMost(
            call.end
        )
    }

    package var timeouts: Timeouts.Nanoseconds { call.timeouts }
    package var end: Instant { call.end }

    /// Returns the limits of a wait that begins now.
    package func deadline(_ phase: TransportError.Phase, stall: IdleLimit) -> Deadline {
        call.deadline(phase, stall: stall, from: loop.now)
    }
}
