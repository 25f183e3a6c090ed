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

    static let texts: [(Duration, String)] = [
        (.zero, "0 ns"), (.nanoseconds(999), "999 ns"), (.nanoseconds(99_994), "100 µs"),
        (.microseconds(1500), "1.5 ms"),
        (.nanoseconds(1_045_000), "1.05 ms"), (.nanoseconds(999_500), "1 ms"),
        (.nanoseconds(999_499), "999 µs"),
        (.milliseconds(200), "200 ms"), (.nanoseconds(997_378_182), "997 ms"), (.milliseconds(-40), "-40 ms"),
        (.seconds(1), "1 s"), (.milliseconds(12_340), "12.3 s"), (.seconds(60), "60 s"),
        (.milliseconds(119_900), "120 s"),
        (.seconds(120), "2 min"), (.milliseconds(120_500), "121 s"), (.seconds(3600), "60 min"),
        (.seconds(Int64.max), "18446744074 s"), (.seconds(Int64.min), "-18446744074 s"),
    ]

    @Test("A duration is written with a unit and at most three digits", arguments: texts)
    func text(_ example: (duration: Duration, text: String)) {
        #expect(example.duration.text == example.text)
    }
}
