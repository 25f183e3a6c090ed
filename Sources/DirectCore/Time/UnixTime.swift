#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A calendar time in whole seconds since 1970, for dates from servers and for stored files. All waiting uses
/// the monotonic clock instead.
public struct UnixTime: Hashable, Comparable, Sendable {
    /// The seconds since 1970.
    public var seconds: Int64

    /// Creates a time from the seconds since 1970.
    public init(seconds: Int64) {
        self.seconds = seconds
    }

    /// The current time of the system's clock.
    public static var now: UnixTime { UnixTime(seconds: Int64(clock.tv_sec)) }

    /// The current time in nanoseconds since 1970.
    package static var nanoseconds: UInt64 {
        let time = clock
        return UInt64(max(0, time.tv_sec)) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    private static var clock: timespec {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return time
    }

    /// Whether `left` is earlier than `right`.
    public static func < (left: UnixTime, right: UnixTime) -> Bool {
        left.seconds < right.seconds
    }

    /// Returns the time this many seconds later, limited to the range of `Int64`.
    public func advanced(bySeconds count: Int64) -> UnixTime {
        let (sum, overflow) = seconds.addingReportingOverflow(count)
        return UnixTime(seconds: overflow ? (count < 0 ? .min : .max) : sum)
    }
}
