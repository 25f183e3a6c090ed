import DirectResolvers
import DirectTestResolvers
@testable import DirectCore
import DirectIO
import DirectTestCommands
@testable import DirectTransport
import TLSFixtures
import Testing

import DirectHTTPRecords
@testable import DirectHTTP

@Suite("Observers", .idleLimit)
struct ObserverTests {
    @Test("An observer receives the steps of a call in their order")
    func steps() async throws {
        let server = try FixtureServer.secure("a.test") { _ in .text("hello") }
        let events = RecordedEvents()
        let client = HTTPClient.trusting { $0.observer = events.observer }
        _ = try await client.fetch(server.request(server.https("a.test")))
        #expect(
            events.words == [
                "began", "resolved", "attempted", "connected", "sending", "responded", "bodyEnded", "ended",
            ]
        )
        let report = try #require(events.reports.first)
        let exchange = try #require(report.exchanges.first)
        #expect(report.exchanges.count == 1 && exchange.reason == nil && exchange.status == .ok)
        #expect(exchange.transaction?.endpoint == server.endpoint && exchange.transaction?.name == "a.test")
        #expect(exchange.transaction?.source == .request)
        #expect(exchange.bodyBytes == 5 && exchange.isBodyWhole && exchange.requestBytes > 40)
        #expect(exchange.duration <= report.duration && exchange.start <= report.duration)
        #expect(exchange.transaction?.tls?.certificate?.sha256.count == 32)
        #expect(exchange.transaction?.tls?.certificate?.dnsNames == ["a.test"])
        let times = events.all.map(\.time)
        #expect(times == times.sorted())
    }

    @Test("An observer learns that a kept connection was not dialled")
    func reuse() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        let events = RecordedEvents()
        let client = HTTPClient.untimed { $0.observer = events.observer }
        for _ in 0..<2 { _ = try await client.get(server.http()) }
        let second = events.all.filter { $0.call == events.all.last?.call }
        #expect(second.map(\.word) == ["began", "sending", "responded", "bodyEnded", "ended"])
        #expect(Set(events.all.map(\.call)).count == 2)
    }

    @Test("The report of a request without a response has the endpoint that it was sent to")
    func endpoint() async throws {
        let server = try FixtureServer.scripted([.awaitHead, .reset])
        let events = RecordedEvents()
        let client = HTTPClient.untimed { $0.observer = events.observer }
        _ = try await httpError { try await client.fetch(server.request("http://a.test/")) }
        let exchange = try #require(events.reports.first?.exchanges.first)
        #expect(exchange.transaction == nil && exchange.endpoint == server.endpoint)
    }

    @Test("An observer receives each address that fails, also if none works")
    func failures() async throws {
        let dead = try FixtureServer.refusing()
        let good = try FixtureServer.start { _ in .text("hello") }
        let events = RecordedEvents()
        let client = HTTPClient.untimed { $0.observer = events.observer }
        var request = Request(.get, "http://a.test/")
        request.addresses = [dead.endpoint, good.endpoint]
        _ = try await client.fetch(request)
        #expect(events.reports.first?.exchanges.first?.failedAttempts.map(\.endpoint) == [dead.endpoint])
        #expect(events.words.contains("attemptFailed"))
        request.addresses = [dead.endpoint]
        _ = try await httpError { [request] in try await client.fetch(request) }
        let report = try #require(events.reports.last)
        guard case .failed(let error as HTTPError) = report.outcome else { throw Unexpected() }
        #expect(error.phase == .connect && report.exchanges.first?.error?.phase == .connect)
        #expect(report.exchanges.first?.failedAttempts.map(\.endpoint) == [dead.endpoint])
        #expect(events.words.last == "ended")
    }

    @Test("An observer receives each further hop and its reason")
    func hops() async throws {
        let server = try FixtureServer.start { request in
            request.path == "/" ? .redirect(to: "/next") : .text("there")
        }
        let events = RecordedEvents()
        let client = HTTPClient.untimed { $0.observer = events.observer }
        _ = try await client.get(server.http())
        let report = try #require(events.reports.first)
        #expect(report.exchanges.map(\.reason) == [nil, .redirect])
        #expect(report.exchanges.map(\.url.path) == ["/", "/next"])
        #expect(report.exchanges.map(\.isBodyWhole) == [true, true])
        #expect(events.words.count { $0 == "ended" } == 1)
        #expect(events.words.contains("goesOn"))
    }

    @Test("CVE-2020-8169: observer, resolver, errors and responses never see user and password")
    func credentials() async throws {
        let resolver = ScriptedResolver("scripted", .refused("no"))
        let events = RecordedEvents()
        let client = HTTPClient.untimed {
            $0.observer = events.observer
            $0.resolver = resolver
        }
        let error = try await httpError { try await client.get("http://me:p%40ss@a.test/") }
        #expect(resolver.asked.map(\.description).allSatisfy { !$0.contains("p") } && !resolver.asked.isEmpty)
        #expect(!"\(error)".contains("p%40ss") && error.name == "a.test")
        guard case .began(_, let url?) = events.all.first?.kind else { throw Unexpected() }
        #expect(url.text == "http://a.test/" && events.reports.first?.url?.text == "http://a.test/")
        #expect(events.all.allSatisfy { !"\($0)".contains("p%40ss") })
        let own = HTTPClient.untimed { $0.interceptors = [{ request, _ in try Response(to: request, 200) }] }
        #expect(try await own.get("http://me:p%40ss@a.test/").url.text == "http://a.test/")
        var settings = HTTPClient.Configuration()
        settings.authenticators[try HTTPURL("http://a.test/").origin] = .basic(user: "me", password: "p@ss")
        var shown = ""
        dump(settings, to: &shown)
        #expect(!"\(settings)\(shown)".contains("bWU6cEBzcw=="))
    }

    @Test("An observer learns that a kept connection was dead")
    func stale() async throws {
        let ok = ByteScript.Step.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8))
        let server = try FixtureServer.start(
            behaviour: .sequence([
                .bytes([.awaitHead, ok, .awaitHead, .cut]), .http { _ in .text("fresh") },
            ])
        )
        let events = RecordedEvents()
        let client = HTTPClient.untimed { $0.observer = events.observer }
        for _ in 0..<2 { _ = try await client.get(server.http()) }
        let report = try #require(events.reports.last)
        // One request for the caller, although its bytes went out twice.
        #expect(report.exchanges.count == 1 && report.exchanges.first?.transaction?.isReused == false)
        #expect(events.words.count { $0 == "foundDead" } == 1)
    }

    @Test(
        "An observer receives the end of a call when the body ends or is dropped",
        arguments: [true, false]
    )
    func bodies(isRead: Bool) async throws {
        let server = try FixtureServer.start { _ in .pattern(count: 4_000_000) }
        let events = RecordedEvents()
        let client = HTTPClient.untimed { $0.observer = events.observer }
        do {
            let response = try await client.send(Request(.get, server.http()))
            #expect(events.words.last == "responded")
            if isRead { _ = try await response.body.collect(upTo: 4_000_000) }
        }
        let report = try #require(await events.nextReport())
        guard case .response(.ok) = report.outcome else { throw Unexpected() }
        #expect(report.exchanges.first?.isBodyWhole == isRead)
        #expect(!isRead || report.exchanges.first?.bodyBytes == 4_000_000)
    }

    @Test("A request that refreshes a cached response in the background is in no call's events or report")
    func background() async throws {
        let server = try FixtureServer.start { _ in
            .text("hello", ["Cache-Control": "max-age=0, stale-while-revalidate=60"])
        }
        let (events, cache) = (RecordedEvents(), ResponseCache.memory())
        let client = HTTPClient.untimed {
            $0.observer = events.observer
            $0.cache = cache
            $0.interceptors = [
                { request, forward in
                    let response = try await forward(request)
                    // The call goes on until the request behind it has ended.
                    await cache.settle()
                    return response
                }
            ]
        }
        for _ in 0..<2 { _ = try await client.get(server.http()) }
        #expect(server.records.flatMap(\.requests).count == 2)
        let second = events.all.filter { $0.call == events.all.last?.call }
        #expect(second.map(\.word) == ["began", "ended"])
        #expect(events.reports.map(\.exchanges.count) == [1, 0])
    }

    @Test("An observer receives the end of a cancelled call")
    func cancelled() async throws {
        let server = try FixtureServer.scripted([.awaitHead, .wait(Gate())])
        let events = RecordedEvents()
        let client = HTTPClient.untimed { $0.observer = events.observer }
        let task = Task { try await client.get(server.http()) }
        try await server.waitUntil { $0.first?.receivedCount ?? 0 > 0 }
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        guard case .cancelled? = events.reports.first?.outcome else { throw Unexpected() }
        #expect(events.words.last == "ended")
    }

    @Test("An observer receives responses that were truncated, tried again and completed")
    func retried() async throws {
        let server = try FixtureServer.start(
            behaviour: .sequence([.bytes([.awaitHead, .cut]), .http { _ in .text("fresh") }])
        )
        let events = RecordedEvents()
        let client = HTTPClient.untimed {
            $0.observer = events.observer
            $0.retries = RetryPolicy()
            $0.retries?.delay = .zero
        }
        _ = try await client.get(server.http())
        let report = try #require(events.reports.first)
        #expect(report.exchanges.count == 2 && report.exchanges.first?.error?.phase == .response)
        #expect(events.words.count { $0 == "ended" } == 1)
    }

    @Test("An observer learns that a call did not use the network")
    func mock() async throws {
        let events = RecordedEvents()
        let client = Script((200, [:])).client { $0.observer = events.observer }
        _ = try await client.get("http://a.test/")
        #expect(events.words == ["began", "ended"] && events.reports.first?.exchanges.isEmpty == true)
        let real = HTTPClient.untimed { $0.observer = events.observer }
        _ = try await httpError { try await real.get("http://") }
        #expect(events.reports.count == 2)
    }

    @Test("An observer may cause further events of the same call")
    func reentrance() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        let events = RecordedEvents()
        let task = Locked<Task<Void, any Error>?>(nil)
        let client = HTTPClient.untimed {
            $0.observer = { event in
                events.observer(event)
                task.withLock { $0 }?.cancel()
            }
        }
        task.withLock { $0 = Task { _ = try await client.get(server.http()) } }
        _ = try? await task.withLock { $0 }?.value
        #expect(events.words.first == "began" && events.words.last == "ended")
    }

    @Test(
        "Each step of a chain that failed is an event and in the report, with its reason, once or several times a call"
    )
    func failedSteps() async throws {
        let (server, dead) = (try FixtureServer.start { _ in .text("hello") }, try FixtureServer.refusing())
        let broken = ScriptedResolver("broken", .malformed("TTL"))
        let map = StaticMap()
        let events = RecordedEvents()
        let client = HTTPClient.untimed {
            $0.observer = events.observer
            $0.resolver = ChainResolver(
                map,
                broken,
                ScriptedResolver("old", [dead.endpoint]),
                ScriptedResolver("silly", .refused("busy")),
                ScriptedResolver("good", [server.endpoint])
            )
        }
        _ = try await client.get("http://a.test/")
        let report = try #require(events.reports.first)
        let words = ["broken: the answer makes no sense: TTL", "silly: the server refused: busy"]
        #expect(report.exchanges.first?.resolverFailures.map { "\($0)" } == words)
        #expect("\(report)".hasSuffix(words.map { ", not resolved by \($0)" }.joined()))
        let failures = events.all.filter { $0.word == "resolverFailed" }.map { "\($0.kind)" }
        #expect(failures == words.map { "a.test not resolved: \($0)" })
        let failing = HTTPClient.untimed {
            $0.observer = events.observer
            $0.resolver = ChainResolver(broken, ScriptedResolver("silly", .refused("busy")))
        }
        _ = try await httpError { try await failing.get("http://a.test/") }
        #expect(events.reports.last?.exchanges.first?.resolverFailures.map { "\($0)" } == words)
    }

    @Test("A step that fails because a cached answer is of no use is an event, and the reason of the error")
    func failedStepBehindCache() async throws {
        let dead = try FixtureServer.refusing()
        let events = RecordedEvents()
        let client = HTTPClient.untimed {
            $0.observer = events.observer
            $0.resolver = CachingResolver(
                ChainResolver(
                    ScriptedResolver("old", [dead.endpoint]),
                    ScriptedResolver("silly", .refused("busy"))
                )
            )
        }
        let words = ["silly: the server refused: busy"]
        for _ in 0..<2 {
            let error = try await httpError { try await client.get("http://a.test/") }
            #expect("\(error.reason)" == words[0])
            #expect(events.reports.last?.exchanges.first?.resolverFailures.map { "\($0)" } == words)
        }
    }

    @Test("No error, event, report, record or dump has the text of an error of other code")
    func foreignErrors() async throws {
        struct Foreign: Error, CustomStringConvertible {
            let description = "https://dns.example/d?token=sesame"
        }
        struct Refusing: Authenticator {
            func authorization(for request: AuthenticationRequest) async throws -> String? { throw Foreign() }
            func authorization(
                for request: AuthenticationRequest,
                answering challenges: [Challenge],
                after refused: String?
            ) async throws -> String? { nil }
        }
        let (events, recorder) = (RecordedEvents(), HARRecorder())
        let odd = ClosureResolver("odd") { _ in throw Foreign() }
        let metrics = Heard<String>()
        let observed = ObservedResolver(odd) { metrics.add("\($0)") }
        func expectHidden(_ value: Any) {
            var text = "\(value) \(String(reflecting: value)) "
            dump(value, to: &text)
            #expect(!text.contains("sesame"), "\(text)")
        }
        let client = HTTPClient.untimed {
            $0.observer = events.observer
            $0.resolver = ChainResolver(observed, ScriptedResolver("next", .refused("busy")))
            $0.networkInterceptors = [recorder.interceptor]
        }
        let error = try await httpError { try await client.get("http://a.test/") }
        expectHidden(error)
        var request = Request(.get, "http://127.0.0.1:1/")
        request.authenticator = Refusing()
        let refused = try await httpError { [request] in try await client.fetch(request) }
        expectHidden(refused)
        guard case .authenticator(is Foreign) = refused.reason else { throw refused }
        expectHidden(ProxyError.authenticator(Foreign()))
        expectHidden(HTTPError(.body, .bodySource(Foreign())))
        let own = HTTPClient.untimed {
            $0.observer = events.observer
            $0.interceptors = [{ _, _ in throw Foreign() }]
        }
        await #expect(throws: Foreign.self) { try await own.get("http://a.test/") }
        for event in events.all { expectHidden(event) }
        #expect(events.reports.count == 3 && metrics.all.count == 1)
        expectHidden(metrics.all)
        expectHidden(recorder.archive)
        // The caller has the value.
        guard case .resolver(let last) = error.reason, case .other(is Foreign)? = last.earlier.first?.reason
        else { throw error }
    }

    @Test("An observer receives no secrets")
    func secrets() async throws {
        let server = try FixtureServer.start { _ in
            .status(401).adding("WWW-Authenticate", value: "Basic realm=x")
        }
        let events = RecordedEvents()
        let client = HTTPClient.untimed { $0.observer = events.observer }
        var request = Request(.get, "http://someone:sesame@\(server.authority)/")
        request.headers["Cookie"] = "sesame"
        _ = try await client.fetch(request)
        _ = try? await client.get("http://someone:sesame@nowhere.invalid:1/")
        #expect(events.reports.count == 2)
        #expect(!events.all.contains { "\($0)".contains("sesame") })
    }
}

