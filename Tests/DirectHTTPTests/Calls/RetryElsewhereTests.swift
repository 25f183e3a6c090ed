import DirectTestResolvers
@testable import DirectCore
import DirectIO
import DirectTestCommands
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Retries at other addresses", .idleLimit)
struct RetryElsewhereTests {
    /// The source of the addresses.
    enum Namer: CaseIterable { case request, resolver, system }
    /// How a server fails a request.
    enum Fault: CaseIterable { case status, cut, silence }

    private static var quick: RetryPolicy {
        var policy = RetryPolicy()
        policy.delay = .zero
        return policy
    }

    /// Servers on 127.0.0.1, 127.0.0.2 and so on, each with its own answer.
    private func servers(_ handlers: FixtureHandler...) throws -> [FixtureServer] {
        let addresses = (1...handlers.count).map { "127.0.0.\($0)" }
        return try FixtureServer.startOnSamePort(addresses) { request in
            guard let place = addresses.firstIndex(of: request.serverAddress) else { return .status(500) }
            return try handlers[place](request)
        }
    }

    private func url(_ servers: [FixtureServer], _ path: String = "/") throws -> String {
        "http://a.test:\(try #require(servers.first).port)\(path)"
    }

    private func client(
        _ servers: [FixtureServer],
        _ namer: Namer = .request,
        _ configure: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) -> HTTPClient {
        var settings = HTTPClient.trusting().configuration
        settings.retries = Self.quick
        // No race: on a busy machine the second address would be tried beside the first.
        settings.dialling.keepsOrder = true
        let endpoints = servers.map(\.endpoint)
        switch namer {
        case .request: settings.addresses = map(endpoints)
        case .resolver: settings.resolver = ScriptedResolver("dns", endpoints)
        case .system: break
        }
        configure(&settings)
        return HTTPClient(
            settings,
            network: Network(SystemLookups { _ in .success(endpoints.map(\.address)) })
        )
    }

    private func map(_ endpoints: [Endpoint]) -> StaticMap {
        var map = StaticMap()
        try? map.set(endpoints, for: HostPattern("a.test"))
        return map
    }

    private func places(_ response: BufferedResponse) -> [String] {
        (response.history.map(\.transaction) + [response.transaction]).map {
            $0?.endpoint.map { "\($0.address)" } ?? "nowhere"
        }
    }

    @Test(
        "A retry after a 5xx, a truncation or a timeout uses another address, whatever its source",
        arguments: Namer.allCases
    )
    func elsewhere(_ namer: Namer) async throws {
        for fault in Fault.allCases {
            let count = Locked(0)
            let servers = try servers(
                { _ in
                    guard count.next() == 1 else { return .status(500) }
                    return switch fault {
                    case .status: .status(503)
                    case .cut: .script([.cut])
                    case .silence: .script([.stall])
                    }
                },
                { _ in .text("good") }
            )
            let clock = HeldClock()
            let loop = EventLoop(clock: clock)
            let client = client(servers, namer) {
                if fault == .silence { $0.loop = loop }
                $0.timeouts.response = .seconds(3)
            }
            let url = try url(servers)
            let task = Task { try await client.get(url) }
            if fault == .silence {
                try await waitUntil { count.withLock { $0 } > 0 }
                try await clock.waitBegins(until: clock.now.advanced(byNanoseconds: 3_000_000_000))
                clock.advance(by: .seconds(3))
            }
            let response = try await task.value
            #expect(response.text == "good" && count.withLock { $0 } == 1, "\(fault)")
        }
    }

    @Test("Retries use each address once before one is used again, the first to fail first")
    func everywhere() async throws {
        let servers = try servers({ _ in .status(503) }, { _ in .status(502) }, { _ in .status(504) })
        let client = client(servers) { $0.retries?.attempts = 5 }
        let response = try await client.get(url(servers))
        #expect(places(response) == ["127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.1", "127.0.0.2"])
    }

    @Test("A retry uses the only address again, on the kept connection", arguments: Namer.allCases)
    func onlyOne(_ namer: Namer) async throws {
        let count = Locked(0)
        let servers = try servers({ _ in
            count.next() < 3 ? .status(503) : .text("good")
        })
        let response = try await client(servers, namer).get(url(servers))
        #expect(response.text == "good" && response.history.count == 2 && servers[0].records.count == 1)
    }

    @Test("A retry after 429 uses the same server, on the kept connection")
    func tooMany() async throws {
        let count = Locked(0)
        let servers = try servers(
            { _ in
                count.next() == 1 ? .status(429) : .text("good")
            },
            { _ in .text("elsewhere") }
        )
        let response = try await client(servers).get(url(servers))
        #expect(response.text == "good" && response.isReused && servers[1].records.isEmpty)
    }

