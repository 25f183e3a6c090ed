import DirectHTTP
import DirectTestData
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
        let queue = StartQueue(.exactly(2), rate: nil)
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
        let queue = StartQueue(.exactly(64), rate: nil)
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

    @Test(
        "Probes that have received nothing for half a second make room for others, three each at a silent server"
    )
    func silentServer() throws {
        let queue = StartQueue(.init(jobs: 64, running: 1024), rate: nil)
        let slots = try (0..<300).map { _ in try slot("127.0.0.1") }
        slots.forEach(queue.add)
        #expect(queue.start(at: moment(0)) == 8)
        #expect(queue.timeUntilNext(at: moment(100)) == .milliseconds(400))
        #expect(!queue.beginRelease(at: moment(499)))
        var started = [8]
        for round in 1...4 {
            let now = moment(UInt64(round) * 500)
            queue.releaseSilent(at: now)
            started.append(queue.start(at: now))
        }
        #expect(started == [8, 24, 64, 64, 64])
        // The end of one that no longer counted makes no room.
        queue.ended(slots[0], hasAnswer: false)
        #expect(queue.start(at: moment(2001)) == 0)
        // An answer says that the server is not silent, so it is asked no more than others.
        queue.ended(slots[1])
        #expect(queue.start(at: moment(2001)) == 0)
        queue.releaseSilent(at: moment(2500))
        #expect(queue.start(at: moment(2500)) == 0)
    }

    @Test("At a server that has answered at most eight probes work and 64 run")
    func slowServer() throws {
        let queue = StartQueue(.init(jobs: 64, running: 1024), rate: nil)
        let slots = try (0..<300).map { _ in try slot("127.0.0.1") }
        slots.forEach(queue.add)
        #expect(queue.start(at: moment(0)) == 8)
        queue.ended(slots[0])
        var started = [8 + queue.start(at: moment(100))]
        for round in 1...10 {
            let now = moment(UInt64(round) * 1000)
            queue.releaseSilent(at: now)
            started.append(queue.start(at: now))
        }
        #expect(started == [9, 8, 8, 8, 8, 8, 8, 8, 0, 0, 0])
        queue.ended(slots[5])
        #expect(queue.start(at: moment(11_000)) == 1)
    }

    @Test(
        "A probe that receives data keeps counting, and one that waits does not, unless the number is given"
    )
    func activeProbes() throws {
        for running in [2, 3, 1024] {
            let queue = StartQueue(.init(jobs: 2, running: running), rate: nil)
            let slots = try (1...9).map { try slot("127.0.0.\($0)") }
            slots.forEach(queue.add)
            #expect(queue.start(at: moment(0)) == 2)
            slots[0].signs.add()
            let isGiven = running == 2
            #expect(queue.beginRelease(at: moment(500)) != isGiven)
            queue.release(silentAt: moment(500), now: moment(510))
            #expect(queue.start(at: moment(510)) == (isGiven ? 0 : 1))
            #expect(slots[0].standing == .working)
            #expect(queue.timeUntilNext(at: moment(610)) == (running == 1024 ? .milliseconds(400) : nil))
            // It has received nothing more by now, and neither has the third.
            queue.releaseSilent(at: moment(1010))
            #expect(queue.start(at: moment(1010)) == (running == 1024 ? 2 : 0))
        }
    }

    @Test("Only what was silent when the loops were asked is released, however late they answer")
    func lateAnswer() throws {
        let queue = StartQueue(.init(jobs: 2, running: 1024), rate: nil)
        let slots = try (1...5).map { try slot("127.0.0.\($0)") }
        slots[..<1].forEach(queue.add)
        #expect(queue.start(at: moment(0)) == 1)
        slots[1...].forEach(queue.add)
        #expect(queue.start(at: moment(300)) == 1)
        #expect(queue.beginRelease(at: moment(600)))
        // While they are asked, they are not asked again, and there is nothing to wake for.
        #expect(!queue.beginRelease(at: moment(700)))
        #expect(queue.timeUntilNext(at: moment(700)) == nil)
        queue.release(silentAt: moment(600), now: moment(5000))
        #expect(slots[0].standing == .waiting)
        #expect(slots[1].standing == .working)
        #expect(queue.start(at: moment(5000)) == 1)
        #expect(queue.timeUntilNext(at: moment(5000)) == .zero)
    }

    @Test("The rate and the pauses between rounds hold for probes that start in place of waiting ones")
    func releaseAndRate() throws {
        let queue = StartQueue(.init(jobs: 1, running: 1024), rate: 10)
        let slots = try (1...3).map { try slot("127.0.0.\($0)") }
        slots[..<2].forEach(queue.add)
        queue.add(slots[2], notBefore: moment(2000))
        #expect(queue.start(at: moment(0)) == 1)
        queue.releaseSilent(at: moment(500))
        #expect(queue.start(at: moment(500)) == 1)
        queue.ended(slots[0], hasAnswer: false)
        queue.ended(slots[1], hasAnswer: false)
        #expect(queue.timeUntilNext(at: moment(600)) == .milliseconds(1400))
        #expect(queue.start(at: moment(2000)) == 1)
        queue.ended(slots[2], hasAnswer: false)
        queue.ended(slots[2])
        slots.forEach(queue.add)
        #expect(queue.start(at: moment(3000)) == 1)
    }

    @Test("Under random use the limits hold, and each slot starts once", arguments: 0..<20)
    func randomUse(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let queue = StartQueue(.init(jobs: 10, running: 40), rate: nil)
        let slots = try (0..<400).map { _ in try slot("127.0.0.\(random.below(5) + 1)") }
        slots.forEach(queue.add)
        var time: UInt64 = 0
        var running: [Slot] = []
        var started: Set<ObjectIdentifier> = []
        while started.count < slots.count || !running.isEmpty {
            time += UInt64(random.below(300))
            while let slot = queue.next(at: moment(time)) {
                #expect(slot.standing == .working)
                running.append(slot)
                #expect(started.insert(ObjectIdentifier(slot)).inserted)
            }
            #expect(running.count { $0.standing == .working } <= 10)
            #expect(running.count <= 40)
            if random.below(3) == 0 { running.randomElement(using: &random)?.signs.add() }
            queue.releaseSilent(at: moment(time))
            guard random.below(2) == 0 || started.count == slots.count, !running.isEmpty else { continue }
            queue.ended(running.remove(at: random.below(running.count)), hasAnswer: random.below(4) == 0)
        }
        #expect(queue.timeUntilNext(at: moment(time)) == nil)
    }

    @Test("The rate is kept, and unused time is not saved up")
    func theRateHoldsAndUnusedTimeIsNotSaved() throws {
        let queue = StartQueue(.exactly(64), rate: 10)
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
        let queue = StartQueue(.exactly(1), rate: nil)
        let late = try slot("127.0.0.1")
        queue.add(late, notBefore: moment(700))
        #expect(queue.next(at: moment(699)) == nil)
        #expect(queue.timeUntilNext(at: moment(600)) == .milliseconds(100))
        #expect(queue.next(at: moment(700)) === late)
    }
}

extension StartQueue.Limits {
    /// As with `--jobs`.
    fileprivate static func exactly(_ jobs: Int) -> Self { .init(jobs: jobs, running: jobs) }
}

extension StartQueue {
    /// Starts all that may start, and returns their number.
    fileprivate func start(at now: Instant) -> Int {
        var count = 0
        while next(at: now) != nil { count += 1 }
        return count
    }

    /// Releases the probes that are silent, by loops that have nothing to catch up on.
    fileprivate func releaseSilent(at now: Instant) {
        if beginRelease(at: now) { release(silentAt: now, now: now) }
    }
}
