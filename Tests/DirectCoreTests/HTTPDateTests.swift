@testable import DirectCore
import Testing

@Suite("Dates of HTTP")
struct HTTPDateTests {
    @Test(
        "The three forms of HTTP dates are read",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Wed Dec 31 23:59:59 1969", -1), ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000),
            ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_799),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ] as [(String, Int64)]
    )
    func valid(_ text: String, _ seconds: Int64) {
        #expect(HTTPDate.parse(text, now: UnixTime(seconds: 1_700_000_000)) == UnixTime(seconds: seconds))
    }

    @Test(
        "Any other form of a date is refused",
        arguments: [
            "", "0", "-1", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 6 Nov 1994 08:49:37 GMT",
            "Mon, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
            "Wed, 29 Feb 2023 12:00:00 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
            " Sun, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
            "Sun Nov 06 08:49:37 1994 GMT", "Sunday, 06 Nov 1994 08:49:37 GMT",
            "Sun, +6 Nov 1994 08:49:37 GMT",
        ]
    )
    func invalid(_ text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }

    @Test(
        "The earliest and latest dates are read and written",
        arguments: [Int64.min, Int64.min + 1, 0, Int64.max - 1, Int64.max]
    )
    func endsOfTime(seconds: Int64) {
        let time = UnixTime(seconds: seconds)
        #expect(HTTPDate.text(time).hasSuffix(" GMT"))
        for year in 0...99 {
            let text = "Sunday, 31-Dec-\(year < 10 ? "0" : "")\(year) 23:59:59 GMT"
            if let date = HTTPDate.parse(text, now: time) {
                #expect(HTTPDate.text(date).contains("23:59:59"))
            }
        }
    }

    @Test("Years of two digits are at most 50 years in the future")
    func century() {
        let now = UnixTime(seconds: 1_700_000_000)
        #expect(
            HTTPDate.parse("Sunday, 06-Nov-73 08:49:37 GMT", now: now).map(HTTPDate.text)
                == "Mon, 06 Nov 2073 08:49:37 GMT"
        )
        #expect(
            HTTPDate.parse("Sunday, 06-Nov-74 08:49:37 GMT", now: now).map(HTTPDate.text)
                == "Wed, 06 Nov 1974 08:49:37 GMT"
        )
    }

    /// 2023-11-14 22:13:20.
    @Test(
        "Fifty years are counted to the second (RFC 9110, section 5.6.7)",
        arguments: [
            ("14-Nov-73 22:13:20", "2073"), ("14-Nov-73 22:13:21", "1973"), ("15-Nov-73 00:00:00", "1973"),
            ("01-Dec-73 00:00:00", "1973"), ("13-Nov-73 23:59:59", "2073"), ("31-Dec-72 23:59:59", "2072"),
        ]
    )
    func halfCentury(_ date: String, _ year: String) throws {
        let read = HTTPDate.parse("Sunday, \(date) GMT", now: UnixTime(seconds: 1_700_000_000))
        #expect(HTTPDate.text(try #require(read)).contains(" \(year) "))
    }

    @Test("Dates are written as they are read")
    func roundTrip() {
        for seconds in stride(
            from: Int64(-62_135_596_800),
            through: 253_402_300_799,
            by: 86_400 * 97 + 12_345
        ) {
            let time = UnixTime(seconds: seconds)
            #expect(HTTPDate.parse(HTTPDate.text(time)) == time)
        }
    }
}
