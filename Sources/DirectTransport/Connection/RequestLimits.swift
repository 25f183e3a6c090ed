package import DirectCore

/// When a request began, how long it may take, and its observer.
package struct RequestLimits: Sendable {
    package let start: Instant
    /// The limits of the whole call.
    package let call: CallLimit
    /// Is told what happens to the request; `nil` without an observer.
    package let observer: (any TransportObserver)?

    /// Makes a value of its parts.
    package init(from start: Instant, within call: CallLimit, observer: (any TransportObserver)? = nil) {
        self.start = start
        self.call = call
        self.observer = observer
    }
}
