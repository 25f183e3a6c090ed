@testable import SNIProbe
import Testing

@Suite("Dates in UTC")
struct UTCTests {
    @Test("Dates are those of the Gregorian calendar, also before 1970")
    func datesAreThoseOfTheGregorianCalendarAlsoBefore1970() {
        #expect(UTC.stamp(0) == "1970-01-01T00:00:00Z")
        #expect(UTC.stamp(-1) == "1969-12-31T23:59:59Z")
        #expect(UTC.stamp(951_782_400) == "2000-02-29T00:00:00Z")
        #expect(UTC.stamp(4_102_444_800) == "2100-01-01T00:00:00Z")
        #expect(UTC.stamp(milliseconds: 1_763_703_600_007) == "2025-11-21T05:40:00.007Z")
    }

    @Test("A time that was written is read again, and other texts are refused")
    func reading() {
        for seconds in stride(from: 0, to: 253_402_300_799, by: 86_399 * 397) {
            #expect(UTC.seconds(UTC.stamp(seconds)) == seconds)
            #expect(UTC.seconds(UTC.stamp(milliseconds: Int64(seconds) * 1000 + 999)) == seconds)
        }
        for text in [
            "", "2026-11-21", "2026-11-21T05:40:00", "2026-11-21 05:40:00Z", "2026-00-21T05:40:00Z", "２026",
        ] {
            #expect(UTC.seconds(text) == nil)
        }
    }
}
