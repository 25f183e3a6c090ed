import DirectCore
import DirectHTTP
import DirectIO
import DirectTestCommands
import TLSFixtures
import Testing

@Suite("Prewarmed connections", .idleLimit)
struct PrewarmingTests {
    private static let ok: ByteScript.Step = .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    /// A server whose handshakes wait for the gate.
    private func server(_ steps: ByteScript.Step..., then rest: FixtureBehaviour? = nil) throws
        -> FixtureServer
    {
        let first = FixtureBehaviour.bytes(ByteScript(steps))
        let behaviour = FixtureBehaviour.sequence([first, rest ?? first])
        return try FixtureServer.start(.tls(testAuthority.certificate(for: "a.test")), behaviour: behaviour)
    }

    @Test(
        "Prewarming neither exceeds the limit nor waits, and the next request uses a connection that exists"
    )
    func besideABusyOne() async throws {
        let mayAnswer = Gate()
        let server = try FixtureServer.start { request in
            if request.target == "/slow" { try request.wait(for: mayAnswer) }
            return .text("hello")
        }
        let client = HTTPClient { $0.maximumConnectionsPerOrigin = 2 }
        async let slow = client.get(server.http("/slow"))
        try await server.waitUntil { $0.first?.requests.count == 1 }
        try await client.prewarm(server.http(), connections: 2)
        try await server.waitUntil { $0.count == 2 }
        _ = try await client.get(server.http())
        #expect(server.records.map(\.requests.count) == [1, 1])
        mayAnswer.open()
        #expect(try await slow.text == "hello")
    }

    @Test("Concurrent calls of `prewarm` do not wait for each other, and share the requested number")
    func atATime() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        for _ in 0..<20 {
            let client = HTTPClient {
                $0.maximumConnectionsPerOrigin = 4
                $0.timeouts.queue = .seconds(2)
            }
            let before = server.records.count
            try await withThrowingTaskGroup { group in
                for count in [2, 2, 4, 4] {
                    group.addTask { try await client.prewarm(server.http(), connections: count) }
                }
                try await group.waitForAll()
            }
            #expect(client.connections.first?.connections.count == 4)
            try await server.waitUntil { $0.count == before + 4 }
        }
    }

    @Test("A prewarmed connection is given to a waiting request as soon as it is made")
    func toAWaiter() async throws {
        let mayShakeHands = Gate()
        let server = try server(.wait(mayShakeHands), .awaitHead, Self.ok)
        let client = HTTPClient.trusting { $0.maximumConnectionsPerOrigin = 1 }
        async let warm: Void = client.prewarm(server.request("https://a.test/"))
        try await server.waitUntil { $0.count == 1 }
        async let waiting = client.fetch(server.request("https://a.test/"))
        try await waitUntil { client.connections.first?.waiting == 1 }
        mayShakeHands.open()
        try await warm
        #expect(try await waiting.text == "ok")
        #expect(server.records.count == 1)
    }

    @Test("A prewarmed connection that fails gives its place to a waiting request", arguments: [true, false])
    func givesUpItsPlace(isCancelled: Bool) async throws {
        let mayFail = Gate()
        let server = try server(.wait(mayFail), .rawBytes([1]), .cut, then: .http { _ in .text("hello") })
        let client = HTTPClient.trusting { $0.maximumConnectionsPerOrigin = 1 }
        let warm = Task { try await client.prewarm(server.request("https://a.test/")) }
        try await server.waitUntil { $0.count == 1 }
        async let waiting = client.fetch(server.request("https://a.test/"))
        try await waitUntil { client.connections.first?.waiting == 1 }
        if isCancelled { warm.cancel() } else { mayFail.open() }
        #expect(try await waiting.text == "hello")
        await #expect(throws: (any Error).self) { try await warm.value }
        mayFail.open()
    }

    @Test("Connections to other addresses do not count for prewarming, and make room")
    func elsewhere() async throws {
        let servers = try FixtureServer.startOnSamePort(["127.0.0.2", "127.0.0.3"]) {
            .text($0.serverAddress)
        }
        let client = HTTPClient { $0.maximumConnectionsPerOrigin = 3 }
        func request(_ server: FixtureServer) -> Request {
            var request = Request(.get, "http://a.test:\(server.port)/")
            request.addresses = [server.endpoint]
            return request
        }
        for server in servers {
            try await client.prewarm(request(server), connections: 2)
            try await server.waitUntil { $0.count == 2 }
        }
        let connections = client.connections.flatMap(\.connections)
        #expect(connections.count { $0.endpoint == servers[0].endpoint } == 1)
        #expect(connections.count { $0.endpoint == servers[1].endpoint } == 2)
    }

    @Test("The first request on a prewarmed connection reuses none, and spends no time on making one")
    func firstRequest() async throws {
        let server = try FixtureServer.secure("a.test")
        let client = HTTPClient.trusting()
        let request = server.request("https://a.test/")
        try await client.prewarm(request)
        let first = try #require(try await client.fetch(request).transaction)
        #expect(!first.isReused && first.tls != nil)
        #expect(first.connectTime == nil && first.tlsTime == nil && first.resolveTime == nil)
        let second = try #require(try await client.fetch(request).transaction)
        #expect(second.isReused && second.connectTime == nil)
        #expect(server.records.count == 1)
    }

    @Test("A prewarmed connection that the server closes unused is replaced, as any idle one")
    func closedUnused() async throws {
        let server = try FixtureServer.start(
            behaviour: .sequence([.bytes([.awaitHead, .cut]), .http { _ in .text("fresh") }])
        )
        let client = HTTPClient.untimed()
        try await client.prewarm(server.http())
        let response = try await client.get(server.http())
        #expect(response.text == "fresh" && !response.isReused && server.records.count == 2)
    }

    @Test("The addresses that failed for a prewarmed connection did not fail for its first request")
    func failedAttempts() async throws {
        let (dead, server) = (try FixtureServer.refusing(), try FixtureServer.start { _ in .text("hello") })
        let reports = Locked<[CallReport]>([])
        let client = HTTPClient.untimed {
            $0.observer = { event in
                if case .ended(let report) = event.kind { reports.withLock { $0.append(report) } }
            }
        }
        var request = Request(.get, "http://a.test/")
        request.addresses = [dead.endpoint, server.endpoint]
        try await client.prewarm(request)
        _ = try await client.fetch(request)
        let exchange = try #require(reports.withLock { $0 }.first?.exchanges.first)
        #expect(exchange.failedAttempts.isEmpty && exchange.transaction?.isReused == false)
        #expect(exchange.transaction?.failedAttempts.map(\.endpoint) == [dead.endpoint])
    }

    @Test("Prewarming a name with HSTS uses TLS")
    func hsts() async throws {
        let server = try FixtureServer.secure("a.test")
        let store = HSTSStore()
        store.add(
            HSTSStore.Entry(try DomainName("a.test"), until: UnixTime(seconds: UnixTime.now.seconds + 1000))
        )
        let client = HTTPClient.trusting { $0.hsts = store }
        try await client.prewarm(server.request("http://a.test:\(server.port)/"))
        #expect(client.connections.map(\.origin.scheme) == [.https])
    }

    @Test("Prewarming makes no connection if a custom transport replaces the network")
    func transport() async throws {
        let server = try FixtureServer.refusing()
        let client = HTTPClient { $0.transport = { try Response(to: $0, 200) } }
        try await client.prewarm(server.http())
    }
}
