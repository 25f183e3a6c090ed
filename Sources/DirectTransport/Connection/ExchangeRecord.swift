package import DirectCore

/// The facts of one exchange: the connection and the times.
package struct ExchangeRecord: Sendable {
    package let connection: ConnectionFacts
    /// When the request began, when its first bytes were sent, and when the head of the response had arrived.
    package let start, sent, response: Instant
    /// Whether the connection had served another request before.
    package let isReused: Bool

    /// Makes a value of its parts.
    package init(
        connection: ConnectionFacts,
        start: Instant,
        sent: Instant,
        response: Instant,
        isReused: Bool
    ) {
        self.connection = connection
        self.start = start
        self.sent = sent
        self.response = response
        self.isReused = isReused
    }
}
