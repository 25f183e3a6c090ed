import DirectTestResolvers
@testable import DirectCore
import DirectIO
import DirectTestCommands
import DirectTestTime
import Dispatch
import Synchronization
import TLSFixtures
import Testing

@testable import DirectHTTP
@testable import DirectResolvers

@Suite("Resolvers made of closures", .idleLimit)
struct ClosureResolverTests {
    private let host = DomainName.test("a.test")
    private let time = HeldTime()
    private let context = ResolveContext(on: .still)
    /// Threads whose calls count however slow the machine is.
    private let patient = BlockingWork(threadLimit: 8, most: 64)

    private func ask(_ resolver: any Resolver, on loop: EventLoop = .still) async throws -> Resolution {
        try await resolver.resolve(host, port: 443, context: ResolveContext(on: loop))
    }

    @Test("A closure gets the name, and its texts are addresses in their order")
    func addresses() async throws {
        let resolver = ClosureResolver("sdk", timeToLive: .seconds(7)) { host in
            host.text == "a.test" ? ["2001:db8::1", "192.0.2.1"] : []
        }
        let answer = try await ask(resolver)
        #expect(answer.endpoints == ["2001:db8::1", "192.0.2.1"] && answer.timeToLive == .seconds(7))
        #expect(answer.source == .resolver("sdk") && !resolver.dependsOnPort && resolver.name == "sdk")
    }

    @Test("A closure that suspends is a resolver as well, with the same rules for its texts")
    func suspending() async throws {
        let resolver = ClosureResolver("sdk", timeToLive: .seconds(7)) { host in
            await Task.yield()
            return host.text == "a.test" ? ["2001:db8::1", "192.0.2.1"] : ["somewhere"]
        }
        let answer = try await ask(resolver)
        #expect(answer.endpoints == ["2001:db8::1", "192.0.2.1"] && answer.timeToLive == .seconds(7))
        #expect(answer.source == .resolver("sdk") && !resolver.dependsOnPort)
        let wrong = try await resolverError {
            try await resolver.resolve(.test("b.test"), port: 443, context: context)
        }
        #expect("\(wrong)" == "sdk: the answer makes no sense: address 1 is not an IP address")
    }

