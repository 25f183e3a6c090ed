package import DirectCore
internal import DirectIO

/// The lenient parser for the dates of `Expires` (RFC 6265bis, section 5.1.1).
///
/// It looks for tokens that resemble a time, a day, a month and a year, in any order and with anything
/// between them. The dates of other HTTP fields are parsed by `HTTPDate`.
package enum CookieDate {
    /// Parses a date; `nil` if a part is missing or out of range.
    package static func parse(_ text: some Sequence<UInt8>) -> UnixTime? {
        var clock: (hour: Int, minute: Int, second: Int)?
        var day: Int?
        var month: Int?
        var year: Int?
        // Each token fills the first of the missing parts that it fits, in this order.
        for token in Array(text).split(whereSeparator: \.separatesDateTokens) {
            if clock == nil, let found = time(token) {
                clock = found
            } else if day == nil, let found = number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = monthNumber(token) {
                month = found
            } else if year == nil, let found = number(token, digits: 2...4) {
                year = found
            }
        }
        guard let clock, let day, let month, let year else { return nil }
        let civilDay = CivilDay(year: fullYear(year), month: month, day: day)
        guard civilDay.year >= 1601, clock.second <= 59 else { return nil }
        return civilDay.time(hour: clock.hour, minute: clock.minute, second: clock.second)
    }

    private static func fullYear(_ year: Int) -> Int {
        switch year {
        case 70...99: year + 1900
        case 0...69: year + 2000
        default: year
        }
    }

    /// Parses `1:2:3`, with one or two digits in each place, followed by anything that is not a digit.
    private static func time(_ token: ArraySlice<UInt8>) -> (hour: Int, minute: Int, second: Int)? {
        var rest = token
        guard let hour = takeNumber(&rest, digits: 1...2), rest.popFirst() == UInt8(ascii: ":"),
            let minute = takeNumber(&rest, digits: 1...2), rest.popFirst() == UInt8(ascii: ":"),
            let second = takeNumber(&rest, digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    private static func number(_ token: ArraySlice<UInt8>, digits: ClosedRange<Int>) -> Int? {
        var rest = token
        return takeNumber(&rest, digits: digits)
    }

    /// Parses a run of digits whose length must be in the given range.
    private static func takeNumber(_ rest: inout ArraySlice<UInt8>, digits: ClosedRange<Int>) -> Int? {
        let run = rest.prefix(while: \.isDigit)
        guard digits.contains(run.count) else { return nil }
        rest = rest[run.endIndex...]
        return run.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    private static func monthNumber(_ token: ArraySlice<UInt8>) -> Int? {
        guard token.count >= 3 else { return nil }
        let start = token.prefix(3)
        return months.firstIndex { start.equalsIgnoringCase($0) }.map { $0 + 1 }
    }

    private static let months: [StaticString] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]
}

extension UInt8 {
    fileprivate var separatesDateTokens: Bool {
        switch self {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }
}
