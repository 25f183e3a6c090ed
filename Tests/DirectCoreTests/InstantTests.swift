@testable import DirectCore
import Testing

@Suite("Instants")
struct InstantTests {
    @Test("The clock never goes back")
    func monotonic() {
        var last = Instant.now
        for _ in 0..<1000 {
            let now = Instant.now
            #expect(now >= last)
            last = now
        }
        #expect(last < .never)
    }

    @Test("A time beyond the largest instant is the largest instant")
    func advanced() {
        #expect(Instant(nanoseconds: 5).advanced(byNanoseconds: 7) == Instant(nanoseconds: 12))
        #expect(Instant(nanoseconds: 5).advanced(byNanoseconds: .max) == .never)
        #expect(Instant.never.advanced(byNanoseconds: 1) == .never)
        #expect(Instant(nanoseconds: 5).advanced(byNanoseconds: .max - 6).nanoseconds == UInt64.max - 1)
    }

    @Test("The time since a later instant is zero")
    func since() {
        let (early, late) = (Instant(nanoseconds: 10), Instant(nanoseconds: 1_000_000_010))
        #expect(late.since(early) == .seconds(1))
        #expect(early.since(late) == .zero)
        #expect(Instant.never.since(Instant(nanoseconds: 0)) == .nanoseconds(Int64.max))
    }

    static let durations: [(Duration, UInt64)] = [
        (.zero, 0),
        (.nanoseconds(1), 1),
        (.milliseconds(1500), 1_500_000_000),
        (Duration(secondsComponent: 0, attosecondsComponent: 999_999_999), 0),
        (.seconds(-1), 0),
        (.nanoseconds(-1), 0),
        (.seconds(18_446_744_073), 18_446_744_073_000_000_000),
        (.seconds(18_446_744_074), .max),
        (.seconds(Int64.max), .max),
    ]

    @Test("A duration is clamped into one word", arguments: durations)
    func clamped(_ example: (duration: Duration, nanoseconds: UInt64)) {
        #expect(example.duration.clampedNanoseconds == example.nanoseconds)
    }
}
