import DirectTestResolvers
@testable import DirectCore
@testable import DirectIO
import DirectTestCommands
import DirectTestData
import DirectTestTime
import Foundation
import Testing

@testable import DirectHTTP
@testable import DirectResolvers

@Suite("Caching resolvers", .idleLimit)
struct CachingResolverTests {
    private let time = HeldTime()
    private let host = DomainName.test("a.test")

    private func cache(
        _ upstream: any Resolver,
        threads: BlockingWork? = nil,
        _ configure: (inout CachingResolver.Settings) -> Void = { _ in }
    ) -> CachingResolver {
        var settings = CachingResolver.Settings()
        configure(&settings)
        return CachingResolver(upstream, settings, loop: time.loop, threads: threads)
    }

    private func answer(_ cache: CachingResolver, port: UInt16 = 443) async throws -> Resolution {
        try await cache.resolve(host, port: port, context: ResolveContext(on: time.loop))
    }

    /// A resolver whose every answer is another address.
    private func counting(_ name: String = "upstream", timeToLive: Duration?) -> ScriptedResolver {
        let count = Locked<UInt8>(0)
        return ScriptedResolver(name) { _, _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            let address = IPAddress(bytes: [192, 0, 2, number]).map { Endpoint($0) }
            return Resolution(address.map { [$0] } ?? [], timeToLive: timeToLive, source: .resolver(name))
        }
    }

    /// A resolver whose answers have these records, one after the other.
    private func recorded(_ records: HTTPSRecords?..., timeToLive: Duration = .seconds(60))
        -> ScriptedResolver
    {
        let rest = Locked(records)
        return ScriptedResolver("upstream") { _, _ in
            var answer = Resolution(["192.0.2.1"], timeToLive: timeToLive, source: .resolver("upstream"))
            answer.https = rest.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            return answer
        }
    }

    @Test(
        "Nothing of a question outlives its answer, whether that has a fallback or not",
        arguments: [false, true]
    )
    func release(hasFallback: Bool) async throws {
        final class Question: @unchecked Sendable { weak var limit: QuestionLimit? }
        let (question, hasLimit) = (Question(), Locked(false))
        let cache = cache(
            ClosureResolver("upstream") { _, _, context in
                question.limit = context.limit
                hasLimit.withLock { $0 = context.limit != nil }
                var answer = Resolution(
                    ["192.0.2.1"],
                    timeToLive: .seconds(60),
                    source: .resolver("upstream")
                )
                if hasFallback { answer.fallback = { _ in nil } }
                return answer
            }
        )
        let threads = BlockingWork(threadLimit: 1)
        let context = ResolveContext(.https, deadline: .never, loop: time.loop, threads: threads)
        _ = try await cache.resolve(host, port: 443, context: context)
        #expect(hasLimit.withLock { $0 })
        // Behind the last step of the query's task.
        try await threads.run(until: .never, on: time.loop) {}
        #expect(question.limit == nil)
    }

    @Test("HTTPS records are cached with the answer, which is valid no longer than they are")
    func httpsRecords() async throws {
        let records = HTTPSRecords([HTTPSRecord(.test("a.test"))], timeToLive: .seconds(20))
        let none = HTTPSRecords([], timeToLive: .seconds(30))
        let upstream = recorded(records, none)
        let cache = cache(upstream) { $0.refreshesAhead = false }
        _ = try await answer(cache)
        #expect(try await answer(cache).https == records)
        time.advance(by: .seconds(19))
        #expect(try await answer(cache).https?.timeToLive == .seconds(1))
        time.advance(by: .seconds(1))
        #expect(try await answer(cache).https == none)
        time.advance(by: .seconds(29))
        #expect(try await answer(cache).https == HTTPSRecords([], timeToLive: .seconds(1)))
        #expect(upstream.asked.count == 2)
        time.advance(by: .seconds(1))
        #expect(try await answer(cache).https == nil)
        #expect(upstream.asked.count == 3)
    }

    @Test("HTTPS records that come too late for an answer are those of the one before, for their own time")
    func lateRecords() async throws {
        let records = HTTPSRecords([HTTPSRecord(.test("a.test"))], timeToLive: .seconds(25))
        let upstream = recorded(records, nil, nil, timeToLive: .seconds(10))
        let cache = cache(upstream) { $0.refreshesAhead = false }
        for left in [25, 15, 5] {
            _ = try await answer(cache)
            let wanted = HTTPSRecords(records.records, timeToLive: .seconds(left))
            #expect(try await answer(cache).https == wanted)
            time.advance(by: .seconds(10))
        }
        _ = try await answer(cache)
        #expect(try await answer(cache).https == nil)
    }

