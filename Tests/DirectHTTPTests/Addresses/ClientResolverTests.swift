import DirectResolvers
import DirectTestResolvers
@testable import DirectCore
import DirectIO
import DirectTestCommands
import DirectTestTime
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("A client's resolver", .idleLimit)
struct ClientResolverTests {
    private let time = HeldTime()

    @Test("A client's resolver gives only the address: SNI, certificate and Host remain the URL's")
    func address() async throws {
        let server = try FixtureServer.secure("a.test")
        let resolver = ScriptedResolver("scripted", [Endpoint(server.endpoint.address)])
        let client = HTTPClient.trusting { $0.resolver = resolver }
        let response = try await client.get("https://user:secret@A.test.:\(server.port)/")
        #expect(response.transaction?.source == .resolver("scripted"))
        #expect(response.transaction?.resolveTime != nil)
        #expect(server.requests.first?.host == "a.test:\(server.port)")
        // Lower case, no dot, no user.
        #expect(resolver.asked == ["a.test:\(server.port)"])
    }

    @Test("A client's resolver comes after the request's addresses, the static map and a literal in the URL")
    func precedence() async throws {
        let server = try FixtureServer.secure("a.test", "b.test") { _ in .text("ok") }
        let plain = try FixtureServer.start(.plain) { _ in .text("ok") }
        let resolver = ScriptedResolver("scripted", [Endpoint(server.endpoint.address)])
        let client = HTTPClient.trusting {
            $0.resolver = resolver
            try? $0.addresses.set([Endpoint(server.endpoint.address)], for: HostPattern("b.test"))
        }
        #expect(
            try await client.fetch(server.request(server.https("a.test"))).transaction?.source == .request
        )
        #expect(try await client.get(server.https("b.test")).transaction?.source == .staticMap)
        #expect(try await client.get(plain.http()).transaction?.source == .url)
        #expect(resolver.asked.isEmpty)
    }

    @Test("A request's own map comes after its addresses and before the client's map, on each hop")
    func requestMap() async throws {
        let there = try FixtureServer.secure("b.test", on: "127.0.0.3") { .text("\($0.target)") }
        let here = try FixtureServer.secure("a.test", on: "127.0.0.2") { request in
            .redirect(to: request.path == "/1" ? "https://b.test/" : "https://c.test/")
        }
        let resolver = ScriptedResolver("scripted", .noSuchName)
        let client = HTTPClient.trusting {
            $0.resolver = resolver
            try? $0.addresses.set(["127.0.0.9:1"], for: HostPattern("b.test"))
        }
        var request = Request(.get, "https://a.test/1")
        var map = StaticMap()
        try map.set([here.endpoint], for: HostPattern("a.test"))
        try map.set([there.endpoint], for: HostPattern("*.test"))
        try map.set([there.endpoint], for: HostPattern("b.test"))
        request.addressMap = map
        let response = try await client.fetch(request)
        #expect(response.transaction?.endpoint == there.endpoint && response.transaction?.source == .request)
        #expect(response.history.map(\.transaction?.endpoint) == [here.endpoint])
        #expect(resolver.asked.isEmpty)
        // Unlisted names are left to the client, and addresses of the request come before the map.
        map.remove(try HostPattern("*.test"))
        request = Request(.get, "https://a.test/2")
        request.addressMap = map
        let error = try await httpError { [request] in try await client.fetch(request) }
        #expect(error.name == "c.test" && resolver.asked == ["c.test:443"])
        var pinned = Request(.get, "https://b.test/")
        pinned.addresses = [there.endpoint]
        pinned.addressMap = try StaticMap(curl: ["b.test:443:127.0.0.9"])
        #expect(try await client.fetch(pinned).status == 200)
    }

    @Test("If a client's resolver fails, the system's resolver is not asked")
    func failure() async throws {
        let client = HTTPClient.untimed { $0.resolver = ScriptedResolver("scripted", .refused("no")) }
        let error = try await httpError { try await client.get("http://localhost:1/") }
        #expect(error.phase == .resolve && error.endpoint == nil)
        #expect(error.description == "GET http://localhost:1/: resolve: scripted: the server refused: no")
    }

    @Test("A custom resolver may throw any error or return a faulty literal, and the call fails with it")
    func strangers() async throws {
        struct Strange: Error {}
        let throwing = HTTPClient.untimed {
            $0.resolver = ScriptedResolver("odd") { _, _ in throw Strange() }
        }
        let error = try await httpError { try await throwing.get("http://a.test/") }
        guard case .resolver(let inner) = error.reason, case .other(let cause) = inner.reason else {
            Issue.record("\(error)")
            return
        }
        #expect(cause is Strange && inner.source == "odd")
        let nonsense = HTTPClient.untimed { $0.resolver = ScriptedResolver("odd", ["not an address"]) }
        let fault = try await httpError { try await nonsense.get("http://a.test/") }
        let words = "odd: \"not an address\" is not an IPv4 or IPv6 address"
        #expect(fault.description == "GET http://a.test/: resolve: \(words)")
    }

    @Test("A resolver that ignores its deadline is abandoned")
    func deadline() async throws {
        let gate = Barrier()
        defer { gate.open() }
        let client = time.client {
            $0.resolver = ScriptedResolver("deaf") { _, _ in
                await gate.pass()
                throw CancellationError()
            }
        }
        var impatient = Request(.get, "http://a.test/")
        impatient.timeouts.resolve = .seconds(2)
        async let failure = httpError { [impatient] in try await client.fetch(impatient) }
        try await time.pass(.seconds(2))
        let error = try await failure
        #expect(error.phase == .resolve && error.isTimeout)
        let task = Task { try await client.get("http://a.test/") }
        await gate.arrivals(2)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("A cached answer is used at once, and a connection is reused while the answer is valid")
    func cached() async throws {
        let server = try FixtureServer.secure("a.test")
        let resolver = ScriptedResolver("scripted", [Endpoint(server.endpoint.address)])
        let cache = CachingResolver(resolver, loop: .still)
        let client = HTTPClient.trusting { $0.resolver = cache }
        let first = try await client.get(server.https("a.test"))
        #expect(first.transaction?.isReused == false)
        let second = try await client.get(server.https("a.test"))
        #expect(second.transaction?.isReused == true)
        #expect(resolver.asked.count == 1)
    }

    @Test("A connection to an address that the resolver no longer returns is not used")
    func changed() async throws {
        let one = try FixtureServer.secure("a.test", on: "127.0.0.1")
        let endpoint = Locked(one.endpoint)
        let resolver = ScriptedResolver("scripted") { _, _ in
            Resolution([endpoint.withLock { $0 }], source: .resolver("scripted"))
        }
        let client = HTTPClient.trusting { $0.resolver = resolver }
        let two = try FixtureServer.secure("a.test", on: "127.0.0.2")
        _ = try await client.get("https://a.test/")
        endpoint.withLock { $0 = two.endpoint }
        let response = try await client.get("https://a.test/")
        #expect(response.transaction?.endpoint == two.endpoint)
        #expect(two.requests.count == 1)
    }

    @Test("After a resolver without reachable addresses the next is asked, and a cache remembers its answer")
    func connectFailure() async throws {
        let server = try FixtureServer.secure("a.test")
        let dead = try FixtureServer.refusing()
        let first = ScriptedResolver("first", [dead.endpoint])
        let second = ScriptedResolver("second", [server.endpoint])
        for fallback in [ChainResolver.Fallback.onResolveFailure, .onConnectFailure] {
            let chain = ChainResolver(first, second, fallback: fallback)
            let cache = CachingResolver(chain, loop: .still)
            let client = HTTPClient.trusting { $0.resolver = cache }
            if fallback == .onResolveFailure {
                let error = try await httpError { try await client.get("https://a.test/") }
                #expect(error.phase == .connect && second.asked.isEmpty)
            } else {
                let response = try await client.get("https://a.test/")
                #expect(response.transaction?.source == .resolver("second"))
                #expect(response.transaction?.failedAttempts.map(\.endpoint) == [dead.endpoint])
                let again = try await client.get("https://a.test/")
                #expect(again.transaction?.isReused == true)
            }
        }
        #expect(first.reported.filter { $0.hasPrefix(dead.endpoint.description) }.count == 2)
        #expect(second.asked.count == 1)
    }

    @Test("The client's vetting applies to the addresses of resolver, URL, map, request and redirect")
    func vetting() async throws {
        let server = try FixtureServer.start(.plain) { _ in .text("never") }
        let elsewhere = try FixtureServer.start(.plain, on: "127.0.0.2") { _ in
            .redirect(to: "http://\(server.authority)/")
        }
        let client = HTTPClient.untimed {
            let allowed = try? AddressRange("127.0.0.2")
            $0.vetting = .publicInternetOnly(allowing: allowed.map { [$0] } ?? [])
            try? $0.addresses.set([server.endpoint], for: HostPattern("map.test"))
            $0.resolver = ScriptedResolver("scripted", [server.endpoint])
        }
        var pinned = Request(.get, "http://pinned.test/")
        pinned.addresses = [server.endpoint]
        let requests = [
            pinned, Request(.get, server.http()), Request(.get, "http://map.test/"),
            Request(.get, "http://a.test/"), Request(.get, elsewhere.http()),
            Request(.get, "http://[::ffff:127.0.0.1]:\(server.port)/"),
        ]
        for request in requests {
            let error = try await httpError { try await client.fetch(request) }
            guard case .refused(let refusal) = error.reason else {
                Issue.record("\(error)")
                continue
            }
            #expect(refusal.reason.contains("loopback"))
        }
        #expect(server.records.isEmpty && elsewhere.requests.count == 1)
    }

    @Test("The system's resolver finds the local host")
    func system() async throws {
        let answer = try await SystemResolver().resolve(
            .test("localhost"),
            port: 80,
            context: ResolveContext(on: .still)
        )
        #expect(answer.source == .system)
        #expect(answer.endpoints.contains { $0.address == IPAddress("127.0.0.1") })
        let error = try await resolverError {
            try await SystemResolver().endpoints("no-such-name.invalid")
        }
        guard case .lookup = error.reason else {
            Issue.record("\(error)")
            return
        }
    }
}