private struct Unexpected: Error {}

/// Keeps what an observer is told.
private final class RecordedEvents: Sendable {
    private let events = Locked<[CallEvent]>([])
    private let stream = AsyncStream.makeStream(of: CallReport.self)

    var observer: @Sendable (CallEvent) -> Void {
        { [self] event in
            events.withLock { $0.append(event) }
            if case .ended(let report) = event.kind { stream.continuation.yield(report) }
        }
    }

    var all: [CallEvent] { events.withLock { $0 } }
    var words: [String] { all.map(\.word) }

    var reports: [CallReport] {
        all.compactMap { if case .ended(let report) = $0.kind { report } else { nil } }
    }

    /// The next report that no earlier call has returned, once it is there.
    func nextReport() async -> CallReport? {
        for await report in stream.stream { return report }
        return nil
    }
}

extension CallEvent {
    fileprivate var word: String {
        switch kind {
        case .began: "began"
        case .resolved: "resolved"
        case .resolverFailed: "resolverFailed"
        case .attempted: "attempted"
        case .attemptFailed: "attemptFailed"
        case .identityKept: "identityKept"
        case .connected: "connected"
        case .sending: "sending"
        case .foundDead: "foundDead"
        case .responded: "responded"
        case .bodyEnded: "bodyEnded"
        case .hedging: "hedging"
        case .goesOn: "goesOn"
        case .ended: "ended"
        @unknown default: "?"
        }
    }
}
