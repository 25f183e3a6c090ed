internal import DirectIO

/// What all requests of one call share, be they sent for redirects, for credentials or once more.
struct Call: Sendable {
    let timeouts: Timeouts.Nanoseconds
    let start: Instant
    /// When the whole call has to be over.
    let end: Instant

    init(_ timeouts: Timeouts.Nanoseconds, from start: Instant) {
        self.timeouts = timeouts
        self.start = start
        end = start.advanced(byNanoseconds: timeouts.total)
    }
}

/// One request on its way over the network.
struct Leg: Sendable {
    let url: HTTPURL
    let route: Route
    let start: Instant
    let call: Call

    var timeouts: Timeouts.Nanoseconds { call.timeouts }
    var end: Instant { call.end }
}
