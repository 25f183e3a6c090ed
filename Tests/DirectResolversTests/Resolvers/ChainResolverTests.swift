import DirectTestResolvers
@testable import DirectCore
import DirectIO
import DirectTestCommands
import DirectTestTime
import TLSFixtures
import Testing

@testable import DirectHTTP
@testable import DirectResolvers

@Suite("Chains of resolvers", .idleLimit)
struct ChainResolverTests {
    private let time = HeldTime()
    private let good = ScriptedResolver("good", ["192.0.2.1"])
    private let broken = ScriptedResolver("broken", .malformed("TTL"))
    private let host = DomainName.test("a.test")

    private func chain(
        _ first: any Resolver,
        _ second: any Resolver,
        _ fallback: ChainResolver.Fallback = .onConnectFailure
    ) -> ChainResolver {
        ChainResolver(first, second, fallback: fallback)
    }

    @Test("The first resolver with an answer is enough, and the answer names it")
    func first() async throws {
        let chain = chain(good, broken)
        let answer = try await chain.resolve(host, port: 443, context: ResolveContext(on: .still))
        #expect(answer.source == .resolver("good"))
        #expect(broken.asked.isEmpty)
    }

    @Test(
        "A failure leads to the next resolver, unless the policy is `never`",
        arguments: [
            (ChainResolver.Fallback.onResolveFailure, true), (.onConnectFailure, true), (.never, false),
        ]
    )
    func policy(_ fallback: ChainResolver.Fallback, _ leadsOn: Bool) async throws {
        let chain = chain(broken, good, fallback)
        if leadsOn {
            #expect(try await chain.endpoints("a.test") == ["192.0.2.1"])
        } else {
            let error = try await resolverError { try await chain.endpoints("a.test") }
            #expect(error.description == "broken: the answer makes no sense: TTL")
            #expect(good.asked.isEmpty)
        }
    }

