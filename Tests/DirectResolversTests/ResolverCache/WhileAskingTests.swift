import DirectTestResolvers
@testable import DirectCore
import DirectIO
import DirectTestCommands
import DirectTestTime
import TLSFixtures
import Testing

@testable import DirectHTTP
@testable import DirectResolvers

@Suite("Answers while the resolver is asked", .idleLimit)
struct WhileAskingTests {
    private let time = HeldTime()
    private let host = DomainName.test("a.test")
    private let local = ScriptedResolver("local", ["192.0.2.99"])

    private func cache(
        _ upstream: any Resolver,
        _ configure: (inout CachingResolver.Settings) -> Void = { _ in }
    )
        -> CachingResolver
    {
        var settings = CachingResolver.Settings()
        settings.whileAsking = .use(local)
        configure(&settings)
        return CachingResolver(upstream, settings, loop: time.loop)
    }

    private func answer(_ cache: CachingResolver) async throws -> Resolution {
        try await cache.resolve(host, port: 443, context: ResolveContext(on: time.loop))
    }

    @Test("The first caller gets the other resolver's answer without waiting, and later ones the resolver's")
    func nextTime() async throws {
        let gate = Barrier()
        let upstream = ScriptedResolver("httpdns") { _, _ in
            await gate.pass()
            return Resolution(["192.0.2.1"], timeToLive: .seconds(60), source: .resolver("httpdns"))
        }
        let cache = cache(upstream)
        #expect(try await answer(cache).source == .resolver("local"))
        #expect(try await answer(cache).endpoints == ["192.0.2.99"])
        await gate.arrivals(1)
        gate.open()
        while cache.count < 1 { await Task.yield() }
        let later = try await answer(cache)
        #expect(
            later.endpoints == ["192.0.2.1"] && later.source == AddressSource(.resolver("httpdns"), .cached)
        )
        // The two first callers shared one question, and the other resolver's answers were not kept.
        #expect(upstream.asked.count == 1 && local.asked.count == 2)
    }

    @Test("Expired answers are not used, unless the cache may use stale ones")
    func expired() async throws {
        let gate = Barrier()
        defer { gate.open() }
        for staleTime in [Duration.zero, .seconds(600)] {
            let isFirst = Locked(true)
            let upstream = ScriptedResolver("httpdns") { _, _ in
                if !isFirst.withLock({ isFirst in
                    defer { isFirst = false }
                    return isFirst
                }) {
                    await gate.pass()
                }
                return Resolution(["192.0.2.1"], timeToLive: .seconds(60), source: .resolver("httpdns"))
            }
            let cache = cache(upstream) { $0.staleTime = staleTime }
            await cache.warmUp([host])
            time.advance(by: .seconds(61))
            let answer = try await answer(cache)
            #expect(answer.endpoints == [staleTime > .zero ? "192.0.2.1" : "192.0.2.99"])
        }
    }

    @Test("The other resolver also answers for names without an address, and if the resolver fails")
    func failures() async throws {
        for reason: ResolverError.Reason in [.noSuchName, .noAddresses, .refused("busy")] {
            let upstream = ScriptedResolver("httpdns", reason)
            let cache = cache(upstream)
            await cache.warmUp([host])
            #expect(try await answer(cache).endpoints == ["192.0.2.99"])
            if case .refused = reason { continue }
            // A valid negative answer is not asked for again.
            #expect(upstream.asked.count == 1)
        }
        let none = ScriptedResolver("httpdns", .noSuchName)
        let cache = CachingResolver(none, { $0.whileAsking = .use(ScriptedResolver("local", .noSuchName)) })
        let error = try await resolverError {
            try await cache.resolve(host, port: 443, context: ResolveContext(on: .still))
        }
        #expect(error.source == "local")
    }

    @Test(
        "If no cached endpoint can be reached, the other resolver's come next, and the resolver is asked again"
    )
    func unreachable() async throws {
        let dead = try FixtureServer.refusing()
        let good = try FixtureServer.start(on: "127.0.0.2") { _ in .text("good") }
        let upstream = ScriptedResolver("httpdns", [dead.endpoint], timeToLive: .seconds(60))
        let cache = cache(upstream) { $0.whileAsking = .use(ScriptedResolver("local", [good.endpoint])) }
        await cache.warmUp([host])
        time.advance(by: .seconds(5))
        let client = HTTPClient.trusting {
            $0.loop = time.loop
            $0.resolver = cache
        }
        let response = try await client.get("http://a.test/")
        #expect(response.text == "good" && response.transaction?.source == .resolver("local"))
        // It is asked in the background, which may begin after the response.
        while upstream.asked.count < 2 { await Task.yield() }
    }

    @Test(
        "What the other resolver may do, the cache may do, and both hear of outcomes and of another network"
    )
    func passing() async throws {
        let upstream = ScriptedResolver("httpdns", ["192.0.2.1"])
        let alone = CachingResolver(upstream)
        let joined = CachingResolver(upstream) { $0.whileAsking = .use(SystemResolver()) }
        #expect(!alone.mayAskSystem && joined.mayAskSystem)
        let cache = cache(upstream)
        cache.report(.success(.zero), of: "192.0.2.1", for: host, port: 443)
        #expect(upstream.reported.count == 1 && local.reported.count == 1)
        let inner = CachingResolver(ScriptedResolver("inner", ["192.0.2.2"]), .init(), loop: .still)
        await inner.warmUp([host])
        CachingResolver(upstream) { $0.whileAsking = .use(inner) }.forgetAll()
        #expect(inner.count == 0)
    }

    @Test("A cache is warmed for the scheme that its port or the program says, if answers depend on it")
    func scheme() async throws {
        let upstream = ScriptedResolver("upstream", dependsOnPort: true) { _, _ in
            Resolution(["192.0.2.1"], timeToLive: .seconds(60), source: .resolver("upstream"))
        }
        let cache = CachingResolver(upstream, .init(), loop: time.loop)
        await cache.warmUp([host], port: 80)
        await cache.warmUp([host], port: 8080, scheme: .http)
        await cache.warmUp([host])
        for (port, scheme) in [(80, .http), (8080, .http), (443, .https)] as [(UInt16, HTTPURL.Scheme)] {
            let context = ResolveContext(scheme, on: time.loop)
            #expect(try cache.knownAnswer(for: host, port: port, context: context) != nil)
        }
        #expect(upstream.asked.count == 3)
    }

    @Test("The content of a cache can be listed: names, endpoints, sources and ages")
    func contents() async throws {
        let upstream = ScriptedResolver("httpdns", dependsOnPort: true) { host, port in
            guard host.text != "none.test" else { throw ResolverError("httpdns", .noSuchName) }
            let endpoints: [Endpoint] = ["192.0.2.1", "192.0.2.2:8443"]
            return Resolution(endpoints, timeToLive: .seconds(60), source: .resolver("httpdns"))
        }
        let cache = CachingResolver(upstream, .init(), loop: time.loop)
        #expect(cache.contents.isEmpty)
        await cache.warmUp([.test("b.test")], port: 80)
        time.advance(by: .seconds(3))
        await cache.warmUp([.test("a.test"), .test("none.test")])
        time.advance(by: .seconds(1))
        let contents = cache.contents
        #expect(contents.map(\.host.text) == ["a.test", "b.test", "none.test"])
        #expect(contents.map(\.port) == [443, 80, 443])
        #expect(contents[0].endpoints == ["192.0.2.1", "192.0.2.2:8443"] && contents[2].endpoints.isEmpty)
        #expect(contents.map(\.author) == [.resolver("httpdns"), .resolver("httpdns"), nil])
        #expect(contents.map(\.age) == [.seconds(1), .seconds(4), .seconds(1)])
        #expect(contents.map(\.timeLeft) == [.seconds(59), .seconds(56), .seconds(4)])
        #expect(
            contents[2].description == "none.test:443: no address, 1 s old, valid for 4 s"
        )
        time.advance(by: .seconds(57))
        #expect(cache.contents.map(\.isStale) == [false, true, true])
    }

    @Test(
        "Filling a cache leaves alone what the resolver has at hand, so that a changed map counts immediately"
    )
    func atHand() async throws {
        let live = LiveMap(try StaticMap(curl: ["a.test:443:192.0.2.7"]))
        let chain = ChainResolver(live, ScriptedResolver("httpdns", ["192.0.2.1"]))
        let cache = CachingResolver(chain, CachingResolver.Settings(), loop: time.loop)
        let failures = await cache.warmUp([host, .test("b.test")])
        #expect(failures.isEmpty && cache.contents.map(\.host.text) == ["b.test"])
    }

    @Test(
        "If the other resolver fails, the caller waits for the resolver behind the cache, and both are told"
    )
    func otherFails() async throws {
        let server = try FixtureServer.start { _ in .text("good") }
        let upstream = ScriptedResolver("httpdns", [server.endpoint], timeToLive: .seconds(60))
        let cache = cache(upstream) { $0.whileAsking = .use(ScriptedResolver("local", .noSuchName)) }
        let client = HTTPClient.trusting {
            $0.loop = time.loop
            $0.resolver = cache
        }
        let response = try await client.get("http://a.test/")
        #expect(response.text == "good" && response.transaction?.source.author == .resolver("httpdns"))
        // Nothing shows when the cache has noted the failure: what counts is that it does before the answer.
        var failures: [ResolverError] = []
        for _ in 0..<100 where failures.isEmpty {
            let failing = ScriptedResolver("local", .noSuchName)
            let later = ScriptedResolver("httpdns") { _, _ in
                while failing.asked.isEmpty { await Task.yield() }
                await letFaultsShow()
                return Resolution(["192.0.2.1"], source: .resolver("httpdns"))
            }
            let cache = CachingResolver(later) { $0.whileAsking = .use(failing) }
            failures = try await cache.answer(on: .still).failures
        }
        #expect(failures.map(\.source) == ["local"])
    }

    @Test("If the other resolver lies, or what it names is dead, the resolver behind the cache comes next")
    func otherLies() async throws {
        let authority = TestAuthority()
        let liar = try FixtureServer.start(.tls(certificates: [authority.certificate(for: "b.test")])) { _ in
            .text("bad")
        }
        let dead = try FixtureServer.refusing()
        let good = try FixtureServer.start(.tls(certificates: [authority.certificate(for: "a.test")])) { _ in
            .text("good")
        }
        for wrong in [Endpoint(stringLiteral: liar.authority), Endpoint(stringLiteral: dead.authority)] {
            let upstream = ScriptedResolver("httpdns", [Endpoint(stringLiteral: good.authority)])
            let cache = cache(upstream) { $0.whileAsking = .use(ScriptedResolver("local", [wrong])) }
            let client = HTTPClient {
                $0.tls.roots = .only([.der(authority.rootDER)])
                $0.loop = time.loop
                $0.resolver = cache
            }
            let response = try await client.get("https://a.test/")
            #expect(response.text == "good" && response.transaction?.source.author == .resolver("httpdns"))
        }
        // Without another answer the certificate stays the error.
        let cache = cache(ScriptedResolver("httpdns", .noSuchName)) {
            $0.whileAsking = .use(ScriptedResolver("local", [Endpoint(stringLiteral: liar.authority)]))
        }
        let client = HTTPClient {
            $0.tls.roots = .only([.der(authority.rootDER)])
            $0.loop = time.loop
            $0.resolver = cache
        }
        let error = await #expect(throws: HTTPError.self) { try await client.get("https://a.test/") }
        #expect(error?.phase == .tls)
    }

    @Test("While the other resolver hangs, the answer of the one behind the cache is enough")
    func otherHangs() async throws {
        let gate = Barrier()
        defer { gate.open() }
        let server = try FixtureServer.start { _ in .text("good") }
        let hanging = ScriptedResolver("local") { _, _ in
            await gate.pass()
            throw CancellationError()
        }
        let upstream = ScriptedResolver("httpdns", [server.endpoint], timeToLive: .seconds(60))
        let cache = cache(upstream) { $0.whileAsking = .use(hanging) }
        let client = HTTPClient.trusting {
            $0.loop = time.loop
            $0.resolver = cache
        }
        let response = try await client.get("http://a.test/")
        #expect(response.text == "good" && response.transaction?.source.author == .resolver("httpdns"))
    }

    /// A resolver whose answers lack a family that never comes.
    private struct HalfResolver: PublishingResolver {
        let name = "local"

        func resolve(_ host: DomainName, port: UInt16, context: ResolveContext) async throws -> Resolution {
            try await wholeAnswer(host, port: port, context: context)
        }

        func publish(_ host: DomainName, port: UInt16, context: ResolveContext) async throws -> Resolution {
            var answer = Resolution(["192.0.2.99"], source: .resolver(name))
            (answer.lacks, answer.rest) = (.family, { nil })
            return answer
        }
    }

    @Test("When the resolver has failed, and nothing more comes from the other one, the answer is complete")
    func otherEnds() async throws {
        let cache = cache(ScriptedResolver("httpdns", .refused("busy"))) {
            $0.whileAsking = .use(HalfResolver())
        }
        var answer = try await cache.publish(host, port: 443, context: ResolveContext(on: time.loop))
        // The last of them has no rest: whoever waits for more would wait for ever.
        while let rest = answer.rest, let more = await rest() { answer = more }
        #expect(answer.rest == nil && answer.endpoints == ["192.0.2.99"])
    }

    @Test("What the resolver behind the cache names may be dead, also if it comes before the other's answer")
    func otherIsLate() async throws {
        let dead = try FixtureServer.refusing()
        let good = try FixtureServer.start { _ in .text("good") }
        let gate = Barrier()
        let late = ScriptedResolver("local") { _, _ in
            await gate.pass()
            return Resolution([good.endpoint], source: .resolver("local"))
        }
        let upstream = ScriptedResolver("httpdns", [dead.endpoint], timeToLive: .seconds(60))
        let cache = cache(upstream) { $0.whileAsking = .use(late) }
        let client = HTTPClient.trusting {
            $0.loop = time.loop
            $0.resolver = cache
        }
        async let asked = client.get("http://a.test/")
        await gate.arrivals(1)
        // Nothing listens at its address, which the call has found out.
        while upstream.reported.isEmpty { await Task.yield() }
        gate.open()
        #expect(try await asked.text == "good")
    }

    @Test(
        "What the other resolver names may be silent: the answer of the one behind the cache comes beside it"
    )
    func otherIsSilent() async throws {
        let silent = try FixtureServer.unresponsive()
        let authority = TestAuthority()
        let good = try FixtureServer.start(.tls(certificates: [authority.certificate(for: "a.test")])) { _ in
            .text("good")
        }
        let gate = Barrier()
        let upstream = ScriptedResolver("httpdns") { _, _ in
            await gate.pass()
            return Resolution([good.endpoint], timeToLive: .seconds(60), source: .resolver("httpdns"))
        }
        let cache = cache(upstream) {
            $0.whileAsking = .use(ScriptedResolver("local", [Endpoint(stringLiteral: silent.authority)]))
        }
        let client = HTTPClient {
            $0.tls.roots = .only([.der(authority.rootDER)])
            $0.loop = time.loop
            $0.resolver = cache
        }
        // The next attempt begins a quarter of a second after the one before.
        async let asked = time.passing(repeatedly: .milliseconds(250)) {
            try await client.get("https://a.test/")
        }
        await gate.arrivals(1)
        await time.letFaultsShow()
        gate.open()
        let response = try await asked
        #expect(response.text == "good" && response.transaction?.source.author == .resolver("httpdns"))
    }
}
