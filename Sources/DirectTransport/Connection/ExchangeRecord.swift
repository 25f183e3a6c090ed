package import DirectCore

/// The facts of one exchange: the connection and the times.
package struct ExchangeRecord: Sendable {
    package let connection: ConnectionFacts
    /// When the request began, when its first bytes were sent, and when the head of the response had arrived.
    package let start, sent, response: Instant
    /// The way the request came to its connection. One field for two facts: with one more, each copy of a
    /// record would be a call.
    private let arrival: Arrival
    /// The nanoseconds in the queue for a connection.
    package internal(set) var queued: UInt64 = 0
    /// Knows when the body of the response ended; `nil` if it arrived whole together with the head.
    package internal(set) var bodyEnd: BodyEnd?

    /// Makes a value of its parts.
    init(
        connection: ConnectionFacts,
        start: Instant,
        sent: Instant,
        response: Instant,
        _ arrival: Arrival,
        bodyEnd: BodyEnd? = nil
    ) {
        self.connection = connection
        self.start = start
        self.sent = sent
        self.response = response
        self.arrival = arrival
        self.bodyEnd = bodyEnd
    }

    /// The way a request comes to its connection.
    package enum Arrival: Sendable {
        /// It is made for the request.
        case dialled
        /// It was made ahead of any request.
        case prewarmed
        /// It has served another request.
        case reused
    }

    /// Whether the connection had served another request before.
    package var isReused: Bool { arrival == .reused }
    /// Whether the connection was there before the request.
    package var wasIdle: Bool { arrival != .dialled }
}

/// The place of a connection among those that its pool allows, which what the program's code sends may have
/// meanwhile.
protocol LendablePlace: Sendable {
    func lend()
    func reclaim()
}

/// The end of the body of one response: its time, and until then the connection that the body has, whoever
/// reads or wraps it.
package final class BodyEnd: Sendable {
    private struct Facts {
        var time: Instant?
        var place: (any LendablePlace)?
        /// The number of times that the place is lent.
        var loans = 0
    }

    private let state = Locked(Facts())

    /// The time at which the body was received whole; `nil` until then, and for one that never is.
    package var time: Instant? { state.withLock { $0.time } }

    /// Whether the body has a connection.
    package var holdsConnection: Bool { state.withLock { $0.place != nil } }

    /// Notes the place of a body that has not arrived whole.
    func hold(_ place: some LendablePlace) {
        state.withLock { $0.place = place }
    }

    /// Notes the end, before that of the lease.
    ///
    /// - Parameter time: `nil` if the body was not received whole.
    func note(_ time: Instant?) {
        state.withLock { state in
            if state.loans > 0 { state.place?.reclaim() }
            state = Facts(time: time)
        }
    }

    /// Lends the place of the connection, if the body has one, until ``reclaim()``: the response waits for
    /// code of the program, which may send requests.
    package func lend() {
        state.withLock { state in
            guard let place = state.place else { return }
            if state.loans == 0 { place.lend() }
            state.loans += 1
        }
    }

    /// Ends what ``lend()`` has begun.
    package func reclaim() {
        state.withLock { state in
            guard let place = state.place, state.loans > 0 else { return }
            if state.loans == 1 { place.reclaim() }
            state.loans -= 1
        }
    }
}
