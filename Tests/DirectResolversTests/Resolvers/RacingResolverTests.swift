import DirectTestResolvers
@testable import DirectCore
import DirectIO
import DirectTestCommands
import DirectTestTime
import Testing

@testable import DirectHTTP
@testable import DirectResolvers

@Suite("Races of resolvers", .idleLimit)
struct RacingResolverTests {
    private let time = HeldTime()
    private let good = ScriptedResolver("good", ["192.0.2.1"])
    private let broken = ScriptedResolver("broken", .malformed("TTL"))
    private let host = DomainName.test("a.test")

    /// One that does not answer until the gate is opened, even if it is cancelled.
    private func deaf(_ gate: Barrier) -> ScriptedResolver {
        ScriptedResolver("deaf") { _, _ in
            await gate.pass()
            return Resolution(["192.0.2.9"], source: .resolver("deaf"))
        }
    }

    @Test("The first answer wins the race without waiting for others that ignore their cancellation")
    func first() async throws {
        let gate = Barrier()
        defer { gate.open() }
        let race = RacingResolver(deaf(gate), broken, good)
        let answer = try await race.resolve(host, port: 443, context: ResolveContext(on: .still))
        #expect(answer.endpoints == ["192.0.2.1"] && answer.source == .resolver("good"))
    }

    @Test("If all resolvers fail, the error names them all, and is a denial only if all have denied")
    func allFail() async throws {
        let none = ScriptedResolver("none", .noSuchName)
        let error = try await resolverError { try await RacingResolver(broken, none).endpoints("a.test") }
        #expect(error.description.contains("none: the name does not exist"))
        #expect(error.description.contains("broken: the answer makes no sense: TTL"))
        #expect(error.denial == nil)
        let empty = ScriptedResolver("empty", [])
        let denial = try await resolverError { try await RacingResolver(empty, none).endpoints("a.test") }
        #expect(denial.denial != nil)
    }

    @Test("A race ends with its deadline, and when its last caller gives up")
    func stops() async throws {
        let gate = Barrier()
        defer { gate.open() }
        let race = RacingResolver(deaf(gate), deaf(gate))
        async let failure = resolverError { try await race.endpoints("a.test", on: time.loop) }
        try await time.pass(.seconds(10))
        let error = try await failure
        guard case .timedOut = error.reason else {
            Issue.record("\(error)")
            return
        }
        let task = Task { try await race.endpoints("a.test") }
        await gate.arrivals(4)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("A race knows what one of its resolvers knows, and asks as long as one may have an answer")
    func known() throws {
        let map = try StaticMap(curl: ["b.test:443:192.0.2.9"])
        let race = RacingResolver(good, map)
        let context = ResolveContext(on: .still)
        #expect(try race.knownAnswer(for: .test("b.test"), port: 443, context: context)?.source == .staticMap)
        #expect(try race.knownAnswer(for: host, port: 443, context: context) == nil)
        #expect(throws: ResolverError.self) {
            try RacingResolver(map, map).knownAnswer(for: host, port: 443, context: context)
        }
    }

    @Test("A race that forgets all makes each of its resolvers forget")
    func forgetting() async throws {
        let caches = [good, broken].map { CachingResolver($0, CachingResolver.Settings(), loop: .still) }
        let race = RacingResolver(caches[0], caches[1])
        for _ in 0..<2 { #expect(try await race.endpoints("a.test") == ["192.0.2.1"]) }
        #expect(good.asked.count == 1)
        race.forgetAll()
        #expect(try await race.endpoints("a.test") == ["192.0.2.1"] && good.asked.count == 2)
    }

    @Test("A race reports the results of dialling to all resolvers")
    func feedback() {
        let race = RacingResolver(good, broken)
        race.report(.connected(after: .zero), of: "192.0.2.1", for: host, port: 443)
        #expect(good.reported.count == 1 && broken.reported.count == 1)
    }
}
