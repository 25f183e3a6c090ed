import DirectHTTP
import Testing

@testable import SNIProbe

@Suite("The queue of probes")
struct StartQueueTests {
    private func slot(_ address: String, port: UInt16 = 443) throws -> Slot {
        let host = try HTTPHost("a.test")
        let address = try #require(IPAddress(address))
        return Slot(
            .probe(Probe(target: ProbeTarget(host: host), address: address, port: port, source: .argument))
        )
    }

    private func moment(_ milliseconds: UInt64) -> Instant {
        Instant(nanoseconds: 1_000_000 * (milliseconds + 1000))
    }

    @Test("At most the given number of jobs run at once, and the end of one starts the next")
    func soManyRunAtOnceAndAnEndMakesRoom() throws {
        let queue = StartQueue(jobs: 2, rate: nil)
        let slots = try (1...4).map { try slot("127.0.0.\($0)") }
        slots.forEach(queue.add)
        #expect(queue.next(at: moment(0)) === slots[0])
        #expect(queue.next(at: moment(0)) === slots[1])
        #expect(queue.next(at: moment(0)) == nil)
        queue.ended(slots[1])
        #expect(queue.next(at: moment(1)) === slots[2])
        #expect(queue.next(at: moment(1)) == nil)
    }

    @Test("The pauses between rounds double, and the last round is at the end of the time")
    func roundsAreFurtherAndFurtherApartAndTheLastIsWhenTheTimeIsUp() throws {
        let slot = try slot("127.0.0.1")
        var now = moment(0)
        var rounds: [Instant] = []
        while let next = slot.nextRound(after: now, until: moment(20_000)) {
            rounds.append(next)
            now = next
        }
        #expect(rounds == [1000, 3000, 7000, 15_000, 20_000].map(moment))
    }

    @Test("At most eight probes of a server run at once, and others go ahead")
    func aServerIsAskedEightAtOnceAndOthersGoAhead() throws {
        let queue = StartQueue(jobs: 64, rate: nil)
        let slots = try (0..<10).map { _ in try slot("127.0.0.1") }
        let other = try slot("127.0.0.1", port: 8443)
        slots.forEach(queue.add)
        queue.add(other)
        for slot in slots[..<8] { #expect(queue.next(at: moment(0)) === slot) }
        #expect(queue.next(at: moment(0)) === other)
        #expect(queue.next(at: moment(0)) == nil)
        queue.ended(slots[3])
        #expect(queue.next(at: moment(1)) === slots[8])
        #expect(queue.next(at: moment(1)) == nil)
    }

    @Test("A probe that hangs holds up others for half a second at most")
    func oneThatHangsHoldsUpNobodyForLong() throws {
        let queue = StartQueue(jobs: 64, rate: nil)
        let slots = try (0..<17).map { _ in try slot("127.0.0.1") }
        slots.forEach(queue.add)
        for slot in slots[..<8] { #expect(queue.next(at: moment(0)) === slot) }
        #expect(queue.next(at: moment(100)) == nil)
        #expect(queue.timeUntilNext(at: moment(100)) == .milliseconds(400))
        for slot in slots[8..<16] { #expect(queue.next(at: moment(500)) != nil, "\(slot)") }
        #expect(queue.next(at: moment(500)) == nil)
        // The end of one that no longer counted frees nothing a second time.
        queue.ended(slots[0])
        #expect(queue.next(at: moment(501)) == nil)
        #expect(queue.next(at: moment(1000)) != nil)
    }

    @Test("The rate is kept, and unused time is not saved up")
    func theRateHoldsAndUnusedTimeIsNotSaved() throws {
        let queue = StartQueue(jobs: 64, rate: 10)
        let slots = try (1...4).map { try slot("127.0.0.\($0)") }
        slots.forEach(queue.add)
        #expect(queue.next(at: moment(0)) === slots[0])
        #expect(queue.next(at: moment(99)) == nil)
        #expect(queue.timeUntilNext(at: moment(60)) == .milliseconds(40))
        #expect(queue.next(at: moment(100)) === slots[1])
        #expect(queue.next(at: moment(5000)) === slots[2])
        #expect(queue.next(at: moment(5000)) == nil)
    }

    @Test("A probe with a start time does not start earlier")
    func whatIsToWaitStartsNoSooner() throws {
        let queue = StartQueue(jobs: 1, rate: nil)
        let late = try slot("127.0.0.1")
        queue.add(late, notBefore: moment(700))
        #expect(queue.next(at: moment(699)) == nil)
        #expect(queue.timeUntilNext(at: moment(600)) == .milliseconds(100))
        #expect(queue.next(at: moment(700)) === late)
    }
}
