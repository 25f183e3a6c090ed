import DirectCore
@testable import DirectHTTP
import DirectIO
import DirectTestCommands
import DirectTestPeers
import DirectTestTime
import TLSFixtures
import Testing

@Suite("Time limits of a client", .idleLimit)
struct TimeoutTests {
    private let time = HeldTime()
    /// Unlike any default, so that the wait with this limit is the one that is meant.
    private let limit = Duration.seconds(7)

    private func client(_ set: (inout Timeouts) -> Void) -> HTTPClient {
        time.client { set(&$0.timeouts) }
    }

    /// The request has to fail of this limit in this phase, and not a nanosecond early.
    private func expectTimeout(
        _ phase: HTTPError.Phase,
        after limit: Duration,
        reported: Duration? = nil,
        _ location: SourceLocation = #_sourceLocation,
        _ operation: @escaping @Sendable () async throws -> some Sendable
    ) async throws {
        let (result, elapsed) = await time.passing(limit, operation)
        let error = try await httpError(location) { try result.get() }
        #expect(error.phase == phase, "\(error)", sourceLocation: location)
        guard case .timedOut(after: reported ?? limit) = error.reason else {
            Issue.record("\(error)", sourceLocation: location)
            return
        }
        #expect(elapsed == limit, sourceLocation: location)
    }

    @Test("The `connect` limit ends a connection attempt")
    func connect() async throws {
        let server = try FixtureServer.unresponsive()
        let client = client { $0.connect = limit }
        try await expectTimeout(.connect, after: limit) { try await client.get(server.http()) }
    }

    @Test("The `tls` limit ends a handshake, from its first byte or in the middle")
    func tls() async throws {
        let silent = try FixtureServer.scripted(.silent)
        let half = try FixtureServer.scripted(
            [.mute(afterBytes: 200), .handshake, .stall],
            .tls(testAuthority.certificate(for: "a.test"))
        )
        let client = client { $0.tls = limit }
        for server in [silent, half] {
            try await expectTimeout(.tls, after: limit) {
                try await client.fetch(server.request("https://a.test/"))
            }
        }
    }

    @Test(
        "What had arrived when the time of a call was over is read, as after a stop of the process",
        arguments: ["cdef", "c"]
    )
    func arrived(rest: String) async throws {
        let listener = try Listener.atOwnAddress()
        let client = client { $0 = Timeouts(read: limit, total: .seconds(10)) }
        let response = Task {
            try await client.send(Request(.get, "http://\(listener.address):\(listener.port)/"))
        }
        let peer = try await onOwnThread { try listener.accept() }
        _ = try await onOwnThread { try peer.receive() }
        try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nab")
        let body = try await response.value.body
        let answer = Task { try await body.collect(upTo: 100) }
        try await time.waitBegins(for: limit)
        try await Task.detached(executorPreference: time.loop) { [time] in
            // One job, in which the loop cannot look at anything.
            try peer.send(rest)
            time.advance(by: .seconds(20))
        }.value
        if rest.utf8.count == 4 {
            #expect(try await answer.value == Array("abcdef".utf8))
        } else {
            #expect(try await httpError { _ = try await answer.value }.isTimeout)
        }
    }

    @Test(
        "So is a head that had arrived behind an interim response, and no other",
        arguments: ["\r\n", ""]
    )
    func arrivedHead(end: String) async throws {
        let listener = try Listener.atOwnAddress()
        let client = client { $0 = Timeouts(response: limit, total: .seconds(10)) }
        let answer = Task {
            try await client.send(Request(.get, "http://\(listener.address):\(listener.port)/")).status
        }
        let peer = try await onOwnThread { try listener.accept() }
        _ = try await onOwnThread { try peer.receive() }
        try await time.waitBegins(for: limit)
        try await Task.detached(executorPreference: time.loop) { [time] in
            // One job, in which the loop cannot look at anything.
            try peer.send("HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n" + end)
            time.advance(by: .seconds(20))
        }.value
        if end.isEmpty {
            #expect(try await httpError { _ = try await answer.value }.isTimeout)
        } else {
            #expect(try await answer.value == .ok)
        }
    }

    @Test("The `queue` limit ends the wait for a place")
    func queue() async throws {
        let mayAnswer = Gate()
        let server = try FixtureServer.start { request in
            try request.wait(for: mayAnswer)
            return .text("late")
        }
        let client = time.client {
            $0.timeouts.queue = limit
            $0.maximumConnectionsPerOrigin = 1
        }
        async let first = client.get(server.http())
        try await server.waitUntil { $0.first?.requests.count == 1 }
        try await expectTimeout(.queue, after: limit) { try await client.get(server.http()) }
        mayAnswer.open()
        #expect(try await first.text == "late")
        // A request that left the queue holds no place in it.
        #expect(try await client.get(server.http()).text == "late")
    }

    @Test("The `response` limit ends the wait for the response")
    func response() async throws {
        let server = try FixtureServer.scripted([.awaitHead, .stall])
        let client = client { $0.response = limit }
        try await expectTimeout(.response, after: limit) { try await client.get(server.http()) }
        try await expectTimeout(.response, after: limit) { try await client.post(server.http(), .text("x")) }
    }

    @Test("In the middle of the head the `read` limit applies")
    func head() async throws {
        let server = try FixtureServer.scripted([.awaitHead, .send("HTTP/1.1 200 OK\r\nX: "), .stall])
        let client = client { $0.read = limit }
        try await expectTimeout(.response, after: limit) { try await client.get(server.http()) }
    }

