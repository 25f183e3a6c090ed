#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A time on the monotonic clock, in nanoseconds. It is one word, so that it fits in an atomic.
package struct Instant: Hashable, Comparable, Sendable {
    /// The reading of the clock.
    package var nanoseconds: UInt64

    /// Creates a time from a reading of the clock.
    package init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    /// The current time of the system's clock. Waits on a loop use ``EventLoop/now`` instead, which a test
    /// can control.
    package static var now: Instant {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }

    /// A time later than every other, for a deadline that never passes.
    package static var never: Instant { Instant(nanoseconds: .max) }

    /// Whether `left` is earlier than `right`.
    package static func < (left: Instant, right: Instant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    // The defaults of `Comparable` would look for `<` in the conformance whenever another module compares.
    package static func > (left: Instant, right: Instant) -> Bool { right < left }
    package static func <= (left: Instant, right: Instant) -> Bool { !(right < left) }
    package static func >= (left: Instant, right: Instant) -> Bool { !(left < right) }

    /// Returns this time or `other`, whichever is earlier.
    package func atMost(_ other: Instant) -> Instant { other < self ? other : self }

    /// Returns the time `count` nanoseconds later, at most ``never``.
    package func advanced(byNanoseconds count: UInt64) -> Instant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(count)
        return overflow ? .never : Instant(nanoseconds: sum)
    }

    /// Returns the time since `earlier`, or zero if that is in the future.
    package func since(_ earlier: Instant) -> Duration {
        .nanoseconds(Int64(clamping: nanoseconds.subtractingClamped(earlier.nanoseconds)))
    }
}

extension Duration {
    /// The duration in whole nanoseconds, limited to the range of `UInt64`: zero if negative, `UInt64.max` if
    /// too long.
    package var clampedNanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return .max }
        let (sum, carry) = whole.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000))
        return carry ? .max : sum
    }
}

extension UInt64 {
    fileprivate func subtractingClamped(_ other: UInt64) -> UInt64 {
        self > other ? self - other : 0
    }
}
