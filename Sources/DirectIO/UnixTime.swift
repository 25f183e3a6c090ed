#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A moment by the calendar, in whole seconds since 1970: for what servers date and files keep. Everything
/// that is waited for counts on the monotonic clock instead.
public struct UnixTime: Hashable, Comparable, Sendable {
    public var seconds: Int64

    public init(seconds: Int64) {
        self.seconds = seconds
    }

    public static var now: UnixTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UnixTime(seconds: Int64(time.tv_sec))
    }

    public static func < (left: UnixTime, right: UnixTime) -> Bool {
        left.seconds < right.seconds
    }

    /// The moment so many seconds later, as far as there is one.
    public func advanced(bySeconds count: Int64) -> UnixTime {
        let (sum, overflow) = seconds.addingReportingOverflow(count)
        return UnixTime(seconds: overflow ? (count < 0 ? .min : .max) : sum)
    }
}
