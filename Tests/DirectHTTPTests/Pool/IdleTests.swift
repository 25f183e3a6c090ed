@testable import DirectCore
import DirectIO
import DirectTestCommands
import DirectTestTime
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Idle connections", .idleLimit)
struct IdleTests {
    private static let ok: ByteScript.Step = .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    @Test("A timeout without a response closes connections to the same place that were silent as well")
    func frozen() async throws {
        let frozen = FixtureBehaviour.bytes([.awaitHead, .stall])
        let server = try FixtureServer.start(
            behaviour: .sequence([frozen, frozen, frozen, .http { _ in .text("hello") }])
        )
        let client = HTTPClient()
        try await client.prewarm(server.http(), connections: 3)
        var request = Request(.get, server.http())
        request.timeouts.response = .milliseconds(50)
        let error = try await httpError { [request] in try await client.fetch(request) }
        #expect(error.phase == .response && error.isTimeout)
        try #require(client.connections.isEmpty, "the next request would wait as long")
        #expect(try await client.get(server.http()).text == "hello")
    }

    @Test("A timeout in the middle of a response closes no other connection")
    func slow() async throws {
        let server = try FixtureServer.start { request in
            guard request.target == "/slow" else { return .text("hello") }
            return .script([.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n"), .stall])
        }
        let client = HTTPClient()
        try await client.prewarm(server.http(), connections: 3)
        var request = Request(.get, server.http("/slow"))
        request.timeouts.read = .milliseconds(50)
        let error = try await httpError { [request] in try await client.fetch(request) }
        #expect(error.isTimeout)
        #expect(client.connections.first?.connections.count == 2)
    }

    @Test("While a mass of connections whose time is over is closed, other tasks on the loop run")
    func massExpiry() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        let time = HeldTime()
        let client = time.client {
            $0.idleTimeout = .seconds(8)
            $0.maximumConnectionsPerOrigin = 100
        }
        try await client.prewarm(server.http(), connections: 70)
        let watching = Task(executorPreference: time.loop) { [loop = time.loop] in
            var counts: Set<Int> = []
            while true {
                let count = client.connections.first?.connections.count ?? 0
                counts.insert(count)
                guard count > 0 else { return counts }
                await loop.yield()
            }
        }
        // Each round of the maintenance; the last one is at the end of the idle time.
        for _ in 0..<4 { try await time.pass(.seconds(2)) }
        #expect(await watching.value == [70, 6, 0])
    }

    @Test("A flood of TLS messages closes an idle connection, and a few messages do not")
    func flood() async throws {
        let keys = ByteScript.Step.askForNewKeys
        for (count, isKept) in [(3, true), (40, false)] {
            let mayTalk = Gate()
            let steps = [.awaitHead, Self.ok, .wait(mayTalk)] + Array(repeating: keys, count: count)
            let server = try FixtureServer.start(
                .tls(testAuthority.certificate(for: "a.test")),
                behaviour: .bytes(ByteScript(steps + [.awaitHead, Self.ok, .stall]))
            )
            let clock = HeldClock()
            let client = HTTPClient.trusting {
                $0.loop = EventLoop(clock: clock)
                $0.idleTimeout = .seconds(1_000_000)
                $0.maximumConnectionAge = .seconds(1_000_000)
                // The next request waits for a connection that is just being looked at, and makes no other
                // one.
                $0.maximumConnectionsPerOrigin = 1
            }
            _ = try await client.fetch(server.request("https://a.test/"))
            mayTalk.open()
            // Each round of looking after what is idle is a new chance to see what has been sent.
            for _ in 0..<(isKept ? 100 : 100_000) where server.records[0].end == nil {
                clock.advance(by: .seconds(3))
                await Task.yield()
            }
            #expect((server.records[0].end == nil) == isKept)
            #expect(try await client.fetch(server.request("https://a.test/")).isReused == isKept)
        }
    }

    @Test("Two rounds of maintenance after many large bodies the heap's free memory is given back")
    func largeBodies() async throws {
        let server = try FixtureServer.start { request in
            .text(String(repeating: "x", count: request.target == "/large" ? 1024 * 1024 : 1000))
        }
        let time = HeldTime()
        let client = HTTPClient {
            $0.loop = time.loop
            $0.idleTimeout = .seconds(1000)
        }
        let pool = client.pipeline.transport.pool
        let rounds = { pool.state.withLock { $0.roundsUntilTrim } }
        for _ in 1...31 { _ = try await client.get(server.http("/large")) }
        for _ in 1...31 { _ = try await client.get(server.http("/small")) }
        #expect(rounds() == 0)
        _ = try await client.get(server.http("/large"))
        #expect(rounds() == 2)
        for left in [1, 0] {
            try await time.pass(.seconds(2))
            try await time.waitBegins(for: .seconds(2))
            #expect(rounds() == left)
        }
    }

    @Test(
        "Large bodies count as well if their connections are closed, or if they are not read to their end",
        arguments: [true, false]
    )
    func largeBodiesOfClosedConnections(isReadWhole: Bool) async throws {
        let server = try FixtureServer.start { _ in
            .text(String(repeating: "x", count: 34 * 1024 * 1024)).then(.close)
        }
        let time = HeldTime()
        let client = HTTPClient { $0.loop = time.loop }
        let pool = client.pipeline.transport.pool
        var response: Response? = try await client.send(Request(.get, server.http()))
        var (count, iterator) = (0, response?.body.makeAsyncIterator())
        while isReadWhole || count < 32 * 1024 * 1024, let piece = try await iterator?.next() {
            count += piece.count
        }
        (response, iterator) = (nil, nil)
        let rounds = { pool.state.withLock { $0.roundsUntilTrim } }
        while rounds() != 2 { await Task.yield() }
        for left in [1, 0] {
            try await time.pass(.seconds(2))
            while rounds() != left { await Task.yield() }
        }
    }

    @Test("Unread responses leave no more connections than an origin may have")
    func unread() async throws {
        let server = try FixtureServer.scripted([
            .awaitHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), .awaitClose,
        ])
        let client = HTTPClient()
        for _ in 0..<30 {
            _ = try await client.send(Request(.get, server.http()))
            #expect(client.connections.flatMap(\.connections).count <= 8)
        }
    }
}
