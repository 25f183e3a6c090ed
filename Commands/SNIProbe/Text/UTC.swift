internal import DirectCore
internal import DirectHTTP

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

extension UnixTime {
    /// The current time in milliseconds since 1970.
    static var milliseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}

/// Dates and times in the formats of the reports, all in UTC.
enum UTC {
    /// Returns the date: `2026-11-12`.
    static func day(_ seconds: Int) -> String {
        let date = CivilDay(daysSince1970: Int64(floored(seconds, divisor: 86_400)))
        return "\(padded(date.year, width: 4))-\(padded(date.month, width: 2))-\(padded(date.day, width: 2))"
    }

    /// Returns the time of day: `05:06:21`.
    static func clock(_ seconds: Int) -> String {
        let second = seconds - floored(seconds, divisor: 86_400) * 86_400
        return
            "\(padded(second / 3600, width: 2)):\(padded(second / 60 % 60, width: 2)):\(padded(second % 60, width: 2))"
    }

    /// Returns date and time: `2026-11-12T05:06:21Z`.
    static func stamp(_ seconds: Int) -> String { "\(day(seconds))T\(clock(seconds))Z" }

    /// Returns date and time with milliseconds: `2026-11-12T05:06:21.123Z`.
    static func stamp(milliseconds: Int64) -> String {
        let seconds = floored(Int(milliseconds), divisor: 1000)
        return "\(day(seconds))T\(clock(seconds)).\(padded(Int(milliseconds) - seconds * 1000, width: 3))Z"
    }

    /// Returns the seconds since 1970 of a date and time as `stamp` writes it, with or without milliseconds;
    /// `nil` for other texts.
    static func seconds(_ stamp: String) -> Int? {
        let bytes = Array(stamp.utf8)
        guard bytes.count == 20 || bytes.count == 24, bytes.last == UInt8(ascii: "Z") else { return nil }
        func number(_ range: Range<Int>) -> Int? {
            guard bytes[range].allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            return bytes[range].reduce(0) { $0 * 10 + Int($1) - 0x30 }
        }
        for (index, mark) in zip([4, 7, 10, 13, 16], "--T::".utf8) where bytes[index] != mark { return nil }
        guard let year = number(0..<4), let month = number(5..<7), (1...12).contains(month),
            let day = number(8..<10), (1...31).contains(day), let hour = number(11..<13),
            let minute = number(14..<16), let second = number(17..<19)
        else { return nil }
        let days = Int(CivilDay(year: year, month: month, day: day).daysSince1970)
        return days * 86_400 + hour * 3600 + minute * 60 + second
    }

    /// Returns the quotient rounded towards negative infinity.
    static func floored(_ value: Int, divisor: Int) -> Int {
        value >= 0 ? value / divisor : -((-value + divisor - 1) / divisor)
    }

    private static func padded(_ number: Int, width: Int) -> String {
        Words.padded("\(number)", to: width, with: "0")
    }
}