    @Test("A retry uses only the addresses of the request", arguments: [Fault.status, .cut])
    func chosen(_ fault: Fault) async throws {
        let bad = try FixtureServer.start { _ in fault == .status ? .status(503) : .script([.cut]) }
        let other = try FixtureServer.start(on: "127.0.0.2", port: bad.port) { _ in .text("trap") }
        let resolver = ScriptedResolver("dns", [other.endpoint])
        let client = client([other]) {
            $0.resolver = resolver
        }
        _ = try? await client.fetch(bad.request("http://a.test:\(bad.port)/"))
        #expect(bad.requests.count == 3 && other.records.isEmpty && resolver.asked.isEmpty)
    }

    @Test("A retry uses a kept connection to another address")
    func keptElsewhere() async throws {
        let isBusy = Locked(false)
        let servers = try servers(
            { _ in isBusy.withLock { $0 } ? .status(503) : .text("one") },
            { _ in .text("two") }
        )
        let client = client(servers)
        var request = Request(.get, try url(servers))
        for server in servers.reversed() {
            request.addresses = [server.endpoint]
            _ = try await client.fetch(request)
        }
        isBusy.withLock { $0 = true }
        request.addresses = servers.map(\.endpoint)
        let response = try await client.fetch(request)
        #expect(response.text == "two" && response.isReused)
        #expect(servers.allSatisfy { $0.records.count == 1 })
    }

    @Test("A retry closes no other connection to the address that failed", arguments: [503, 421])
    func others(_ status: Int) async throws {
        let servers = try servers({ _ in .status(status) }, { _ in .text("good") })
        let client = client(servers, .resolver)
        try await client.prewarm(url(servers), connections: 3)
        let response = try await client.get(url(servers))
        #expect(places(response) == ["127.0.0.1", "127.0.0.2"])
        let open = client.connections.flatMap(\.connections).compactMap {
            $0.endpoint.map { "\($0.address)" }
        }
        // The one that a 421 came on serves the name no more.
        let left = status == 421 ? 2 : 3
        #expect(open == Array(repeating: "127.0.0.1", count: left) + ["127.0.0.2"])
    }

    @Test(
        "A 421 is retried once at another address, whatever the source of addresses and the method",
        arguments: Namer.allCases
    )
    func misdirected(_ namer: Namer) async throws {
        let servers = try servers({ _ in .status(421) }, { request in .text(try request.text) })
        let client = client(servers, namer) { $0.retries = nil }
        let response = try await client.post(url(servers), .text("x"))
        #expect(response.text == "x" && places(response) == ["127.0.0.1", "127.0.0.2"])
        #expect(response.history.map(\.reason) == [.misdirected])
    }

    @Test(
        "A login after a retry avoids the addresses that failed before it",
        arguments: [(503, true), (421, true), (421, false)]
    )
    func login(_ status: Int, hasPolicy: Bool) async throws {
        let servers = try servers(
            { _ in .status(status) },
            { request in
                request.headers["Authorization"] != nil
                    ? .text("good")
                    : .status(401, ["WWW-Authenticate": "Basic realm=a", "Connection": "close"])
            }
        )
        let url = try url(servers)
        let origin = try HTTPURL(url).origin
        let client = client(servers) {
            $0.authenticators = [origin: LateCredentials()]
            if !hasPolicy { $0.retries = nil }
        }
        // Connections to the first address are idle when the login is sent.
        try await client.prewarm(url, connections: 3)
        let response = try await client.get(url)
        #expect(response.text == "good" && places(response) == ["127.0.0.1", "127.0.0.2", "127.0.0.2"])
    }

    @Test("Further retries avoid the server that responded with 421")
    func misdirectedAndBusy() async throws {
        let servers = try servers({ _ in .status(421) }, { _ in .status(503) })
        let response = try await client(servers).get(url(servers))
        #expect(places(response) == ["127.0.0.1", "127.0.0.2", "127.0.0.2", "127.0.0.2"])
    }