    @Test("No address, text that is no address, and the closure's errors are errors of the resolver")
    func errors() async throws {
        struct Trouble: Error {}
        let none = try await resolverError { try await ask(ClosureResolver("sdk") { _ in [] }) }
        guard case .noAddresses = none.reason else { throw none }
        for text in ["a.test", "192.0.2.1:443", "", "192.0.2.256"] {
            let wrong = try await resolverError {
                try await ask(ClosureResolver("sdk") { _ in ["192.0.2.1", text] })
            }
            #expect("\(wrong)" == "sdk: the answer makes no sense: address 2 is not an IP address")
        }
        let client = HTTPClient.trusting { $0.resolver = ClosureResolver("sdk") { _ in throw Trouble() } }
        let error = try #require(
            await #expect(throws: HTTPError.self) { try await client.get("http://a.test/") }
        )
        guard case .resolver(let failure) = error.reason, case .other(is Trouble) = failure.reason else {
            throw error
        }
        #expect(failure.source == "sdk")
    }

    @Test("A function that blocks runs on a thread of its own, and its caller waits no longer than it may")
    func blocking() async throws {
        let gate = DispatchSemaphore(value: 0)
        let isOnLoop = Mutex(false)
        let hasBegun = Barrier()
        let resolver = ClosureResolver(
            "sdk",
            blocking: { host in
                isOnLoop.withLock { $0 = withUnsafeCurrentTask { $0 != nil } }
                hasBegun.open()
                gate.wait()
                gate.signal()
                return ["192.0.2.1"]
            }
        )
        let time = HeldTime()
        let task = Task { try await ask(resolver, on: time.loop) }
        await hasBegun.pass()
        try await time.pass(.seconds(10))
        let late = try await resolverError { try await task.value }
        guard case .timedOut(.seconds(10)) = late.reason else { throw late }
        let cancelled = Task { try await ask(resolver) }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        gate.signal()
        #expect(try await ask(resolver).endpoints == ["192.0.2.1"])
        #expect(!isOnLoop.withLock { $0 })
    }

    @Test("A function that hangs in all of its threads delays no other resolver")
    func hanging() async throws {
        let function = HangingFunction()
        let hanging = ClosureResolver("hanging", on: patient, blocking: { _ in function.answer() })
        let questions = (0..<9).map { _ in Task { try await ask(hanging) } }
        await function.all.pass()
        let quick = ClosureResolver("quick", blocking: { _ in ["192.0.2.2"] })
        #expect(try await ask(quick).endpoints == ["192.0.2.2"])
        // The ninth has not begun: a resolver has eight threads.
        #expect(function.running.withLock { $0 } == 8)
        function.gate.signal()
        for question in questions { #expect(try await question.value.endpoints == ["192.0.2.1"]) }
    }

    @Test("Calls that hang do not hold up those that wait for a thread, and fail those that get none")
    func hangingCalls() async throws {
        let function = HangingFunction()
        let threads = BlockingWork(threadLimit: 8, most: 64, patience: 1_000_000)
        let sdk = ClosureResolver("sdk", on: threads, blocking: { _ in function.answer() })
        let spy = ScriptedResolver("spy", ["192.0.2.2"])
        let context = ResolveContext(within: .seconds(30), on: time.loop)
        let questions = (0..<100).map { number in
            Task {
                try await ChainResolver(sdk, spy)
                    .resolve(.test("n\(number).test"), port: 443, context: context).endpoints
            }
        }
        // No time passes for any of them.
        while function.running.withLock({ $0 }) < 64 || spy.asked.count < 36 { await Task.yield() }
        function.gate.signal()
        var answers: [[Endpoint]] = []
        for question in questions { answers.append(try await question.value) }
        #expect(answers.filter { $0 == ["192.0.2.1"] }.count == 64)
    }

    @Test(
        "In a chain the time of a function that blocks begins with its call, not while it waits for a thread"
    )
    func limitInChain() async throws {
        let function = HangingFunction()
        let sdk = ClosureResolver("sdk", on: patient, blocking: { _ in function.answer() })
        let spy = ScriptedResolver("spy", ["192.0.2.2"])
        let watched = WatchedResolver(sdk)
        let (chain, time) = (ChainResolver(watched, spy), HeldTime())
        let names = (0..<20).map { DomainName.test("n\($0).test") }
        let questions = names.map { name in
            let context = ResolveContext(within: .seconds(30), on: time.loop)
            return Task { try await chain.resolve(name, port: 443, context: context).endpoints }
        }
        await function.all.pass()
        while watched.questionsThatWait < 12 { await Task.yield() }
        // The step's three seconds, and half a second in which it may say itself why it has no answer.
        try await time.pass(.milliseconds(3500))
        while spy.asked.count < 8 { await Task.yield() }
        function.gate.signal()
        var answers: [[Endpoint]] = []
        for question in questions { answers.append(try await question.value) }
        #expect(answers.filter { $0 == ["192.0.2.1"] }.count == 12 && spy.asked.count == 8)
    }

    @Test("A closure may make the whole answer, by name and port")
    func whole() async throws {
        let server = try FixtureServer.start { request in .text(request.host ?? "") }
        let resolver = ClosureResolver(
            "registry",
            answer: { host, port, _ in
                guard port == 80 else { throw ResolverError("registry", .notListed) }
                return Resolution([server.endpoint], timeToLive: .seconds(1), source: .resolver("registry"))
            }
        )
        #expect(resolver.dependsOnPort)
        let client = HTTPClient.trusting { $0.resolver = resolver }
        #expect(try await client.get("http://a.test/").text == "a.test")
    }

    @Test("A question that waits for a thread behind a cache goes to no other resolver of a chain for that")
    func queueBehindACache() async throws {
        let (function, next) = (HangingFunction(), ScriptedResolver("next", ["192.0.2.9"]))
        defer { function.gate.signal() }
        let time = HeldTime()
        let slow = ClosureResolver("SDK", on: patient, blocking: { _ in function.answer() })
        let inner = CachingResolver(slow, .init(), loop: time.loop)
        let others = (0..<8).map { number in Task { try await inner.endpoints("n\(number).test") } }
        await function.all.pass()
        for first in [inner, CachingResolver(inner, .init(), loop: time.loop)] {
            let watched = WatchedResolver(first)
            let chain = ChainResolver(watched, next)
            let context = ResolveContext(within: .seconds(30), on: time.loop)
            let asked = Task {
                try await chain.resolve(.test("a.test"), port: 443, context: context).endpoints
            }
            while watched.questionsThatWait < 1 { await Task.yield() }
            time.advance(by: .seconds(4))
            await time.letFaultsShow()
            #expect(next.asked.isEmpty)
            asked.cancel()
            _ = await asked.result
        }
        for other in others { other.cancel() }
    }

    @Test("A dump of the resolver shows nothing of its closure")
    func hidden() {
        let secret = "hunter2"
        let resolver = ClosureResolver("sdk") { _ in [secret] }
        var text = ""
        dump(resolver, to: &text)
        #expect(!text.contains(secret) && text.contains("sdk"))
    }
}