    /// A resolver whose answers have these records and endpoints, one after the other.
    private func moving(_ answers: [(endpoints: [Endpoint], records: [HTTPSRecord]?)]) -> ScriptedResolver {
        let rest = Locked(answers)
        return ScriptedResolver("upstream") { _, _ in
            let next = rest.withLock { $0.removeFirst() }
            var answer = Resolution(next.endpoints, timeToLive: .seconds(5), source: .resolver("upstream"))
            answer.https = next.records.map { HTTPSRecords($0, timeToLive: .seconds(60)) }
            return answer
        }
    }

    @Test("Late records keep their configurations beside other addresses, for the first caller, too")
    func lateConfigurations() async throws {
        let list = try ECHConfigList(ServiceData.ech)
        var own = HTTPSRecord(.test("a.test"), port: 444)
        (own.encryptedClientHello, own.endpoints) = (list, ["192.0.2.1:444"])
        var other = HTTPSRecord(.test("b.test"), priority: 2)
        (other.encryptedClientHello, other.endpoints) = (list, ["192.0.2.9"])
        let bare: [Endpoint] = ["192.0.2.1"]
        let cases: [(before: [Endpoint], records: [HTTPSRecord], after: [Endpoint])] = [
            (own.endpoints, [own], ["192.0.2.2:444"]),
            (own.endpoints + bare, [own], ["192.0.2.2:444", "192.0.2.2"]),
            (own.endpoints + other.endpoints, [own, other], ["192.0.2.2:444", "192.0.2.9"]),
            (other.endpoints, [other], ["192.0.2.9"]),
            (other.endpoints + bare, [other], ["192.0.2.9", "192.0.2.2"]),
        ]
        for (before, records, after) in cases {
            let cache = cache(moving([(before, records), (["192.0.2.2"], nil)])) { $0.refreshesAhead = false }
            _ = try await answer(cache)
            time.advance(by: .seconds(5))
            for _ in 0..<2 {
                let known = try await answer(cache)
                #expect(known.endpoints == after)
                let configured = known.endpoints.filter {
                    known.https?.record(for: $0, port: 443)?.encryptedClientHello == list
                }
                #expect(configured == after.filter { $0 != "192.0.2.2" })
            }
        }
        // A record without endpoints is about all of them.
        own.endpoints = []
        let cache = cache(moving([(bare, [own]), (["192.0.2.2"], nil)])) { $0.refreshesAhead = false }
        _ = try await answer(cache)
        time.advance(by: .seconds(5))
        #expect(try await answer(cache).endpoints == ["192.0.2.2"])
        #expect(
            try await answer(cache).https?.record(for: "192.0.2.2", port: 443)?.encryptedClientHello == list
        )
    }

    @Test("An answer is used until its time to live ends, and is marked as cached")
    func timeToLive() async throws {
        let upstream = counting(timeToLive: .seconds(60))
        let cache = cache(upstream) { $0.refreshesAhead = false }
        let first = try await answer(cache)
        #expect(first.source == .resolver("upstream"))
        time.advance(by: .seconds(59))
        let second = try await answer(cache)
        #expect(second.endpoints == first.endpoints)
        #expect(second.source == AddressSource(.resolver("upstream"), .cached))
        #expect(second.timeToLive == .seconds(1))
        time.advance(by: .seconds(1))
        #expect(try await answer(cache).endpoints == ["192.0.2.2"])
        #expect(upstream.asked.count == 2)
    }

    @Test(
        "Times to live are clamped, and a missing one is taken from the settings",
        arguments: [
            (Duration.zero, 5), (.seconds(-3), 5), (.seconds(7), 7), (.seconds(1 << 40), 100), (nil, 30),
        ]
    )
    func clamps(_ told: Duration?, _ seconds: Int) async throws {
        let upstream = counting(timeToLive: told)
        let cache = cache(upstream) {
            $0.refreshesAhead = false
            $0.maximumTimeToLive = .seconds(100)
        }
        _ = try await answer(cache)
        time.advance(by: .seconds(seconds) - .nanoseconds(1))
        _ = try await answer(cache)
        #expect(upstream.asked.count == 1)
        time.advance(by: .nanoseconds(1))
        _ = try await answer(cache)
        #expect(upstream.asked.count == 2)
    }

    @Test("An answer without addresses is remembered for a while, and a failure is not")
    func negative() async throws {
        let none = ScriptedResolver("none", .noSuchName)
        let denying = cache(none)
        for _ in 0..<3 {
            let error = try await resolverError { try await answer(denying) }
            #expect(error.description == "none: the name does not exist")
        }
        #expect(none.asked.count == 1)
        time.advance(by: .seconds(5))
        _ = try await resolverError { try await answer(denying) }
        #expect(none.asked.count == 2)

        let broken = ScriptedResolver("broken", .refused("SERVFAIL"))
        let failing = cache(broken)
        for _ in 0..<2 { _ = try await resolverError { try await answer(failing) } }
        #expect(broken.asked.count == 2 && failing.count == 0)
    }

    @Test("A stale answer is used while the next one is fetched, and is marked as stale")
    func stale() async throws {
        let gate = Barrier()
        let inner = counting(timeToLive: .seconds(60))
        let upstream = ScriptedResolver("upstream") { host, port in
            let answer = try await inner.resolve(host, port: port, context: ResolveContext(on: .still))
            if answer.endpoints != ["192.0.2.1"] { await gate.pass() }
            return answer
        }
        let cache = cache(upstream) { $0.staleTime = .seconds(100) }
        _ = try await answer(cache)
        time.advance(by: .seconds(61))
        for _ in 0..<3 {
            let stale = try await answer(cache)
            #expect(stale.endpoints == ["192.0.2.1"])
            #expect(stale.source.freshness == .stale)
        }
        await gate.arrivals(1)
        gate.open()
        while try await answer(cache).source.freshness == .stale { await Task.yield() }
        #expect(try await answer(cache).endpoints == ["192.0.2.2"])
        #expect(upstream.asked.count == 2)
        time.advance(by: .seconds(161))
        #expect(try await answer(cache).endpoints == ["192.0.2.3"])
    }

    @Test("A query that is also wanted in the background goes on when its last caller has left")
    func wantedInBackground() async throws {
        let gate = Barrier()
        let inner = counting(timeToLive: .seconds(60))
        let upstream = ScriptedResolver("upstream") { host, port in
            await gate.pass()
            return try await inner.resolve(host, port: port, context: ResolveContext(on: .still))
        }
        let cache = cache(upstream)
        let caller = Task { try await answer(cache) }
        await gate.arrivals(1)
        cache.refresh(host, port: 443, as: ResolveContext(on: time.loop))
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        gate.open()
        #expect(try await answer(cache).endpoints == ["192.0.2.1"])
        #expect(upstream.asked.count == 1)
    }

    @Test("A look-up that found a stale answer asks no more once another one has brought a fresh answer")
    func freshMeanwhile() async throws {
        let upstream = counting(timeToLive: .seconds(60))
        let cache = cache(upstream) { $0.staleTime = .seconds(100) }
        _ = try await answer(cache)
        cache.refresh(host, port: 443, as: ResolveContext(on: time.loop))
        #expect(cache.state.withLock { $0.queries.isEmpty })
        time.advance(by: .seconds(61))
        cache.refresh(host, port: 443, as: ResolveContext(on: time.loop))
        // It may have been answered by now.
        while try await answer(cache).source.freshness == .stale { await Task.yield() }
        #expect(upstream.asked.count == 2)
    }

    @Test("The next answer is fetched in the last tenth of the time to live")
    func refreshAhead() async throws {
        let upstream = counting(timeToLive: .seconds(60))
        let cache = cache(upstream)
        _ = try await answer(cache)
        time.advance(by: .seconds(54))
        #expect(try await answer(cache).endpoints == ["192.0.2.1"])
        #expect(upstream.asked.count == 1)
        time.advance(by: .seconds(1))
        #expect(try await answer(cache).endpoints == ["192.0.2.1"])
        while try await answer(cache).endpoints == ["192.0.2.1"] { await Task.yield() }
        #expect(upstream.asked.count == 2)
    }

    @Test("10,000 concurrent questions for one name cause one question to the resolver")
    func singleFlight() async throws {
        let gate = Barrier()
        let upstream = ScriptedResolver("upstream") { _, _ in
            await gate.pass()
            return Resolution(["192.0.2.1"], source: .resolver("upstream"))
        }
        let cache = cache(upstream)
        try await withThrowingTaskGroup(of: [Endpoint].self) { group in
            for _ in 0..<10_000 { group.addTask { try await answer(cache).endpoints } }
            await gate.arrivals(1)
            gate.open()
            for try await endpoints in group { #expect(endpoints == ["192.0.2.1"]) }
        }
        #expect(upstream.asked == ["a.test:443"])
    }

    @Test("One of several callers may give up, and the question is cancelled with the last of them")
    func cancellation() async throws {
        let gate = Barrier()
        let cancelled = Barrier()
        let upstream = ScriptedResolver("upstream") { _, _ in
            await withTaskCancellationHandler {
                await gate.pass()
            } onCancel: {
                cancelled.open()
            }
            return Resolution(["192.0.2.1"], source: .resolver("upstream"))
        }
        let cache = cache(upstream)
        let first = Task { try await answer(cache).endpoints }
        await gate.arrivals(1)
        let second = Task {
            let context = ResolveContext(within: .seconds(2), on: time.loop)
            return try await cache.resolve(host, port: 443, context: context).endpoints
        }
        // It has joined the question before the first one leaves it.
        try await time.waitBegins(for: .seconds(2))
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        await cancelled.pass()
        gate.open()
        // The next question is one of its own.
        #expect(try await answer(cache).endpoints == ["192.0.2.1"])
        #expect(upstream.asked.count == 2)
    }

    @Test("A caller with a shorter deadline than the resolver's gets an error, and the others the answer")
    func impatience() async throws {
        let gate = Barrier()
        let upstream = ScriptedResolver("upstream") { _, _ in
            await gate.pass()
            return Resolution(["192.0.2.1"], source: .resolver("upstream"))
        }
        let cache = cache(upstream)
        let patient = Task { try await answer(cache).endpoints }
        await gate.arrivals(1)
        async let impatient = resolverError {
            try await cache.resolve(
                host,
                port: 443,
                context: ResolveContext(within: .seconds(2), on: time.loop)
            )
        }
        try await time.pass(.seconds(2))
        let error = try await impatient
        guard case .timedOut = error.reason else {
            Issue.record("\(error)")
            return
        }
        gate.open()
        #expect(try await patient.value == ["192.0.2.1"])
        #expect(upstream.asked.count == 1)
    }

    @Test("One answer serves all ports, unless the resolver says that they differ", arguments: [false, true])
    func ports(_ differ: Bool) async throws {
        let upstream = ScriptedResolver("upstream", dependsOnPort: differ) { _, port in
            Resolution(
                [Endpoint(stringLiteral: differ ? "192.0.2.1:\(port + 1)" : "192.0.2.1")],
                source: .resolver("upstream")
            )
        }
        let cache = cache(upstream)
        _ = try await answer(cache, port: 80)
        _ = try await answer(cache, port: 443)
        #expect(upstream.asked.count == (differ ? 2 : 1))
    }

    @Test("A map behind a resolver has answers of its own for each port only if an entry is for one")
    func portsOfMap() async throws {
        var map = StaticMap(hosts: "192.0.2.9 b.test")
        for hasPort in [false, true, false] {
            try map.set(["192.0.2.9"], for: HostPattern("*.test"), port: 444)
            try map.set(["192.0.2.9"], for: HostPattern("*"), port: 444)
            map.remove(try HostPattern("*.test"), port: 444)
            if !hasPort { map.remove(try HostPattern("*"), port: 444) }
            let upstream = ScriptedResolver("upstream", ["192.0.2.1"])
            let cache = cache(ChainResolver(upstream, map))
            _ = try await answer(cache, port: 80)
            _ = try await answer(cache, port: 443)
            #expect(upstream.asked.count == (hasPort ? 2 : 1))
        }
    }

    @Test("An address that failed is moved behind the others, unless the answer is strictly ordered")
    func demotion() async throws {
        let isOrdered = Locked(false)
        let upstream = ScriptedResolver("upstream") { _, _ in
            var answer = Resolution(
                ["192.0.2.1", "[2001:db8::2]:8443", "192.0.2.3"],
                source: .resolver("upstream")
            )
            answer.isStrictlyOrdered = isOrdered.withLock { $0 }
            return answer
        }
        let cache = cache(upstream)
        _ = try await answer(cache)
        cache.report(
            .failure(HTTPError(.connect, .connectionClosed)),
            of: "192.0.2.1:443",
            for: host,
            port: 443
        )
        #expect(try await answer(cache).endpoints == ["[2001:db8::2]:8443", "192.0.2.3", "192.0.2.1"])
        cache.report(.success(.zero), of: "[2001:db8::2]:8443", for: host, port: 443)
        cache.report(
            .failure(HTTPError(.tls, .connectionClosed)),
            of: "[2001:db8::2]:443",
            for: host,
            port: 443
        )
        #expect(try await answer(cache).endpoints == ["[2001:db8::2]:8443", "192.0.2.3", "192.0.2.1"])
        #expect(upstream.reported.count == 3)
        cache.forgetAll()
        isOrdered.withLock { $0 = true }
        _ = try await answer(cache)
        cache.report(
            .failure(HTTPError(.connect, .connectionClosed)),
            of: "192.0.2.1:443",
            for: host,
            port: 443
        )
        #expect(try await answer(cache).endpoints.first == "192.0.2.1")
    }

    @Test("If no remembered address works, the resolver is asked again, and then its fallback")
    func fallback() async throws {
        let upstream = counting(timeToLive: nil)
        let cache = cache(ChainResolver(upstream, ScriptedResolver("next", ["198.51.100.1"])))
        _ = try await answer(cache)
        let cached = try await answer(cache)
        let context = ResolveContext(on: .still)
        let fresh = try #require(try await cached.fallback?(context))
        #expect(fresh.endpoints == ["192.0.2.2"])
        let next = try #require(try await fresh.fallback?(context))
        #expect(next.endpoints == ["198.51.100.1"])
        // The next request begins with the address that worked in the end.
        #expect(try await answer(cache).endpoints == ["198.51.100.1"])
    }

    @Test(
        "While no connection can be made, a name is asked for at most once in five seconds",
        arguments: [false, true]
    )
    func pauseWhileDown(isChain: Bool) async throws {
        let one = ScriptedResolver("one", ["192.0.2.1"], timeToLive: .seconds(300))
        let other = ScriptedResolver("other", ["192.0.2.2"], timeToLive: .seconds(300))
        let cache = cache(isChain ? ChainResolver(one, other) : one)
        // Dials in vain: each answer, and each fallback of one.
        func dial() async throws {
            let context = ResolveContext(within: .seconds(60), on: time.loop)
            var next: Resolution? = try await cache.resolve(host, port: 443, context: context)
            while let answer = next { next = try await answer.fallback?(context) }
        }
        for _ in 0..<50 { try await dial() }
        for round in 1...4 {
            #expect(one.asked.count == round && other.asked.count == (isChain ? round : 0))
            time.advance(by: .seconds(5))
            for _ in 0..<50 { try await dial() }
        }
    }

    @Test(
        "A resolver that has moved on is found by all callers for whom the old answer is useless, by one question"
    )
    func movedAway() async throws {
        let upstream = counting(timeToLive: .seconds(300))
        let cache = cache(upstream)
        _ = try await answer(cache)
        time.advance(by: .seconds(5))
        let context = ResolveContext(on: .still)
        var old: [Resolution] = []
        for _ in 0..<3 { old.append(try await answer(cache)) }
        for answer in old {
            let next = try #require(try await answer.fallback?(context))
            #expect(next.endpoints == ["192.0.2.2"])
        }
        #expect(upstream.asked.count == 2)
    }

    @Test("A resolver that needs longer than any caller has is cached all the same")
    func slowerThanCallers() async throws {
        let gate = Barrier()
        let upstream = ScriptedResolver("upstream") { _, _ in
            await gate.pass()
            return Resolution(["192.0.2.1"], source: .resolver("upstream"))
        }
        let cache = cache(upstream)
        let context = ResolveContext(within: .seconds(2), on: time.loop)
        async let late = resolverError { try await cache.resolve(host, port: 443, context: context) }
        try await time.pass(.seconds(2))
        _ = try await late
        gate.open()
        #expect(try await answer(cache).endpoints == ["192.0.2.1"])
        #expect(upstream.asked.count == 1)
    }

    @Test("A change of network discards all answers, including those that are still being fetched")
    func forgetting() async throws {
        let gate = Barrier()
        let inner = counting(timeToLive: nil)
        let upstream = ScriptedResolver("upstream") { host, port in
            let answer = try await inner.resolve(host, port: port, context: ResolveContext(on: .still))
            if answer.endpoints == ["192.0.2.1"] { await gate.pass() }
            return answer
        }
        let cache = cache(upstream)
        let early = Task { try await answer(cache).endpoints }
        await gate.arrivals(1)
        cache.forgetAll()
        #expect(try await answer(cache).endpoints == ["192.0.2.2"])
        gate.open()
        #expect(try await early.value == ["192.0.2.1"])
        #expect(try await answer(cache).endpoints == ["192.0.2.2"])
    }

    @Test("Names are resolved in advance, and those without an address are reported")
    func warmUp() async throws {
        let upstream = ScriptedResolver("upstream") { host, _ in
            guard host.text != "none.test" else { throw ResolverError("upstream", .noSuchName) }
            return Resolution(["192.0.2.1"], source: .resolver("upstream"))
        }
        let cache = cache(upstream)
        let names = (0..<100).map { DomainName.test("n\($0).test") } + [.test("none.test")]
        let failures = await cache.warmUp(names)
        #expect(failures.keys.map(\.text) == ["none.test"])
        #expect(
            try cache.knownAnswer(for: names[7], port: 1, context: ResolveContext(on: .still))?.endpoints == [
                "192.0.2.1"
            ]
        )
        #expect(upstream.asked.count == 101 && cache.count == 101)
    }

    @Test("A full cache drops the entry that expires first")
    func capacity() async throws {
        let upstream = ScriptedResolver("upstream") { host, _ in
            let seconds = Int(host.text.dropFirst().prefix { $0 != "." }) ?? 0
            return Resolution(
                ["192.0.2.1"],
                timeToLive: .seconds(100 + seconds),
                source: .resolver("upstream")
            )
        }
        let cache = cache(upstream) { $0.capacity = 32 }
        await cache.warmUp((0..<100).map { DomainName.test("n\($0).test") })
        #expect((30...32).contains(cache.count))
        #expect(
            try cache.knownAnswer(for: .test("n99.test"), port: 443, context: ResolveContext(on: .still))
                != nil
        )
    }

    @Test("Answers are restored from a file, except expired ones", arguments: [false, true])
    func file(_ hasStaleTime: Bool) async throws {
        let path = NSTemporaryDirectory() + "answers-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let configure = { (settings: inout CachingResolver.Settings) in
            settings.file = path
            settings.staleTime = hasStaleTime ? .seconds(1000) : .zero
            settings.refreshesAhead = false
        }
        let upstream = ScriptedResolver("up stream") { host, _ in
            var answer = Resolution(
                ["192.0.2.1", "[2001:db8::2]:8443"],
                timeToLive: .seconds(host.text == "long.test" ? 600 : 100),
                source: .resolver("up stream"),
                canonicalName: .test("c.test")
            )
            answer.isStrictlyOrdered = host.text == "long.test"
            return answer
        }
        let before = cache(upstream, configure)
        await before.warmUp([.test("long.test"), .test("short.test")])
        try await before.save()

        time.advance(by: .seconds(200))
        let later = cache(ScriptedResolver("up stream", .refused("offline")), configure)
        let text = try #require(try StateFile.read(path, limit: 10_000))
        later.restore(text, date: time.loop.date)
        let long = try await later.resolve(.test("long.test"), port: 443, context: ResolveContext(on: .still))
        #expect(long.endpoints == ["192.0.2.1", "[2001:db8::2]:8443"])
        #expect(long.source == AddressSource(.resolver("up stream"), .cached))
        #expect(long.canonicalName == .test("c.test") && long.isStrictlyOrdered)
        #expect(long.timeToLive == .seconds(400))
        let short = try? await later.resolve(
            .test("short.test"),
            port: 443,
            context: ResolveContext(on: .still)
        )
        #expect(short?.source.freshness == (hasStaleTime ? .stale : nil))

        let rereading = cache(ScriptedResolver("up stream", .refused("offline")), configure)
        #expect(try await rereading.endpoints("long.test").count == 2)
    }

    @Test("The fallback of an answer takes its place in the cache, except after everything was forgotten")
    func lateFallback() async throws {
        let chain = ChainResolver(
            ScriptedResolver("first", ["192.0.2.1"], timeToLive: .seconds(600)),
            ScriptedResolver("second", ["192.0.2.2"], timeToLive: .seconds(600))
        )
        for isForgotten in [false, true] {
            let cache = cache(chain)
            let first = try await answer(cache)
            if isForgotten { cache.forgetAll() }
            let second = try await first.fallback?(ResolveContext(within: .seconds(30)))
            #expect(second?.endpoints == ["192.0.2.2"])
            #expect(cache.count == (isForgotten ? 0 : 1))
            #expect(try await answer(cache).endpoints == (isForgotten ? ["192.0.2.1"] : ["192.0.2.2"]))
        }
    }

    @Test(
        "All callers that come before the file was read wait for one reading, which needs no thread of theirs"
    )
    func oneReading() async throws {
        let path = NSTemporaryDirectory() + "answers-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let writer = cache(counting(timeToLive: .seconds(600))) { $0.file = path }
        let wanted = try await answer(writer).endpoints
        try await writer.save()
        let (disk, gate) = (BlockingWork(threadLimit: 1), DiskGate())
        await disk.stop(until: gate)
        let reader = cache(ScriptedResolver("upstream", .noSuchName), threads: disk) { $0.file = path }
        let callers = (0..<100).map { _ in Task { [self] in try await answer(reader).endpoints } }
        while reader.state.withLock({ $0.unread?.waiting.count }) != callers.count { await Task.yield() }
        #expect(disk.waiting == 1)
        gate.open()
        for caller in callers { #expect(try await caller.value == wanted) }
    }

    @Test(
        "The answers of a file are made on the thread that reads it, not on an executor that a caller brings"
    )
    func readingApart() async throws {
        let path = NSTemporaryDirectory() + "answers-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let (disk, gate) = (BlockingWork(threadLimit: 1), DiskGate())
        let reader = cache(counting(timeToLive: nil), threads: disk) { $0.file = path }
        await disk.stop(until: gate)
        let executor = HeldExecutor()
        let caller = Task(executorPreference: executor) { [self] in try await answer(reader).endpoints }
        await executor.runNext()
        gate.open()
        // The caller's executor runs nothing, and the file is read all the same.
        while reader.state.withLock({ $0.unread != nil }) { await Task.yield() }
        executor.release()
        #expect(try await caller.value == ["192.0.2.1"])
    }

    @Test(
        "A file whose disk hangs costs a caller no more than its deadline, and is given up after five seconds"
    )
    func hangingFile() async throws {
        let (disk, gate) = (BlockingWork(threadLimit: 1), DiskGate())
        defer { gate.open() }
        await disk.stop(until: gate)
        let reader = cache(counting(timeToLive: nil), threads: disk) { $0.file = "/nowhere/answers" }
        let hasty = Task { [self] in
            let context = ResolveContext(within: .seconds(2), on: time.loop)
            return try await reader.resolve(host, port: 443, context: context)
        }
        try await time.pass(.seconds(2))
        await #expect(throws: ResolverError.self) { try await hasty.value }
        let patient = Task { [self] in try await answer(reader).endpoints }
        try await time.pass(.seconds(3))
        #expect(try await patient.value == ["192.0.2.1"])
        #expect(try await answer(reader).endpoints == ["192.0.2.1"])
    }

    @Test("A question that is cancelled before the file was read leaves the reading to the next one")
    func cancelledReading() async throws {
        let path = NSTemporaryDirectory() + "answers-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let writer = cache(counting(timeToLive: .seconds(600))) { $0.file = path }
        let wanted = try await answer(writer).endpoints
        try await writer.save()
        let reader = cache(ScriptedResolver("upstream", .noSuchName)) { $0.file = path }
        let task = Task { [self] in
            while !Task.isCancelled { await Task.yield() }
            return try? await answer(reader)
        }
        task.cancel()
        _ = await task.value
        #expect(try await answer(reader).endpoints == wanted)
    }

    @Test("Without a thread on which to read the file a question fails, and does not seem cancelled")
    func noThreadForReading() async throws {
        let refusal = SystemError("pthread_create", code: EAGAIN)
        var settings = CachingResolver.Settings()
        settings.file = "/nowhere/answers"
        let cache = CachingResolver(
            counting(timeToLive: nil),
            settings,
            loop: time.loop,
            threads: BlockingWork(threadLimit: 1) { _, _ in refusal }
        )
        await #expect(throws: refusal) { try await answer(cache) }
        await #expect(throws: refusal) { try await cache.save() }
    }

    @Test(
        "A question that is cancelled before the file was read asks no resolver, whose answer would displace the file's"
    )
    func cancelledReadingAsksNoResolver() async throws {
        let path = NSTemporaryDirectory() + "answers-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let writer = cache(counting(timeToLive: .seconds(600))) { $0.file = path }
        let wanted = try await answer(writer).endpoints
        try await writer.save()
        let mute = ScriptedResolver("upstream", .noSuchName)
        // Whether a query that has no caller left still asks depends on the order of threads.
        for _ in 0..<50 {
            let reader = cache(mute) { $0.file = path }
            let task = Task { [self] in
                while !Task.isCancelled { await Task.yield() }
                return try await answer(reader)
            }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try await answer(reader).endpoints == wanted)
        }
        #expect(mute.asked.isEmpty)
    }

    @Test("The readable entries of a damaged file are used")
    func corruptFile() throws {
        let lines = (0..<50).map(Self.line)
        let text = AnswerFile.write(lines)
        #expect(AnswerFile.read(text) == lines)
        #expect(AnswerFile.read([]).isEmpty)
        #expect(AnswerFile.read(Array("something else\n".utf8) + text).isEmpty)
        #expect(AnswerFile.read(Array(text.dropLast(30))) == lines.dropLast())
        var random = SplitMix64(seed: 3)
        let alphabet = Array("\0 \n9af.:[]%é-".utf8)
        for _ in 0..<300 {
            var damaged = text
            damaged.mutate(with: alphabet, using: &random)
            let read = AnswerFile.read(damaged)
            #expect(read.isEmpty || read.count >= lines.count - 2)
            #expect(read.allSatisfy { lines.contains($0) })
        }
    }

    private static func line(_ number: Int) -> AnswerFile.Line {
        let second = Endpoint(stringLiteral: "[2001:db8::1]:\(number + 1)")
        return AnswerFile.Line(
            key: AnswerKey(
                host: .test("n\(number).test"),
                port: number % 2 == 0 ? 0 : 8443,
                isPlain: number % 4 == 1
            ),
            expiry: UnixTime(seconds: 1_700_000_000 + Int64(number)),
            seconds: 300,
            endpoints: ["192.0.2.1", second],
            author: number % 3 == 0 ? .system : .resolver("dns.test"),
            canonicalName: number % 5 == 0 ? .test("c.test") : nil
        )
    }

    @Test("A failed question for the next answer is not repeated by each caller, but after five seconds")
    func pauseAfterFailure() async throws {
        let isGone = Locked(false)
        let upstream = ScriptedResolver("up") { _, _ in
            if isGone.withLock({ $0 }) { throw ResolverError("up", .refused("offline")) }
            return Resolution(["192.0.2.1"], timeToLive: .seconds(60), source: .resolver("up"))
        }
        let cache = cache(upstream) { $0.staleTime = .seconds(3600) }
        func ask() async throws {
            let context = ResolveContext(on: .still)
            let answer = try await cache.resolve(.test("a.test"), port: 443, context: context)
            #expect(answer.endpoints == ["192.0.2.1"])
            // Until the question in the background is over.
            while cache.state.withLock({ !$0.queries.isEmpty }) { await Task.yield() }
        }
        try await ask()
        isGone.withLock { $0 = true }
        time.advance(by: .seconds(61))
        for _ in 0..<3 { try await ask() }
        #expect(upstream.asked.count == 2)
        time.advance(by: .seconds(5))
        for _ in 0..<3 { try await ask() }
        #expect(upstream.asked.count == 3)
        isGone.withLock { $0 = false }
        time.advance(by: .seconds(5))
        for _ in 0..<3 { try await ask() }
        #expect(upstream.asked.count == 4)
    }

    @Test("A file with the earliest of all times does not end the program")
    func earliestTime() async throws {
        let now = time.loop.date.seconds
        let line = AnswerFile.Line(
            key: AnswerKey(host: .test("a.test"), port: 0),
            expiry: UnixTime(seconds: .min + now),
            seconds: 60,
            endpoints: ["192.0.2.1"],
            author: .system
        )
        let cache = CachingResolver(ScriptedResolver("up", .noAddresses)) { $0.file = "/nonexistent" }
        cache.restore(AnswerFile.write([line]), date: UnixTime(seconds: now))
        #expect(cache.count == 0)
    }

    @Test("The resolver behind the cache forgets its answers first: nothing of them comes back")
    func orderOfForgetting() async throws {
        let upstream = ForgettingResolver()
        let cache = CachingResolver(upstream, CachingResolver.Settings(), loop: .still)
        upstream.cache.withLock { $0 = cache }
        defer { upstream.cache.withLock { $0 = nil } }
        _ = try await cache.resolve(.test("a.test"), port: 443, context: ResolveContext(on: .still))
        #expect(cache.count == 1)
        cache.forgetAll()
        #expect(cache.count == 0 && upstream.found.withLock { $0 } == [1])
    }
}

/// A resolver that looks how many answers a cache has when it is told to forget its own.
private final class ForgettingResolver: Resolver {
    let cache = Locked<CachingResolver?>(nil)
    let found = Locked<[Int]>([])
    var name: String { "forgetting" }

    func resolve(_ host: DomainName, port: UInt16, context: ResolveContext) async throws -> Resolution {
        Resolution(["192.0.2.1"], timeToLive: .seconds(300), source: .resolver(name))
    }

    func forgetAll() {
        let count = cache.withLock { $0?.count ?? -1 }
        found.withLock { $0.append(count) }
    }
}