    @Test(
        "In the middle of the body the `read` limit applies",
        arguments: ["Content-Length: 10", "Transfer-Encoding: chunked", "X: y"]
    )
    func body(field: String) async throws {
        let head = "HTTP/1.1 200 OK\r\n\(field)\r\n\r\n"
        let server = try FixtureServer.scripted([.awaitHead, .send(head + "5\r\n12"), .stall])
        let client = client { $0.read = limit }
        try await expectTimeout(.body, after: limit) { try await client.get(server.http()) }
    }

    @Test(
        "The `write` limit applies if the peer takes no bytes of a body, in memory or from a stream",
        arguments: [true, false]
    )
    func write(isStream: Bool) async throws {
        let server = try FixtureServer.scripted([.awaitHead, .stall])
        let client = client { $0.write = limit }
        let pieces = PatternPieces(sizes: Array(repeating: 1 << 16, count: 512))
        let body = isStream ? RequestBody.stream(pieces) : .bytes([UInt8](repeating: 1, count: 32 << 20))
        // The kernel may take some more once it has taken nothing, and the limit begins anew.
        let error = try await httpError {
            try await time.passing(repeatedly: limit) { try await client.post(server.http(), body) }
        }
        #expect(error.phase == .write && error.isTimeout, "\(error)")
    }

    /// Sends its bytes one by one, each when its gate opens.
    private func drip(_ gates: [Gate]) throws -> FixtureServer {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(gates.count)\r\n\r\n"
        return try .scripted(
            ByteScript(
                [.awaitHead, .send(head)] + gates.flatMap { [.wait($0), .send("a")] } + [.awaitClose]
            )
        )
    }

    /// Lets a byte through whenever almost the whole limit for reading has passed.
    private func open(_ gates: some Sequence<Gate>, passOneBy one: Duration) async throws {
        for gate in gates {
            // All bytes before have been read, for the limit has begun anew.
            try await time.waitBegins(for: limit)
            time.advance(by: one)
            await time.settle()
            gate.open()
        }
    }

    @Test("A slow response is no stall, but ends with the total limit")
    func slowDrip() async throws {
        let gates = (0..<5).map { _ in Gate() }
        let server = try drip(gates)
        let client = client {
            $0.read = limit
            $0.total = .seconds(20)
        }
        async let failure = httpError { try await client.get(server.http()) }
        try await open(gates.prefix(3), passOneBy: .seconds(6))
        try await time.pass(.seconds(2))
        let error = try await failure
        guard case .timedOut(after: .seconds(20)) = error.reason, error.phase == .body else {
            Issue.record("\(error)")
            return
        }
    }

    @Test("A response may last longer than the `read` limit if its bytes arrive faster")
    func fastDrip() async throws {
        let gates = (0..<5).map { _ in Gate() }
        let server = try drip(gates)
        let client = client { $0.read = limit }
        async let response = client.get(server.http())
        try await open(gates, passOneBy: .seconds(6))
        #expect(try await response.body.count == 5)
    }

    @Test("The total limit applies in each phase")
    func total() async throws {
        let dead = try FixtureServer.unresponsive()
        let mute = try FixtureServer.scripted([.awaitHead, .stall])
        let client = client { $0.total = limit }
        try await expectTimeout(.connect, after: limit) { try await client.get(dead.http()) }
        try await expectTimeout(.response, after: limit) { try await client.get(mute.http()) }
        let upload = RequestBody.bytes([UInt8](repeating: 1, count: 32 << 20))
        let untaken = try await httpError {
            try await time.passing(limit) { try await client.post(mute.http(), upload) }.result.get()
        }
        #expect(untaken.isTimeout && [.write, .response].contains(untaken.phase), "\(untaken)")
    }

    @Test("A limit of zero fails at once")
    func zero() async throws {
        let server = try FixtureServer.scripted([.awaitHead, .stall])
        let error = try await httpError { try await client { $0.total = .zero }.get(server.http()) }
        #expect(error.isTimeout)
        let negative = try await httpError {
            try await client { $0.response = .seconds(-1) }.get(server.http())
        }
        #expect(negative.isTimeout)
    }

    @Test("A request's own limits come before the client's")
    func ofRequest() async throws {
        let server = try FixtureServer.scripted([.awaitHead, .stall])
        var request = Request(.get, server.http())
        request.timeouts.response = .after(limit)
        let client = client { $0.response = .seconds(5) }
        try await expectTimeout(.response, after: limit) { [request] in try await client.fetch(request) }
    }

    @Test("A connection whose request timed out is closed and not reused")
    func closed() async throws {
        let server = try FixtureServer.start(
            behaviour: .sequence([
                .bytes([.awaitHead, .awaitClose]), .http { _ in .text("second") },
            ])
        )
        let client = client { $0.response = limit }
        try await expectTimeout(.response, after: limit) { try await client.get(server.http()) }
        #expect(try await server.nextRecord().end == .clientClosed)
        #expect(try await client.get(server.http()).text == "second")
    }

    @Test("The limit of an earlier request does not end a later one on the same connection")
    func oldDeadline() async throws {
        let mayAnswer = Gate()
        let server = try FixtureServer.start { request in
            if request.path == "/slow" { try request.wait(for: mayAnswer) }
            return .text("ok")
        }
        let client = time.client()
        var quick = Request(.get, server.http("/quick"))
        quick.timeouts = RequestTimeouts(response: .after(limit), total: .after(limit))
        _ = try await client.fetch(quick)
        async let slow = client.get(server.http("/slow"))
        try await time.waitBegins(for: .seconds(60))
        time.advance(by: limit * 2)
        await time.settle()
        mayAnswer.open()
        let response = try await slow
        #expect(response.text == "ok" && response.isReused)
    }
}