@Suite("Observed resolvers", .idleLimit)
struct ObservedResolverTests {
    private let host = DomainName.test("a.test")

    @Test("Each question is counted under the name of its resolver, with its outcome and its time")
    func counts() async throws {
        let time = HeldTime()
        let metrics = ResolverMetrics()
        let slow = ClosureResolver("slow") { _ in
            time.advance(by: .seconds(2))
            return ["192.0.2.1"]
        }
        let broken = ScriptedResolver("broken", .refused("busy"))
        let none = ScriptedResolver("none", .noSuchName)
        let chain = ChainResolver(metrics.observing(broken), metrics.observing(none), metrics.observing(slow))
        let cache = CachingResolver(chain, .init(), loop: time.loop)
        let resolver = ObservedResolver(cache, observer: metrics.observer)
        for _ in 0..<3 {
            _ = try await resolver.resolve(host, port: 443, context: ResolveContext(on: time.loop))
        }
        let counts = metrics.counts
        #expect(counts["broken"]?.failed == 1 && counts["broken"]?.total == 1)
        #expect(counts["none"]?.denied == 1 && counts["none"]?.total == 1)
        #expect(counts["slow"]?.answered == 1 && counts["slow"]?.longestAnswerTime == .seconds(2))
        let all = try #require(counts["broken, then none, then slow"])
        #expect(all.answered == 3 && all.cached == 2 && all.answerTime == .seconds(2))
        #expect(all.meanAnswerTime == .seconds(2) && counts["slow"]?.cached == 0)
    }

