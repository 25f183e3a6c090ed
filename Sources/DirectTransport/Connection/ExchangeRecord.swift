package import DirectCore
internal import Synchronization

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

/// The time at which the body of one response was received whole.
package final class BodyEnd: Sendable {
    private let nanoseconds = Atomic<UInt64>(0)

    /// The time; `nil` until then, and for a body that is never received whole.
    package var time: Instant? {
        let value = nanoseconds.load(ordering: .relaxed)
        return value == 0 ? nil : Instant(nanoseconds: value)
    }

    /// Records the time.
    func note(_ time: Instant) {
        nanoseconds.store(max(1, time.nanoseconds), ordering: .relaxed)
    }
}