    @Test("An answer without addresses is a failure, and the system's resolver is not asked")
    func emptyAnswer() async throws {
        let empty = ScriptedResolver("empty", [])
        let error = try await resolverError { try await ChainResolver(empty).endpoints("a.test") }
        #expect(error.source == "empty" && error.denial == .noAddresses)
        #expect(try await chain(empty, good).endpoints("a.test") == ["192.0.2.1"])
        let client = HTTPClient.trusting { $0.resolver = empty }
        let failure = try #require(
            await #expect(throws: HTTPError.self) { try await client.get("http://localhost/") }
        )
        #expect(failure.description == "GET http://localhost/: resolve: empty: the name has no address")
    }

    @Test("If all resolvers fail, the error names them all")
    func allFail() async throws {
        let other = ScriptedResolver("other", .noSuchName)
        let error = try await resolverError { try await chain(broken, other).endpoints("a.test") }
        #expect(error.description == "other: the name does not exist; broken: the answer makes no sense: TTL")
        // The one before could not say whether there is none.
        #expect(error.denial == nil)
    }

    @Test("A resolver that does not answer leaves time for the next ones")
    func hanging() async throws {
        let gate = Barrier()
        defer { gate.open() }
        let chain = ChainResolver(hanging(gate), good, stepTimeout: .seconds(2))
        async let endpoints = chain.endpoints("a.test", on: time.loop)
        try await time.pass(.seconds(2))
        #expect(try await endpoints == ["192.0.2.1"])
    }

    /// A resolver that never answers, whatever its deadline.
    private func hanging(_ gate: Barrier) -> ScriptedResolver {
        ScriptedResolver("hanging") { _, _ in
            await gate.pass()
            throw CancellationError()
        }
    }

    @Test("A resolver that does not answer for several names leaves time for the next ones")
    func hangingBatch() async throws {
        let gate = Barrier()
        defer { gate.open() }
        let chain = ChainResolver(hanging(gate), good, stepTimeout: .seconds(2))
        let context = ResolveContext(on: time.loop)
        async let answers = chain.resolve([host, .test("b.test")], port: 443, context: context)
        try await time.pass(.seconds(2))
        let endpoints = await answers.values.map { try? $0.get().endpoints }
        #expect(endpoints == [["192.0.2.1"], ["192.0.2.1"]])
    }

    @Test("In a chain, a name without an answer in time does not cost the others theirs, which come at once")
    func hangingName() async throws {
        let gate = Barrier()
        defer { gate.open() }
        let first = ScriptedResolver("first") { host, _ in
            if host.text == "slow.test" { await gate.pass() }
            return Resolution(["192.0.2.1"], source: .resolver("first"))
        }
        let cache = CachingResolver(
            ChainResolver(first, ScriptedResolver("next", ["192.0.2.2"])),
            loop: time.loop
        )
        let names = ["slow.test", "a.test", "b.test"].map { DomainName.test($0) }
        let warming = Task { await cache.warmUp(names) }
        while cache.count < 2 { await Task.yield() }
        #expect(cache.contents.map(\.author) == [.resolver("first"), .resolver("first")])
        try await time.pass(.seconds(3))
        #expect(await warming.value.isEmpty)
        #expect(cache.contents.map(\.author) == [.resolver("first"), .resolver("first"), .resolver("next")])
    }

    @Test("In a warm-up the name without an answer in time is the only one that is reported")
    func hangingNameAlone() async throws {
        let gate = Barrier()
        defer { gate.open() }
        let service = ScriptedResolver("service") { host, _ in
            if host.text == "slow.test" { await gate.pass() }
            return Resolution(["192.0.2.1"], source: .resolver("service"))
        }
        let cache = CachingResolver(service, CachingResolver.Settings(), loop: time.loop)
        let warming = Task { [host] in await cache.warmUp([host, .test("slow.test")]) }
        while cache.count < 1 { await Task.yield() }
        try await time.pass(.seconds(10))
        let failures = await warming.value
        let late = try #require(failures[.test("slow.test")] as? ResolverError)
        guard case .timedOut(.seconds(10)) = late.reason else { throw late }
        #expect(failures.count == 1)
        #expect(cache.contents.map(\.host) == [host])
    }

    @Test("A step that is silent has its share of a time that is shorter than its limit, also behind a cache")
    func sharedTime() async throws {
        let gate = Barrier()
        defer { gate.open() }
        let chain = ChainResolver(hanging(gate), hanging(gate), good)
        for resolver in [chain, CachingResolver(chain, CachingResolver.Settings(), loop: time.loop)]
            as [any Resolver]
        {
            let context = ResolveContext(within: .seconds(3), on: time.loop)
            async let answer = resolver.resolve(host, port: 443, context: context)
            for _ in 0..<2 { try await time.pass(.seconds(1)) }
            #expect(try await answer.endpoints == ["192.0.2.1"])
        }
    }

    @Test(
        "A step that says it was cancelled, although nobody cancelled it, has failed like any other",
        arguments: [false, true]
    )
    func falseCancellation(isBatch: Bool) async throws {
        let odd = ScriptedResolver("odd") { _, _ in throw CancellationError() }
        let chain = chain(odd, good)
        let context = ResolveContext(on: .still)
        let answer =
            isBatch
            ? try await chain.resolve([host], port: 443, context: context)[host]?.get()
            : try await chain.resolve(host, port: 443, context: context)
        #expect(answer?.endpoints == ["192.0.2.1"] && answer?.failures.map(\.source) == ["odd"])
        let client = HTTPClient.trusting { $0.resolver = odd }
        let error = try #require(
            await #expect(throws: HTTPError.self) { try await client.get("http://a.test/") }
        )
        #expect(error.phase == .resolve)
    }

    @Test("The fallback of a resolver's own answer leaves time for the next resolver, too")
    func hangingFallback() async throws {
        let gate = Barrier()
        defer { gate.open() }
        let first = ScriptedResolver("first") { _, _ in
            var answer = Resolution(["192.0.2.9"], source: .resolver("first"))
            answer.fallback = { _ in
                await gate.pass()
                throw CancellationError()
            }
            return answer
        }
        let chain = ChainResolver(first, good, stepTimeout: .seconds(2))
        let context = ResolveContext(on: time.loop)
        let fallback = try #require(try await chain.resolve(host, port: 443, context: context).fallback)
        async let next = fallback(context)
        try await time.pass(.seconds(2))
        #expect(try await next?.endpoints == ["192.0.2.1"])
    }

    @Test("Only with `onConnectFailure` another resolver is asked when no address answers")
    func connectFailure() async throws {
        let next = ScriptedResolver("next", ["192.0.2.2"])
        let context = ResolveContext(on: .still)
        let stays = try await chain(good, next, .onResolveFailure)
            .resolve(host, port: 443, context: context)
        #expect(stays.fallback == nil)
        let answer = try await ChainResolver(good, broken, next)
            .resolve(host, port: 443, context: context)
        let fallback = try #require(answer.fallback)
        let second = try #require(try await fallback(context))
        #expect(second.source == .resolver("next") && second.fallback == nil)
    }

    @Test("A static map in a chain answers at once, and other names are passed to the next resolver")
    func map() async throws {
        let map = try StaticMap(curl: ["b.test:443:192.0.2.9"])
        let chain = chain(map, good)
        let context = ResolveContext(on: .still)
        #expect(
            try chain.knownAnswer(for: .test("b.test"), port: 443, context: context)?.source == .staticMap
        )
        #expect(try chain.knownAnswer(for: host, port: 443, context: context) == nil)
        #expect(try await chain.endpoints("a.test") == ["192.0.2.1"])
        #expect(throws: ResolverError.self) {
            try ChainResolver(map, fallback: .never).knownAnswer(for: host, port: 443, context: context)
        }
    }

    @Test("Cancelling ends the question with a cancellation, and no further resolver is asked")
    func cancellation() async throws {
        let gate = Barrier()
        let slow = ScriptedResolver("slow") { _, _ in
            await gate.pass()
            throw CancellationError()
        }
        let chain = chain(slow, good)
        let task = Task { try await chain.endpoints("a.test") }
        await gate.arrivals(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        gate.open()
        #expect(good.asked.isEmpty)
    }

    @Test(
        "An answer that a client refuses in part, and cannot reach for the rest, keeps its place in a cache"
    )
    func partlyRefused() async throws {
        let dead = try FixtureServer.refusing()
        let server = try FixtureServer.start { _ in .text("next") }
        let first = ScriptedResolver("first", [dead.endpoint, "10.0.0.1"], timeToLive: .seconds(60))
        let chain = ChainResolver(
            first,
            ScriptedResolver("next", [server.endpoint], timeToLive: .seconds(60))
        )
        let cache = CachingResolver(chain, .init(), loop: time.loop)
        let client = HTTPClient.trusting {
            $0.loop = time.loop
            $0.resolver = cache
            $0.vetting = AddressVetting { address, _, _ in
                "\(address)" == "10.0.0.1" ? AddressRefusal(address, "not here") : nil
            }
        }
        #expect(try await client.get("http://a.test/").text == "next")
        #expect(cache.contents.map(\.author) == [.resolver("first")])
    }

    @Test("All calls that refuse a part of an answer share the question for the one after it")
    func partlyRefusedByMany() async throws {
        let first = ScriptedResolver("first", ["192.0.2.1", "10.0.0.1"], timeToLive: .seconds(60))
        let next = ScriptedResolver("next", ["192.0.2.9"], timeToLive: .seconds(60))
        let cache = CachingResolver(ChainResolver(first, next), .init(), loop: time.loop)
        var context = ResolveContext(on: time.loop)
        let answer = try await cache.resolve(host, port: 443, context: context)
        context.isForCallerAlone = true
        for _ in 0..<3 {
            #expect(try await answer.fallback?(context)?.endpoints == ["192.0.2.9"])
            let known = try #require(try cache.knownAnswer(for: host, port: 443, context: context))
            #expect(known.endpoints == ["192.0.2.1", "10.0.0.1"])
            #expect(try await known.fallback?(context)?.endpoints == ["192.0.2.9"])
        }
        #expect(first.asked.count <= 2 && next.asked.count == 1)
    }

    @Test("Who refuses nothing joins no question of those who refuse a part of an answer")
    func askedBesidePartlyRefused() async throws {
        let gate = Barrier()
        let first = ScriptedResolver("first", ["192.0.2.1", "10.0.0.1"], timeToLive: .seconds(5))
        let next = ScriptedResolver("next") { _, _ in
            await gate.pass()
            return Resolution(["192.0.2.9"], timeToLive: .seconds(300), source: .resolver("next"))
        }
        let cache = CachingResolver(ChainResolver(first, next), .init(), loop: time.loop)
        let context = ResolveContext(on: time.loop)
        let answer = try await cache.resolve(host, port: 443, context: context)
        time.advance(by: .seconds(6))
        let refusing = Task {
            var context = context
            context.isForCallerAlone = true
            return try await answer.fallback?(context)?.endpoints
        }
        await gate.arrivals(1)
        let other = try await cache.resolve(host, port: 443, context: context)
        #expect(other.endpoints == ["192.0.2.1", "10.0.0.1"])
        gate.open()
        #expect(try await refusing.value == ["192.0.2.9"])
        #expect(cache.contents.map(\.author) == [.resolver("first")])
    }
}
