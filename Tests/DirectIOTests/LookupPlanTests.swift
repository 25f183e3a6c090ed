@testable import DirectCore
import DirectTestData
import Testing

@testable import DirectIO

@Suite("The plan of the system's look-ups")
struct LookupPlanTests {

    @Test("Callers for one name share one call, and get its answer in the order of arrival")
    func sharing() throws {
        let plan = Plan()
        for asker in 1...3 { _ = plan.ask("a.test", asker) }
        let call = try #require(plan.nextCall())
        #expect(call.name == "a.test")
        _ = plan.ask("a.test", 4)
        #expect(plan.nextCall() == nil)
        #expect(plan.end(call) == [1, 2, 3, 4])
        #expect(plan.askerCount == 0)
        #expect(plan.nextCall() == nil)
    }

    @Test("Names are resolved in the order of arrival")
    func order() {
        let plan = Plan()
        for name in ["c.test", "a.test", "b.test"] { _ = plan.ask(name, 0) }
        #expect(plan.calls().map(\.name) == ["c.test", "a.test", "b.test"])
    }

    @Test("A call without callers is never begun")
    func abandoned() {
        let plan = Plan()
        let tickets = [plan.ask("a.test", 1), plan.ask("a.test", 2)]
        plan.leave(tickets[0])
        plan.leave(tickets[1])
        plan.leave(tickets[1])
        #expect(plan.nextCall() == nil)
    }