    @Test("A retry uses the address that failed if no other can be reached")
    func nowhereElse() async throws {
        let count = Locked(0)
        let bad = try FixtureServer.start { _ in
            count.next() == 1 ? .status(503) : .text("good")
        }
        let dead = try FixtureServer.refusing(on: "127.0.0.2")
        var request = Request(.get, "http://a.test:\(bad.port)/")
        request.addresses = [bad.endpoint, dead.endpoint]
        let response = try await client([bad]).fetch(request)
        #expect(
            response.text == "good" && response.transaction?.failedAttempts.map(\.endpoint) == [dead.endpoint]
        )
    }

    @Test("A retry uses the addresses of the resolver's fallback")
    func fallback() async throws {
        let dead = try FixtureServer.refusing()
        let bad = try FixtureServer.start(on: "127.0.0.2") { _ in .status(503) }
        let good = try FixtureServer.start(on: "127.0.0.3") { _ in .text("good") }
        let resolver = ScriptedResolver("dns") { _, _ in
            var answer = Resolution([dead.endpoint], source: .resolver("dns"))
            answer.fallback = { _ in Resolution([bad.endpoint, good.endpoint], source: .resolver("old")) }
            return answer
        }
        let client = client([]) {
            $0.addresses = StaticMap()
            $0.resolver = resolver
        }
        let response = try await client.get("http://a.test/")
        #expect(places(response) == ["127.0.0.2", "127.0.0.3"])
    }

    @Test("A retry at another address checks the certificate there, too")
    func certificate() async throws {
        let bad = try FixtureServer.secure("a.test") { _ in .status(503) }
        let wrong = try FixtureServer.secure("b.test", on: "127.0.0.2")
        var request = Request(.get, "https://a.test/")
        request.addresses = [bad.endpoint, wrong.endpoint]
        let client = client([bad])
        let error = try await httpError { [request] in try await client.fetch(request) }
        #expect(error.endpoint == wrong.endpoint && error.phase == .tls && bad.requests.count == 1)
        #expect(error.history.map(\.status) == [503] && error.retryStop == nil)
    }

    @Test("A retry through a proxy that finds the server uses another address of the proxy")
    func proxy() async throws {
        let bad = try FixtureServer.start(on: "127.0.0.2") { _ in .status(503) }
        let good = try FixtureServer.start(on: "127.0.0.3") { _ in .text("good") }
        var proxy = try Proxy("http://proxy.test:3128")
        proxy.addresses = [bad.endpoint, good.endpoint]
        let settings = ProxySettings(proxy)
        let response = try await client([bad]) {
            $0.addresses = StaticMap()
            $0.proxy = settings
        }.get("http://a.test/")
        #expect(response.text == "good" && places(response) == ["127.0.0.2", "127.0.0.3"])
    }

    @Test("A retry uses another address of a proxy that refuses the tunnel for now")
    func tunnel() async throws {
        let origin = try FixtureServer.secure("a.test")
        let routes = ["a.test:443": origin.authority]
        let refusal = FixtureProxy.Refusal.response("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
        let bad = try FixtureServer.start(
            on: "127.0.0.2",
            behaviour: .proxy(FixtureProxy(routes, refusal: refusal))
        )
        let good = try FixtureServer.start(on: "127.0.0.3", behaviour: .proxy(FixtureProxy(routes)))
        var proxy = try Proxy("http://proxy.test:3128")
        proxy.addresses = [bad.endpoint, good.endpoint]
        let settings = ProxySettings(proxy)
        let response = try await client([bad]) {
            $0.addresses = StaticMap()
            $0.proxy = settings
        }.get("https://a.test/")
        #expect(response.transaction?.endpoint == good.endpoint && bad.records.count == 1)
    }

    @Test("A retry asks the proxy for another address of the server, if the client chooses addresses")
    func addressesOverProxy() async throws {
        let bad = try FixtureServer.secure("a.test") { _ in .status(503) }
        let good = try FixtureServer.secure("a.test", on: "127.0.0.2") { _ in .text("good") }
        let routes = [bad.authority: bad.authority, good.authority: good.authority]
        let server = try FixtureServer.start(on: "127.0.0.3", behaviour: .proxy(FixtureProxy(routes)))
        var proxy = try Proxy("http://proxy.test:3128")
        proxy.addresses = [server.endpoint]
        let settings = ProxySettings(proxy)
        var request = Request(.get, "https://a.test/")
        request.addresses = [bad.endpoint, good.endpoint]
        let response = try await client([bad]) { $0.proxy = settings }.fetch(request)
        #expect(response.text == "good" && places(response) == ["127.0.0.1", "127.0.0.2"])
    }

    @Test("A retry waits for Retry-After, and then uses another address")
    func retryAfter() async throws {
        let servers = try servers({ _ in .status(503, ["Retry-After": "30"]) }, { _ in .text("good") })
        let clock = HeldClock()
        let loop = EventLoop(clock: clock)
        let client = client(servers) {
            $0.loop = loop
            $0.retries?.attempts = 2
        }
        let url = try url(servers)
        let task = Task { try await client.get(url) }
        try await clock.waitBegins(until: clock.now.advanced(byNanoseconds: 30_000_000_000))
        #expect(servers[1].records.isEmpty)
        clock.advance(by: .seconds(30))
        #expect(try await places(task.value) == ["127.0.0.1", "127.0.0.2"])
    }

    @Test("A retry is made before redirects are followed and before the response is cached")
    func redirectsAndCache() async throws {
        let servers = try servers(
            { _ in .status(503) },
            { request in
                request.target == "/" ? .redirect(to: "/end") : .text("end", ["Cache-Control": "max-age=600"])
            }
        )
        let client = client(servers) { $0.cache = ResponseCache.memory() }
        let response = try await client.get(url(servers))
        #expect(response.text == "end" && response.history.map(\.reason) == [.retry, .redirect])
        let again = try await client.get(url(servers, "/end"))
        #expect(again.text == "end" && servers[1].requests.count == 2)
    }
}

extension Locked<Int> {
    fileprivate func next() -> Int {
        withLock { count in
            count += 1
            return count
        }
    }
}
