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
    ///
    /// - Parameter stall: The limit of this wait, if it is not that of the phase.
    package func deadline(
        _ phase: TransportError.Phase,
        stall: IdleLimit? = nil,
        from now: Instant
    ) -> Deadline {
        Deadline(phase, stall: stall ?? timeouts.limit(of: phase), end: end, total: total, from: now)
    }

    /// Throws if the call is over or cancelled, for work that never waits and so is never woken.
    func check(_ phase: TransportError.Phase, at now: @autoclosure () -> Instant) throws(TransportError) {
        if Task.isCancelled { throw .cancelled }
        if end < .never, now() >= end { throw .failed(phase, timeout) }
    }
}

extension Timeouts.Nanoseconds {
    /// Returns the limit of the waits of a phase.
    fileprivate func limit(of phase: TransportError.Phase) -> IdleLimit {
        switch phase {
        case .request, .queue: queue
        case .resolve: resolve
        case .connect, .proxy: connect
        case .tls: tls
        case .write: write
        case .response: response
        case .body: read
        }
    }
}

/// The time limits of one wait: the idle limit (the time without progress) and the end of the whole call.
///
/// It is made when the wait begins and passed down unchanged, so that no attempt in between can restart the
/// limit. Only the code that sees real progress may extend it.
package struct Deadline {
    /// The phase that a time-out is reported for.
    package private(set) var phase: TransportError.Phase
    /// The idle limit.
    package let stall: IdleLimit
    /// The end of the whole call, and the time limit that it follows from.
    package let end: Instant
    package let total: UInt64
    /// The deadline of the wait, unless there is progress before.
    package private(set) var instant: Instant

    package init(
        _ phase: TransportError.Phase,
        stall: IdleLimit,
        end: Instant,
        total: UInt64,
        from now: Instant
    ) {
        self.phase = phase
        self.stall = stall
        self.end = end
        self.total = total
        instant = now.advanced(byNanoseconds: stall.nanoseconds).atMost(end)
    }

    /// Restarts the idle limit after progress.
    mutating func extend(from now: Instant) {
        instant = now.advanced(byNanoseconds: stall.nanoseconds).atMost(end)
    }

    /// Returns the same limits with an earlier instant, for a check of something else.
    func shortened(to moment: Instant) -> Deadline {
        var shorter = self
        shorter.instant = instant.atMost(moment)
        return shorter
    }

    /// The same limits without an idle limit.
    var untilEnd: Deadline {
        var longer = self
        longer.instant = end
        return longer
    }

    /// The same limits while the request is still being sent: the server need not answer yet, so there is no
    /// idle limit, and a call that ends before the head of the response ends in the sending.
    var whileSending: Deadline {
        var sending = untilEnd
        if phase == .response { sending.phase = .write }
        return sending
    }

    /// The failure to throw when the deadline has passed.
    package var timeout: TransportError {
        let limit = instant >= end ? total : stall.nanoseconds
        return .failed(phase, .timedOut(after: .nanoseconds(Int64(clamping: limit))))
    }

    /// Returns the failure of a call on another thread, which was not waited for to its end.
    func failure(_ reason: BlockingWork.Abandoned) -> TransportError {
        switch reason {
        case .cancelled: .cancelled
        case .expired: timeout
        case .refused(let refusal): .failed(phase, .system(refusal))
        }
    }

    /// Throws if the wait ended for another reason than the event.
    package func check(_ wake: WaitPoint.Wake) throws(TransportError) {
        switch wake {
        case .ready: return
        case .expired: throw timeout
        case .cancelled: throw .cancelled
        }
    }

    /// Lets other tasks run although there is nothing to wait for, and throws if a wait would have ended by
    /// now.
    package func yield(on loop: EventLoop) async throws(TransportError) {
        await loop.yield()
        try check(at: loop.now)
    }

    /// Throws if the deadline has passed or the task is cancelled.
    package func check(at now: Instant) throws(TransportError) {
        if Task.isCancelled { throw .cancelled }
        if now >= instant { throw timeout }
    }
}
