/// Parses and formats the dates of header fields (RFC 9110, section 5.6.7).
package enum HTTPDate {
    /// Returns the moment that a field value names, in any of the three forms that a recipient must accept;
    /// `nil` if it is none of them.
    ///
    /// `now` decides the century of a two-digit year: a year that would be more than 50 years ahead is one of
    /// the century before.
    package static func parse(_ text: String, now: UnixTime = .now) -> UnixTime? {
        var parser = DateParser(Array(text.utf8))
        return parser.parse(now: now)
    }

    /// Returns the moment in the form that a sender must use: `Sun, 06 Nov 1994 08:49:37 GMT`.
    package static func text(_ time: UnixTime) -> String {
        let (days, second) = time.seconds.floorDivided(by: 86_400)
        let day = CivilDay(daysSince1970: days)
        let clock = [second / 3600, second / 60 % 60, second % 60].map { twoDigits(Int($0)) }
        let year = String(repeating: "0", count: max(0, 4 - String(day.year).count)) + String(day.year)
        return "\(weekdays[day.weekday]), \(twoDigits(day.day)) \(months[day.month - 1]) \(year) "
            + clock.joined(separator: ":") + " GMT"
    }

    fileprivate static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    fileprivate static let longWeekdays = [
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    ]
    fileprivate static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

/// Parses one date, which has to be the whole of a text.
private struct DateParser {
    private struct TimeOfDay {
        let hour, minute, second: Int

        var secondOfDay: Int { hour * 3600 + minute * 60 + second }
    }

    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Returns the date; `nil` if the text is not a date, or something follows it.
    mutating func parse(now: UnixTime) -> UnixTime? {
        let found: UnixTime? =
            if let weekday = skipWord(in: HTTPDate.longWeekdays) {
                rfc850Date(weekday, now: now)
            } else if let weekday = skipWord(in: HTTPDate.weekdays) {
                take(",") ? imfFixdate(weekday) : asctimeDate(weekday)
            } else {
                nil
            }
        return position == bytes.count ? found : nil
    }

    /// Parses the rest of an IMF-fixdate, after the comma: ` 06 Nov 1994 08:49:37 GMT`.
    private mutating func imfFixdate(_ weekday: Int) -> UnixTime? {
        guard take(" "), let day = number(digits: 2), take(" "), let month = skipWord(in: HTTPDate.months),
            take(" "),
            let year = number(digits: 4), take(" "), let timeOfDay = timeOfDay(), take(" GMT")
        else { return nil }
        return time(CivilDay(year: year, month: month + 1, day: day), weekday: weekday, at: timeOfDay)
    }

    /// Parses the form of RFC 850 after its weekday: `, 06-Nov-94 08:49:37 GMT`.
    private mutating func rfc850Date(_ weekday: Int, now: UnixTime) -> UnixTime? {
        guard take(", "), let day = number(digits: 2), take("-"), let month = skipWord(in: HTTPDate.months),
            take("-"),
            let shortYear = number(digits: 2), take(" "), let timeOfDay = timeOfDay(), take(" GMT")
        else { return nil }
        let (days, second) = now.seconds.floorDivided(by: 86_400)
        let today = CivilDay(daysSince1970: days)
        var year = today.year - today.year % 100 + shortYear
        // RFC 9110, section 5.6.7: more than 50 years in the future, to the second.
        let latest = (today.year + 50, today.month, today.day, Int(second))
        if (year, month + 1, day, timeOfDay.secondOfDay) > latest { year -= 100 }
        // The weekday is not checked: it is right for one century only, and the century is a guess.
        return time(CivilDay(year: year, month: month + 1, day: day), weekday: nil, at: timeOfDay)
    }

    /// Parses the form of `asctime` after its weekday: ` Nov  6 08:49:37 1994`.
    private mutating func asctimeDate(_ weekday: Int) -> UnixTime? {
        guard take(" "), let month = skipWord(in: HTTPDate.months), take(" "),
            let day = take(" ") ? number(digits: 1) : number(digits: 2),
            take(" "), let timeOfDay = timeOfDay(), take(" "), let year = number(digits: 4)
        else { return nil }
        return time(CivilDay(year: year, month: month + 1, day: day), weekday: weekday, at: timeOfDay)
    }

    /// Returns the moment; `nil` if it does not exist or the weekday is given and wrong.
    private func time(_ day: CivilDay, weekday: Int?, at timeOfDay: TimeOfDay) -> UnixTime? {
        guard let time = day.time(hour: timeOfDay.hour, minute: timeOfDay.minute, second: timeOfDay.second)
        else { return nil }
        guard let weekday, weekday != day.weekday else { return time }
        return nil
    }

    private mutating func timeOfDay() -> TimeOfDay? {
        guard let hour = number(digits: 2), take(":"), let minute = number(digits: 2), take(":"),
            let second = number(digits: 2)
        else { return nil }
        return TimeOfDay(hour: hour, minute: minute, second: second)
    }

    /// Reads exactly this many digits.
    private mutating func number(digits: Int) -> Int? {
        guard position + digits <= bytes.count else { return nil }
        var value = 0
        for byte in bytes[position..<position + digits] {
            guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        position += digits
        return value
    }

    /// Skips the word that comes next; returns its index among these words, `nil` if it is none of them.
    private mutating func skipWord(in words: [String]) -> Int? {
        for (index, word) in words.enumerated() where take(word) { return index }
        return nil
    }

    /// Skips the text if it comes next; returns whether it did.
    private mutating func take(_ text: String) -> Bool {
        guard bytes[position...].starts(with: text.utf8) else { return false }
        position += text.utf8.count
        return true
    }
}
