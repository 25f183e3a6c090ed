import DirectTestResolvers
@testable import DirectCore
import DirectIO
import DirectTestCommands
import DirectTestTime
@testable import DirectTransport
import Foundation
import TLSFixtures
import Testing

@testable import DirectHTTP

/// Each limit at each place that waits for it. No other limit is set, and the clock is moved on until the
/// call ends: the error says which limit it was.
@Suite("Limits of the phases", .idleLimit)
struct PhaseLimitTests {
    private static let limit = Duration.seconds(20)
    private let clock = HeldClock()
    private let time = HeldTime()

    private static func only(_ set: (inout Timeouts) -> Void) -> Timeouts {
        var timeouts = Timeouts(
            queue: nil,
            resolve: nil,
            connect: nil,
            tls: nil,
            write: nil,
            response: nil,
            read: nil,
            continue: nil
        )
        set(&timeouts)
        return timeouts
    }

    private func client(
        _ set: (inout Timeouts) -> Void,
        _ configure: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) -> HTTPClient {
        HTTPClient.trusting {
            $0.loop = EventLoop(clock: clock)
            $0.timeouts = Self.only(set)
            configure(&$0)
        }
    }

    /// Moves the clock on until the operation has ended; with a server, once that has received something.
    private func failure<Value: Sendable>(
        receivedBy server: FixtureServer? = nil,
        _ location: SourceLocation = #_sourceLocation,
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> HTTPError {
        let clock = clock
        let hasEnded = Locked(false)
        let call = Task {
            defer { hasEnded.withLock { $0 = true } }
            return try await operation()
        }
        try await server?.waitUntil { $0.contains { $0.receivedCount > 0 } }
        while !hasEnded.withLock({ $0 }) {
            clock.advance(by: .seconds(1))
            await Task.yield()
        }
        return try await httpError(location) { try await call.value }
    }

    private func expectTimeout<Value: Sendable>(
        _ phase: HTTPError.Phase,
        receivedBy server: FixtureServer? = nil,
        _ location: SourceLocation = #_sourceLocation,
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws {
        let error = try await failure(receivedBy: server, location, operation)
        guard case .timedOut(after: Self.limit) = error.reason, error.phase == phase else {
            Issue.record("\(error)", sourceLocation: location)
            return
        }
    }

    @Test("The `resolve` limit ends the wait for a client's resolver")
    func resolver() async throws {
        let gate = Barrier()
        let resolver = ScriptedResolver { _, _ in
            await gate.pass()
            return Resolution(["127.0.0.1"], source: .resolver("late"))
        }
        let client = client({ $0.resolve = Self.limit }) { $0.resolver = resolver }
        try await expectTimeout(.resolve) { try await client.get("http://a.test/") }
        gate.open()
    }

    @Test("The `resolve` limit ends the wait for the fallback of an answer")
    func fallback() async throws {
        let gate = Barrier()
        let dead = try FixtureServer.refusing()
        let endpoint = dead.endpoint
        let left = Locked<Duration?>(nil)
        let resolver = ScriptedResolver { _, _ in
            var answer = Resolution([endpoint], source: .resolver("first"))
            answer.fallback = { context in
                left.withLock { $0 = context.timeLeft }
                await gate.pass()
                return nil
            }
            return answer
        }
        let client = client({ $0.resolve = Self.limit }) { $0.resolver = resolver }
        let call = Task { try await client.get("http://a.test/") }
        await gate.arrivals(1)
        let error = try await failure { try await call.value }
        #expect(error.phase == .resolve)
        // The clock has stood still until then.
        #expect(left.withLock { $0 } == Self.limit)
        gate.open()
        withExtendedLifetime(dead) {}
    }

    @Test("The `connect` limit ends the wait for a server that does not accept")
    func connect() async throws {
        let server = try FixtureServer.unresponsive()
        let client = client { $0.connect = Self.limit }
        try await expectTimeout(.connect) { try await client.get(server.http()) }
    }

    @Test("The `connect` limit ends the wait for a proxy, from its first byte or in the middle of a line")
    func conversation() async throws {
        for script in [[.awaitHead, .stall], [.awaitHead, .send("HTTP/1.1 2"), .stall]] as [ByteScript] {
            let server = try FixtureServer.scripted(script, on: "127.0.0.3")
            let proxy = try Proxy("http://\(server.authority)")
            let client = client({ $0.connect = Self.limit }) { $0.proxy = ProxySettings(proxy) }
            try await expectTimeout(.proxy, receivedBy: server) { try await client.get("https://a.test/") }
        }
    }

    @Test("The `tls` limit ends the wait for a handshake")
    func handshake() async throws {
        let server = try FixtureServer.scripted(.silent)
        let client = client { $0.tls = Self.limit }
        try await expectTimeout(.tls) { try await client.fetch(server.request("https://a.test/")) }
    }

    @Test("The `write` limit ends the wait for a server that does not read a body")
    func body() async throws {
        let server = try FixtureServer.scripted([.awaitHead, .stall])
        let client = client { $0.write = Self.limit }
        let body = RequestBody.bytes([UInt8](repeating: 1, count: 32 << 20))
        try await expectTimeout(.write) { try await client.post(server.http(), body) }
    }

    @Test("The `write` limit ends the wait for a server that does not read a head before its body")
    func head() async throws {
        let server = try FixtureServer.scripted([.stall])
        let client = client { $0.write = Self.limit }
        var request = Request(.post, server.http(), body: .text("x"))
        request.headers["X-Long"] = String(repeating: "x", count: 8 << 20)
        request.expectsContinue = true
        try await expectTimeout(.write) { [request] in try await client.fetch(request) }
    }

    @Test(
        "The limit of the whole call has the phase `write` while the request is sent, then `response`",
        arguments: BodyKind.allCases
    )
    func total(_ kind: BodyKind) async throws {
        let server = try FixtureServer.scripted([.awaitHead, .stall])
        let client = client { $0.total = Self.limit }
        try await expectTimeout(kind == .short ? .response : .write, receivedBy: server) {
            try await client.post(server.http(), kind.body)
        }
    }

    @Test("The limit of the whole call has the phase `write` while the request waits for 100 (Continue)")
    func totalBeforeContinue() async throws {
        let server = try FixtureServer.scripted([.awaitHead, .stall])
        var request = Request(.post, server.http(), body: .text("body"))
        request.expectsContinue = true
        let client = client { $0.total = Self.limit }
        try await expectTimeout(.write, receivedBy: server) { [request] in try await client.fetch(request) }
    }

    /// A body that is sent at once; others that the server does not read, or that come too slowly.
    enum BodyKind: CaseIterable {
        case short, bytes, stream, stalledStream

        var body: RequestBody {
            switch self {
            case .short: .text("x")
            case .bytes: .bytes([UInt8](repeating: 1, count: 32 << 20))
            case .stream: .stream(PatternPieces(sizes: Array(repeating: 65_536, count: 512)))
            case .stalledStream: .stream(AsyncStream { $0.yield([1]) }, length: 2)
            }
        }
    }

    @Test("Interim responses do not change the phase of a request that is still being sent")
    func totalAmongInterims() async throws {
        let interims = String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 3)
        let server = try FixtureServer.scripted([.awaitHead, .send(interims), .stall])
        let client = client { $0.total = Self.limit }
        let hasCome = Barrier()
        var request = Request(.post, server.http(), body: BodyKind.bytes.body)
        request.onInterim = { _ in hasCome.open() }
        let call = Task { [request] in try await client.fetch(request) }
        await hasCome.pass()
        try await expectTimeout(.write) { try await call.value }
    }

    @Test("The `write` limit ends the wait for a peer that does not read a raw stream")
    func rawStream() async throws {
        let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: upgrade\r\n\r\n"
        let server = try FixtureServer.scripted([.awaitHead, .send(head), .stall])
        let client = client { $0.write = Self.limit }
        var request = Request(.get, server.http())
        request.upgrade = ["echo"]
        let stream = try await client.send(request).takeStream()
        try await expectTimeout(.write) { try await stream.write([UInt8](repeating: 1, count: 32 << 20)) }
    }

    @Test("The `response` limit ends the wait for a response")
    func response() async throws {
        let server = try FixtureServer.scripted([.awaitHead, .stall])
        let client = client { $0.response = Self.limit }
        try await expectTimeout(.response) { try await client.get(server.http()) }
    }

    @Test("The `response` limit begins anew after an interim response")
    func interim() async throws {
        let server = try FixtureServer.scripted([
            .awaitHead, .send("HTTP/1.1 103 Early Hints\r\n\r\n"), .stall,
        ])
        let client = client { $0.response = Self.limit }
        let hasCome = Barrier()
        var request = Request(.get, server.http())
        request.onInterim = { _ in hasCome.open() }
        let call = Task { [request] in try await client.fetch(request) }
        await hasCome.pass()
        // The limit has begun anew before the call was told of the response.
        try await expectTimeout(.response) { try await call.value }
    }

    @Test("The `read` limit ends the wait in the middle of a head or of a body")
    func read() async throws {
        let cases: [(String, HTTPError.Phase)] = [
            ("HTTP/1.1 200 OK\r\nX: ", .response), ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12", .body),
        ]
        for (text, phase) in cases {
            let server = try FixtureServer.scripted([.awaitHead, .send(text), .stall])
            let client = client { $0.read = Self.limit }
            try await expectTimeout(phase) { try await client.get(server.http()) }
        }
    }

    @Test("The `continue` limit sends the body without the server's permission, and not before")
    func leave() async throws {
        let mayGoOn = Gate()
        let server = try FixtureServer.scripted([
            .awaitHead, .send("HTTP/1.1 103 Early Hints\r\n\r\n"), .wait(mayGoOn),
            .send("HTTP/1.1 103 Early Hints\r\n\r\n"), .awaitBytes(4),
            .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .awaitClose,
        ])
        let client = client { $0.continue = Self.limit }
        let clock = clock
        var request = Request(.post, server.http(), body: .text("body"))
        request.expectsContinue = true
        // The wait has begun before the first of them, and lasts until the second.
        request.onInterim = { _ in
            clock.advance(by: mayGoOn.isOpen ? .seconds(1) : Self.limit - .seconds(1))
            mayGoOn.open()
        }
        async let answer = client.fetch(request)
        try await server.waitUntil { $0.first?.receivedText.hasSuffix("body") == true }
        #expect(try await answer.transaction?.requestTime == Self.limit)
    }

    @Test("A request's own limits replace the client's")
    func ofRequest() async throws {
        let server = try FixtureServer.scripted([.awaitHead, .stall])
        let client = client { $0.response = .seconds(70) }
        var request = Request(.get, server.http())
        request.timeouts = RequestTimeouts(Self.only { $0.response = Self.limit })
        try await expectTimeout(.response) { [request] in try await client.fetch(request) }
    }

    @Test("The `total` limit ends the wait for a server that does not respond")
    func total() async throws {
        let server = try FixtureServer.scripted([.awaitHead, .stall])
        let client = time.client { $0.timeouts = Self.only { $0.total = Self.limit } }
        let (result, elapsed) = await time.passing(Self.limit) { try await client.get(server.http()) }
        let error = try await httpError { try result.get() }
        guard case .timedOut(after: Self.limit) = error.reason, elapsed == Self.limit else { throw error }
    }

    @Test("The `queue` limit ends the wait for a place")
    func queue() async throws {
        let never = Gate()
        let server = try FixtureServer.start { request in
            try request.wait(for: never)
            return .text("late")
        }
        let client = client({ $0.queue = Self.limit }) { $0.maximumConnectionsPerOrigin = 1 }
        async let first = client.get(server.http())
        try await server.waitUntil { $0.first?.requests.count == 1 }
        try await expectTimeout(.queue) { try await client.get(server.http()) }
        never.open()
        #expect(try await first.text == "late")
    }

    @Test("The minimum speed applies to a head and to the bodies of response and request")
    func speed() async throws {
        let speed = Timeouts.Speed(bytes: 100, in: Self.limit)
        let cases: [(ByteScript, Int, HTTPError.Phase)] = [
            ([.awaitHead, .send("HTTP/1.1 200 OK\r\nX: "), .stall], 0, .response),
            ([.awaitHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12"), .stall], 0, .body),
            ([.awaitHead, .stall], 32 << 20, .write),
        ]
        for (script, size, phase) in cases {
            let server = try FixtureServer.scripted(script)
            let client = client { $0.minimumSpeed = speed }
            let body = RequestBody.bytes([UInt8](repeating: 1, count: size))
            let error = try await failure { try await client.post(server.http(), body) }
            guard case .tooSlow(speed) = error.reason, error.phase == phase else { throw error }
        }
    }

    @Test("The `resolve` limit ends the wait for the system's resolver")
    func system() async throws {
        let gate = DispatchSemaphore(value: 0)
        defer { gate.signal() }
        let lookups = SystemLookups { _ in
            gate.wait()
            return .success([])
        }
        let settings = client { $0.resolve = Self.limit }.configuration
        let client = HTTPClient(settings, network: Network(lookups))
        try await expectTimeout(.resolve) { try await client.get("http://a.test/") }
    }
}
