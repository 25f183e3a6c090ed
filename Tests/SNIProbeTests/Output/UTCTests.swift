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
}
