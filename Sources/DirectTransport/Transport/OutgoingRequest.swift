package import DirectCore

/// One request as the transport sends it: what is sent, what the connection has to be, and within which
/// limits.
///
/// It cannot be copied. It is made where it is used, and borrowed from there on: copies of a value of this
/// size would cost each request 2,000 instructions.
package struct OutgoingRequest: ~Copyable {
    package let message: OutgoingMessage
    package var target: ConnectionTarget
    /// When it began.
    let start: Instant
    package let limit: CallLimit
    /// Is told what happens to the request; `nil` without an observer.
    let observer: (any TransportObserver)?
    /// The head, if it was written before there was a connection; `nil` if it is written to its buffer.
    var written: WrittenHead?

    /// Makes a value of its parts.
    @inline(__always)
    package init(
        _ message: consuming OutgoingMessage,
        over target: consuming ConnectionTarget,
        from start: Instant,
        within limit: consuming CallLimit,
        noting observer: consuming (any TransportObserver)?
    ) {
        self.message = message
        self.target = target
        self.start = start
        self.limit = limit
        self.observer = observer
    }
}
