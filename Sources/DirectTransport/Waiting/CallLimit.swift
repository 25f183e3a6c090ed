package import DirectCore

/// The deadline of a call, and its total time limit in nanoseconds.
package struct CallLimit: Sendable {
    package let end: Instant
    package let total: UInt64

    /// Makes a value of its parts.
    package init(end: Instant, total: UInt64) {
        self.end = end
        self.total = total
    }

    /// No limit.
    package static let none = CallLimit(end: .never, total: .max)

    /// The reason of an error at the deadline.
    package var timeout: TransportError.Reason { .timedOut(after: .nanoseconds(Int64(clamping: total))) }
}
