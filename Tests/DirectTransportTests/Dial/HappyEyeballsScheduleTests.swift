@testable import DirectCore
import DirectIO
@testable import DirectTransport
import Testing

@Suite("The schedule of a race")
struct RaceScheduleTests {
    private func at(_ milliseconds: UInt64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    private func schedule(_ count: Int, end: Instant = .never) -> HappyEyeballsSchedule {
        HappyEyeballsSchedule(count: count, stagger: 250_000_000, end: end)
    }

    @Test("The first attempt begins at once, each other one a stagger after the previous one")
    func stagger() {
        var schedule = schedule(3)
        #expect(schedule.next(at: at(1000)) == .begin(0))
        #expect(schedule.next(at: at(1000)) == .wait(until: at(1250)))
        #expect(schedule.next(at: at(1249)) == .wait(until: at(1250)))
        #expect(schedule.next(at: at(1260)) == .begin(1))
        #expect(schedule.next(at: at(1260)) == .wait(until: at(1510)))
        #expect(schedule.next(at: at(1510)) == .begin(2))
        #expect(schedule.next(at: at(1511)) == .wait(until: .never))
    }

    @Test("After a failure the next attempt begins at once, and the one after it waits for a stagger")
    func failure() {
        var schedule = schedule(3)
        #expect(schedule.next(at: at(1000)) == .begin(0))
        schedule.noteEnd(isDecisive: false)
        #expect(schedule.next(at: at(1010)) == .begin(1))
        #expect(schedule.next(at: at(1010)) == .wait(until: at(1260)))
    }

    @Test(
        "While more addresses may come a race without attempts goes on, and the next one begins a stagger after the last"
    )
    func incomplete() {
        var schedule = HappyEyeballsSchedule(count: 1, stagger: 250_000_000, end: at(9000), isComplete: false)
        #expect(schedule.next(at: at(0)) == .begin(0))
        #expect(schedule.next(at: at(100)) == .wait(until: .never))
        schedule.extend(count: 3, late: 0, isComplete: true)
        #expect(schedule.next(at: at(200)) == .wait(until: at(250)))
        #expect(schedule.next(at: at(250)) == .begin(1))

        var failed = HappyEyeballsSchedule(count: 1, stagger: 250_000_000, end: at(9000), isComplete: false)
        #expect(failed.next(at: at(0)) == .begin(0))
        failed.noteEnd(isDecisive: false)
        #expect(failed.next(at: at(10)) == .wait(until: at(9000)))
        failed.extend(count: 2, late: 0, isComplete: true)
        #expect(failed.next(at: at(20)) == .begin(1))
        failed.noteEnd(isDecisive: false)
        #expect(failed.next(at: at(30)) == .over)
    }

    @Test("Addresses that come later follow those that have been tried, without repeating them")
    func following() {
        let (a, b, c, d): (Endpoint, Endpoint, Endpoint, Endpoint) = (
            "192.0.2.1:1", "192.0.2.2:1", "[2001:db8::1]:1", "[2001:db8::2]:1"
        )
        let all = HappyEyeballs.Candidates(endpoints: [c, b, d, a], late: 2)
        let next = all.following([a])
        #expect(next.endpoints == [a, c, b, d] && next.late == 1)
    }

    @Test("A late address is tried when all others have failed, or two seconds after the last began")
    func late() {
        var slow = HappyEyeballsSchedule(count: 3, late: 1, stagger: 250_000_000, end: .never)
        #expect(slow.next(at: at(0)) == .begin(0))
        #expect(slow.next(at: at(250)) == .begin(1))
        slow.noteEnd(isDecisive: false)
        #expect(slow.next(at: at(300)) == .wait(until: at(2250)))
        #expect(slow.next(at: at(2250)) == .begin(2))

        var failed = HappyEyeballsSchedule(count: 2, late: 1, stagger: 250_000_000, end: .never)
        #expect(failed.next(at: at(0)) == .begin(0))
        failed.noteEnd(isDecisive: false)
        #expect(failed.next(at: at(10)) == .begin(1))
    }

    @Test("The race ends with a success or with the last failure")
    func over() {
        var decided = schedule(2)
        #expect(decided.next(at: at(0)) == .begin(0))
        decided.noteEnd(isDecisive: true)
        #expect(decided.next(at: at(0)) == .over)

        var failed = schedule(2)
        #expect(failed.next(at: at(0)) == .begin(0))
        #expect(failed.next(at: at(250)) == .begin(1))
        failed.noteEnd(isDecisive: false)
        #expect(failed.next(at: at(260)) == .wait(until: .never))
        failed.noteEnd(isDecisive: false)
        #expect(failed.next(at: at(270)) == .over)
        var none = schedule(0)
        #expect(none.next(at: at(0)) == .over)
    }

    @Test("No attempt begins after the deadline, and running ones are awaited")
    func end() {
        var schedule = schedule(3, end: at(1100))
        #expect(schedule.next(at: at(1000)) == .begin(0))
        #expect(schedule.next(at: at(1200)) == .wait(until: .never))
        schedule.noteEnd(isDecisive: false)
        #expect(schedule.next(at: at(1200)) == .over)
    }

    @Test("If the addresses come at the end of the call, none is dialled and the call has timed out")
    func addressesAtTheEnd() async throws {
        let dialler = Dialler(DialConfiguration())
        let url = try HTTPURL("http://a.test/")
        let timeouts = Timeouts(total: .seconds(3)).nanoseconds
        // Nothing listens there; an attempt would fail.
        let route = Route.chosen(["127.0.0.2:1", "127.0.0.3:1"], port: 80, source: .request)
        let failure = await #expect(throws: DialFailure.self) {
            try await dialler.dial(
                ConnectionTarget(url, route: route),
                within: CallLimit(timeouts, until: Instant(nanoseconds: 1))
            )
        }
        guard case .failed(.resolve, .timedOut(after: .seconds(3)))? = failure?.cause else {
            Issue.record("\(failure as Any)")
            return
        }
        #expect(failure?.attempts.isEmpty == true)
    }

    @Test("The stagger is clamped to between 100 ms and 2 s")
    func bounds() {
        var settings = DiallingSettings()
        #expect(settings.staggerNanoseconds == 250_000_000)
        settings.stagger = .milliseconds(1)
        #expect(settings.staggerNanoseconds == 100_000_000)
        settings.stagger = .seconds(60)
        #expect(settings.staggerNanoseconds == 2_000_000_000)
    }
}
