#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A moment on the monotonic clock, in nanoseconds: one word, so that it fits an atomic.
package struct Instant: Hashable, Comparable, Sendable {
    package var nanoseconds: UInt64

    package init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    /// The system's clock. Whatever a loop waits for is counted by `EventLoop.now` instead, which a test may hold.
    package static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }

    /// Later than everything: a deadline that never comes.
    package static let never = Instant(nanoseconds: .max)

    package static func < (left: Instant, right: Instant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The moment `nanoseconds` after this one, at most `.never`.
    package func advanced(byNanoseconds count: UInt64) -> Instant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(count)
        return overflow ? .never : Instant(nanoseconds: sum)
    }

    /// How long ago `earlier` was; nothing when it lies ahead.
    package func since(_ earlier: Instant) -> Duration {
        .nanoseconds(Int64(clamping: nanoseconds.subtractingClamped(earlier.nanoseconds)))
    }
}

extension Duration {
    /// Whole nanoseconds, clamped into what one word holds: negative is nothing, endless is `UInt64.max`.
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