    @Test("A new caller after an abandoned call gets a new call, up to four at a time for a name")
    func perName() throws {
        let plan = Plan()
        var running: [Plan.Call] = []
        for asker in 1...4 {
            let ticket = plan.ask("hangs.test", asker)
            running.append(try #require(plan.nextCall()))
            plan.leave(ticket)
        }
        let late = plan.ask("hangs.test", 5)
        _ = plan.ask("hangs.test", 6)
        #expect(plan.nextCall() == nil)
        plan.leave(late)
        // Any of the four that ends after all has the answer.
        #expect(plan.end(running[2]) == [6])
        _ = plan.ask("hangs.test", 7)
        #expect(plan.nextCall() != nil)
        #expect(plan.nextCall() == nil)
    }

    @Test("Names that hang leave room for a name that was resolved before")
    func reserve() throws {
        let plan = Plan()
        _ = plan.ask("good.test", 0)
        #expect(plan.end(try #require(plan.nextCall())) == [0])
        for number in 1...100 { _ = plan.ask("slow\(number).test", number) }
        #expect(plan.calls().count == 12)
        _ = plan.ask("good.test", 101)
        let call = try #require(plan.nextCall())
        #expect(call.name == "good.test")
        #expect(plan.end(call) == [101])
    }

    @Test("A name whose call was abandoned loses its reserved room")
    func disgrace() throws {
        let plan = Plan()
        _ = plan.ask("good.test", 0)
        _ = plan.end(try #require(plan.nextCall()))
        let ticket = plan.ask("good.test", 0)
        let hung = try #require(plan.nextCall())
        plan.leave(ticket)
        _ = plan.end(hung)
        for number in 1...100 { _ = plan.ask("slow\(number).test", number) }
        _ = plan.calls()
        _ = plan.ask("good.test", 0)
        #expect(plan.nextCall() == nil)
    }

    @Test("Abandoned calls make room for others, up to the limit of threads")
    func room() throws {
        let plan = Plan()
        var running: [Plan.Call] = []
        for round in 0..<10 {
            let tickets = (0..<12).map { plan.ask("slow\(round)-\($0).test", 0) }
            running += plan.calls()
            for ticket in tickets { plan.leave(ticket) }
        }
        // All but the four threads that are kept for names that are known to be answered.
        #expect(running.count == 60)
        _ = plan.ask("other.test", 1)
        #expect(plan.nextCall() == nil)
        #expect(plan.end(running[0]).isEmpty)
        #expect(plan.nextCall()?.name == "other.test")
    }

    @Test("A call that takes longer than a second makes room for another, up to the limit of threads")
    func patience() throws {
        let plan = Plan()
        for number in 0..<100 { _ = plan.ask("slow\(number).test", number) }
        #expect(plan.calls().count == 12)
        plan.now = plan.now.advanced(byNanoseconds: 999_999_999)
        #expect(plan.calls().isEmpty)
        plan.now = plan.now.advanced(byNanoseconds: 1)
        #expect(plan.calls().count == 12)
        for _ in 0..<10 {
            plan.now = plan.now.advanced(byNanoseconds: 1_000_000_000)
            _ = plan.calls()
        }
        #expect(plan.callCount == 60)
    }

    @Test("A slow call still answers all its callers, and its end makes no room a second time")
    func slowAnswer() throws {
        let plan = Plan(.init(awaited: 2, reserved: 0))
        _ = plan.ask("slow.test", 1)
        let slow = try #require(plan.nextCall())
        plan.now = plan.now.advanced(byNanoseconds: 1_000_000_000)
        _ = plan.ask("slow.test", 2)
        for number in 3...6 { _ = plan.ask("\(number).test", number) }
        #expect(plan.calls().map(\.name) == ["3.test", "4.test"])
        #expect(plan.end(slow) == [1, 2])
        #expect(plan.nextCall() == nil)
    }

    @Test("A caller is told whether its call has been started, and when")
    func progress() throws {
        let plan = Plan(.init(awaited: 1, reserved: 0))
        let first = plan.ask("a.test", 1)
        let second = plan.ask("b.test", 2)
        #expect(plan.progress(of: first) == .queued)
        let call = try #require(plan.nextCall())
        #expect(plan.progress(of: first) == .called(plan.now))
        #expect(plan.progress(of: second) == .queued)
        _ = plan.end(call)
        #expect(plan.progress(of: first) == nil)
        plan.now = plan.now.advanced(byNanoseconds: 7)
        _ = plan.nextCall()
        #expect(plan.progress(of: second) == .called(plan.now))
    }

    @Test("A call from before `forgetAll` answers no caller that came after it")
    func forgetting() throws {
        let plan = Plan()
        _ = plan.ask("a.test", 1)
        let old = try #require(plan.nextCall())
        plan.forgetAll()
        _ = plan.ask("a.test", 2)
        let new = try #require(plan.nextCall())
        #expect(plan.end(old) == [1])
        #expect(plan.nextCall() == nil)
        #expect(plan.end(new) == [2])
    }

    @Test("With four old calls, a caller after `forgetAll` gets a call when one of them has ended")
    func forgettingAtTheLimit() throws {
        let plan = Plan()
        let old = try (0..<4).map { _ in
            let ticket = plan.ask("a.test", 1)
            let call = try #require(plan.nextCall())
            plan.leave(ticket)
            return call
        }
        plan.forgetAll()
        _ = plan.ask("a.test", 2)
        #expect(plan.nextCall() == nil)
        #expect(plan.end(old[0]).isEmpty)
        #expect(plan.end(try #require(plan.nextCall())) == [2])
    }

    @Test("Callers that give up one after the other do not make room for a call each")
    func manyGiveUp() {
        let plan = Plan()
        let tickets = (0..<160).map { number in
            plan.now = Instant(nanoseconds: 1000 + UInt64(number))
            return plan.ask("slow\(number).test", number, idleTime: 10_000)
        }
        var begun = plan.calls().count
        for (number, ticket) in tickets.enumerated() {
            plan.now = Instant(nanoseconds: 11_000 + UInt64(number))
            plan.leave(ticket)
            begun += plan.calls().count
        }
        #expect(begun == 12)
        _ = plan.ask("other.test", 0, idleTime: 10_000)
        #expect(plan.nextCall()?.name == "other.test")
    }

    @Test("A new caller for a name with an overdue call gets a call for both")
    func joiningLate() {
        let plan = Plan(.init(awaited: 3, reserved: 2))
        let stuck = plan.ask("slow.test", 0)
        #expect(plan.calls().count == 1)
        _ = plan.ask("a.test", 1, idleTime: 10_000)
        plan.now = plan.now.advanced(byNanoseconds: 9_500)
        plan.leave(stuck)
        #expect(plan.nextCall() == nil)
        _ = plan.ask("a.test", 2, idleTime: 10_000)
        let call = plan.nextCall()
        #expect(call.map { plan.end($0) } == [1, 2])
    }

    @Test("Under random use the limits hold and each remaining caller is answered", arguments: 0..<20)
    func randomUse(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let plan = Plan(.init(awaited: 6, reserved: 2, perName: 2, threads: 10))
        var waiting: [Int: Plan.Ticket] = [:]
        var running: [Plan.Call] = []
        for step in 0..<2000 {
            switch random.below(10) {
            case 0..<5: waiting[step] = plan.ask("\(random.below(12)).test", step)
            case 5..<7:
                guard let (asker, ticket) = waiting.randomElement(using: &random) else { break }
                plan.leave(ticket)
                waiting[asker] = nil
            case 7..<9 where !running.isEmpty:
                for asker in plan.end(running.remove(at: random.below(running.count))) {
                    #expect(waiting.removeValue(forKey: asker) != nil, "step \(step)")
                }
            case 9 where random.below(20) == 0: plan.forgetAll()
            default: break
            }
            running += plan.calls()
            if random.below(4) == 0 { plan.now = plan.now.advanced(byNanoseconds: 300_000_000) }
            #expect(running.count <= 10)
            #expect(Dictionary(grouping: running, by: \.name).values.allSatisfy { $0.count <= 2 })
            #expect(plan.askerCount == waiting.count)
        }
        while !running.isEmpty {
            for asker in plan.end(running.removeFirst()) { waiting[asker] = nil }
            running += plan.calls()
        }
        #expect(waiting.isEmpty)
        #expect(plan.askerCount == 0)
    }
}

/// The plan, as something that a macro may change.
private final class Plan {
    typealias Call = LookupPlan<Int>.Call
    typealias Ticket = LookupPlan<Int>.Ticket

    private var plan: LookupPlan<Int>

    init(_ limits: LookupPlan<Int>.Limits = .init()) {
        plan = LookupPlan(limits)
    }

    var askerCount: Int { plan.askerCount }

    /// The clock, for plans in which time counts.
    var now = Instant(nanoseconds: 1000)

    func ask(_ name: String, _ asker: Int, idleTime: UInt64 = .max) -> Ticket {
        plan.ask(name, asker: asker, until: now.advanced(byNanoseconds: idleTime), at: now)
    }

    /// The number of calls that were started and have not ended.
    private(set) var callCount = 0

    func leave(_ ticket: Ticket) { plan.leave(ticket) }
    func progress(of ticket: Ticket) -> LookupPlan<Int>.Progress? { plan.progress(of: ticket) }

    func nextCall() -> Call? {
        let call = plan.nextCall(at: now)
        if call != nil { callCount += 1 }
        return call
    }

    func end(_ call: Call) -> [Int] {
        callCount -= 1
        return plan.end(call)
    }

    func forgetAll() { plan.forgetAll() }

    /// All calls that are to be made now.
    func calls() -> [Call] {
        var calls: [Call] = []
        while let call = nextCall() { calls.append(call) }
        return calls
    }
}
