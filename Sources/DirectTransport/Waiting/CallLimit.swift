package import DirectCore
package import DirectIO

/// The time limits of a call: those of its phases, and its deadline.
package struct CallLimit: Sendable {
    package let timeouts: Timeouts.Nanoseconds
    /// The deadline of the whole call.
    package var end: Instant

    /// Makes a value of its parts.
    package init(_ timeouts: Timeouts.Nanoseconds, until end: Instant) {
        self.timeouts = timeouts
        self.end = end
    }

    /// No limit of the whole call.
    package static let none = CallLimit(Timeouts().nanoseconds, until: .never)

    /// The time limit of the whole call, in nanoseconds.
    package var total: UInt64 { timeouts.total }

    /// The threads of the client, for code that may block.
    package var threads: BlockingWork { timeouts.threads }

    /// The executor of what the call does beside its own task: the one that its caller prefers, or else the
    /// threads of the client, and never Swift's own, all of which a program may have wait for calls.
    package var executor: any TaskExecutor { preferredExecutor() ?? threads }

    /// The reason of an error at the deadline.
    package var timeout: TransportError.Reason { .timedOut(after: .nanoseconds(Int64(clamping: total))) }

    /// Returns the limits of a wait that begins at `now`: the phase's, but no later than the call's end.
    package func deadline(_ phase: TransportError.Phase, stall: IdleLimit, from now: Instant) -> Deadline {
        Deadline(phase, stall: stall, end: end, total: total, from: now)
    }

    /// Throws if the call is over or cancelled, for work that never waits and so is never woken.
    func check(_ phase: TransportError.Phase, at now: @autoclosure () -> Instant) throws(TransportError) {
        if Task.isCancelled { throw .cancelled }
        if end < .never, now() >= end { throw .failed(phase, timeout) }
    }
}
