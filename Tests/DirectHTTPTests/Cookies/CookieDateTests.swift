@testable import DirectCore
import DirectIO
@testable import DirectTransport
import Testing

@testable import DirectHTTP

@Suite("Dates of cookies")
struct CookieDateTests {
    @Test(
        "A time, a day, a month and a year are accepted in any order",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "6 nov 94 8:49:37", "1994 november 6 08:49:37x", "08:49:37 Nov 06 1994 and more",
            "\tNOV-6-1994/8:49:37",
            "Sun, 06 Nov 1994 08:49:37 GMT+0200", "6x Nov 1994x 08:49:37",
        ]
    )
    func accepted(text: String) {
        #expect(CookieDate.parse(text.utf8)?.seconds == 784_111_777)
    }

    @Test(
        "A date without one of its parts, or out of range, is refused",
        arguments: [
            "", "06 Nov 1994", "Nov 1994 08:49:37", "06 1994 08:49:37", "06 Nov 08:49:37", "06 Nov 1994 8:49",
            "32 Nov 1994 08:49:37", "31 Nov 1994 08:49:37", "29 Feb 2023 08:49:37", "0 Nov 1994 08:49:37",
            "06 Nov 1600 08:49:37", "06 Nov 1994 24:00:00", "06 Nov 1994 08:60:00", "06 Nov 1994 08:49:60",
            "06 Nov 19944 08:49:37", "006 Nov 1994 08:49:37", "06 No 1994 08:49:37", "06 Nov 1994 008:49:37",
            "06 Nov 1994 -8:49:037",
        ]
    )
    func refused(text: String) {
        #expect(CookieDate.parse(text.utf8) == nil)
    }

    @Test("Years of two digits lie between 1970 and 2069")
    func years() {
        func year(_ text: String) -> Int? {
            CookieDate.parse("1 Jan \(text) 00:00:00".utf8).map {
                CivilDay(daysSince1970: $0.seconds.floorDivided(by: 86_400).quotient).year
            }
        }
        #expect(year("70") == 1970)
        #expect(year("99") == 1999)
        #expect(year("00") == 2000)
        #expect(year("69") == 2069)
        #expect(year("169") == nil)
        #expect(year("1601") == 1601)
    }
}
