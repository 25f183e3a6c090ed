/// A day of the proleptic Gregorian calendar: its rules apply to all years.
package struct CivilDay: Equatable {
    package var year: Int
    package var month: Int
    package var day: Int

    package init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// Creates the day that lies this many days after 1 January 1970.
    package init(daysSince1970 days: Int64) {
        // The calculation lets years begin in March, so that a leap day is the last day of its year. An era
        // is 400 years.
        let shifted = Int(days) + 719_468
        let era = Int64(shifted).floorDivided(by: 146_097).quotient
        let dayOfEra = shifted - Int(era) * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + Int(era) * 400 + (month <= 2 ? 1 : 0)
    }

    /// The number of days since 1 January 1970.
    package var daysSince1970: Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = Int(Int64(shiftedYear).floorDivided(by: 400).quotient)
        let yearOfEra = shiftedYear - era * 400
        let shiftedMonth = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * shiftedMonth + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return Int64(era * 146_097 + dayOfEra - 719_468)
    }

    /// Whether the day exists.
    var exists: Bool {
        guard 1...12 ~= month, day >= 1 else { return false }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return day <= lengths[month - 1]
    }

    /// The day of the week; 0 is Sunday.
    var weekday: Int {
        Int((daysSince1970 + 4).floorDivided(by: 7).remainder)
    }

    /// Returns the moment at this time of the day, in UTC; `nil` if the day or the time does not exist or the
    /// result does not fit.
    package func time(hour: Int, minute: Int, second: Int) -> UnixTime? {
        // A leap second counts as the last second of its minute.
        guard exists, 0...23 ~= hour, 0...59 ~= minute, 0...60 ~= second else { return nil }
        let (start, overflow) = daysSince1970.multipliedReportingOverflow(by: 86_400)
        guard !overflow, start <= .max - 86_400 else { return nil }
        return UnixTime(seconds: start + Int64(hour * 3600 + minute * 60 + min(second, 59)))
    }
}

extension Int64 {
    /// Returns the quotient, rounded down, and the remainder, which is never negative. `divisor` must be
    /// positive.
    package func floorDivided(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