    @Test(
        "A client reports what its resolver has at hand, several names at a time, and questions that were cancelled"
    )
    func events() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        let heard = Locked<[String]>([])
        let gate = Barrier()
        let upstream = ScriptedResolver("up") { host, _ in
            if host.text == "slow.test" { await gate.pass() }
            return Resolution([server.endpoint], source: .resolver("up"))
        }
        let observed = ObservedResolver(upstream) { event in
            #expect(event.duration == .zero)
            heard.withLock { $0.append("\(event.host) \(event.outcome)") }
        }
        let cache = CachingResolver(observed, .init(), loop: .still)
        await cache.warmUp([host, .test("b.test")])
        #expect(heard.withLock { $0 } == ["a.test 1 endpoints (up)", "b.test 1 endpoints (up)"])
        let client = HTTPClient.trusting {
            $0.resolver = ObservedResolver(cache) { event in
                heard.withLock { $0.append("\(event.resolver): \(event.outcome)") }
            }
        }
        _ = try await client.get("http://a.test/")
        #expect(heard.withLock { $0 }.last == "up: 1 endpoints (up, cached)")
        let task = Task {
            try await observed.resolve(.test("slow.test"), port: 1, context: ResolveContext(on: .still))
        }
        await gate.arrivals(1)
        task.cancel()
        gate.open()
        _ = await task.result
        let refusing = ObservedResolver(ScriptedResolver("c") { _, _ in throw CancellationError() }) {
            event in
            heard.withLock { $0.append("\(event.outcome)") }
        }
        _ = try? await refusing.resolve(host, port: 1, context: ResolveContext(on: .still))
        // Nobody has cancelled this one: it has failed.
        #expect(
            heard.withLock { $0 }.last == "it failed with an error of the type CancellationError"
        )
    }

    @Test(
        "One call asks a map behind a cache once, though it is looked at three times whether there is an answer"
    )
    func countsOnce() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        for isCached in [false, true] {
            let metrics = ResolverMetrics()
            let service = ScriptedResolver("service", [server.endpoint])
            let chain = ChainResolver(metrics.observing(StaticMap()), metrics.observing(service))
            let client = HTTPClient { $0.resolver = isCached ? CachingResolver(chain) : chain }
            _ = try await client.get("http://a.test/")
            #expect(metrics.counts["static map"]?.total == 1 && metrics.counts["service"]?.total == 1)
        }
    }

    @Test("An observed resolver behaves as the one inside it")
    func transparent() async throws {
        let inner = ScriptedResolver("in", dependsOnPort: true) { _, _ in
            throw ResolverError("in", .noSuchName)
        }
        let observed = ObservedResolver(inner) { _ in }
        #expect(observed.name == "in" && observed.dependsOnPort && !observed.mayAskSystem)
        #expect(ObservedResolver(SystemResolver()) { _ in }.mayAskSystem)
        observed.report(.success(.zero), of: "192.0.2.1", for: host, port: 1)
        #expect(inner.reported.count == 1)
        let cache = CachingResolver(
            ScriptedResolver("up", ["192.0.2.1"]),
            CachingResolver.Settings(),
            loop: .still
        )
        await cache.warmUp([host])
        ObservedResolver(cache) { _ in }.forgetAll()
        #expect(cache.count == 0)
        let error = try await resolverError {
            try await observed.resolve(host, port: 1, context: ResolveContext(on: .still))
        }
        #expect(error.source == "in")
    }

    @Test("A chain that is asked for several names asks its next step only for those without an answer")
    func chain() async throws {
        let first = ScriptedResolver("first") { host, _ in
            guard host.text == "a.test" else { throw ResolverError("first", .notListed) }
            return Resolution(["192.0.2.1"], source: .resolver("first"))
        }
        let second = ScriptedResolver("second") { host, _ in
            guard host.text != "none.test" else { throw ResolverError("second", .noSuchName) }
            return Resolution(["192.0.2.2"], source: .resolver("second"))
        }
        let names = ["a.test", "b.test", "none.test"].map { DomainName.test($0) }
        let context = ResolveContext(on: .still)
        let answers = await ChainResolver(first, second).resolve(names, port: 443, context: context)
        #expect(try answers[names[0]]?.get().endpoints == ["192.0.2.1"])
        #expect(try answers[names[1]]?.get().endpoints == ["192.0.2.2"])
        // The answer of the first step has the second one as its fallback.
        #expect(try await answers[names[0]]?.get().fallback?(context)?.endpoints == ["192.0.2.2"])
        let error = try #require(throws: ResolverError.self) { try answers[names[2]]?.get() }
        #expect("\(error)" == "second: the name does not exist; first: the name is not listed")
        #expect(second.asked.sorted() == ["a.test:443", "b.test:443", "none.test:443"])
        let never = await ChainResolver(first, second, fallback: .never).resolve(
            names,
            port: 443,
            context: context
        )
        #expect(throws: ResolverError.self) { try never[names[1]]?.get() }
    }
}

/// A resolver of which one sees how many of its questions wait on this side.
private struct WatchedResolver: Resolver {
    let name = "watched"
    private let inner: any Resolver
    private let limits = Locked<[QuestionLimit]>([])

    init(_ inner: any Resolver) { self.inner = inner }

    var questionsThatWait: Int { limits.withLock { $0 }.count { $0.start == nil } }

    func resolve(_ host: DomainName, port: UInt16, context: ResolveContext) async throws -> Resolution {
        if let limit = context.limit { limits.withLock { $0.append(limit) } }
        return try await inner.resolve(host, port: port, context: context)
    }
}

/// A function that hangs in each of a resolver's eight threads, until the gate is signalled once.
private struct HangingFunction: Sendable {
    let gate = DispatchSemaphore(value: 0)
    let running = Locked(0)
    /// Open when it hangs in all of them.
    let all = Barrier()

    func answer() -> [String] {
        let count = running.withLock { running in
            running += 1
            return running
        }
        if count == 8 { all.open() }
        gate.wait()
        gate.signal()
        return ["192.0.2.1"]
    }
}
