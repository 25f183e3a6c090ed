import DirectHTTP
import TLSFixtures
import Testing

@Suite("Time limits", .timeLimit(.minutes(1)))
struct TimeoutTests {
    private let short = Duration.milliseconds(80)

    private func client(_ set: (inout Timeouts) -> Void) -> HTTPClient {
        .trusting { set(&$0.timeouts) }
    }

    /// The request has to fail of this limit in this phase, neither early nor much later.
    private func expectTimeout(
        _ phase: HTTPError.Phase,
        after limit: Duration,
        _ location: SourceLocation = #_sourceLocation,
        _ operation: () async throws -> some Any
    ) async throws {
        let start = ContinuousClock.now
        let error = try await httpError(location, operation)
        let elapsed = start.duration(to: .now)
        #expect(error.phase == phase, "\(error)", sourceLocation: location)
        guard case .timedOut(after: limit) = error.reason else {
            Issue.record("\(error)", sourceLocation: location)
            return
        }
        #expect(elapsed >= limit, sourceLocation: location)
        #expect(elapsed < limit + patience, sourceLocation: location)
    }

    @Test("connecting")
    func connect() async throws {
        let server = try FixtureServer.unresponsive()
        try await expectTimeout(.connect, after: short) {
            try await client { $0.connect = short }.get(server.http())
        }
    }

    @Test("the TLS handshake, from its first byte or from the middle of it")
    func tls() async throws {
        let silent = try FixtureServer.scripted(.silent)
        let half = try FixtureServer.scripted(
            [.mute(afterBytes: 200), .handshake, .stall],
            .tls(testAuthority.certificate(for: "a.test"))
        )
        let client = client { $0.tls = short }
        for server in [silent, half] {
            try await expectTimeout(.tls, after: short) {
                try await client.fetch(server.request("https://a.test/"))
            }
        }
    }

    @Test("waiting for a turn")
    func queue() async throws {
        let mayAnswer = Gate()
        let server = try FixtureServer.start { request in
            try request.wait(for: mayAnswer)
            return .text("late")
        }
        let client = HTTPClient {
            $0.timeouts.queue = .milliseconds(80)
            $0.maximumConnectionsPerOrigin = 1
        }
        async let first = client.get(server.http())
        try await server.waitUntil { $0.first?.requests.count == 1 }
        try await expectTimeout(.queue, after: short) { try await client.get(server.http()) }
        mayAnswer.open()
        #expect(try await first.text == "late")
        // Who left the queue holds no place in it.
        #expect(try await client.get(server.http()).text == "late")
    }

    @Test("waiting for the response")
    func response() async throws {
        let server = try FixtureServer.scripted([.awaitHead, .stall])
        let client = client { $0.response = short }
        try await expectTimeout(.response, after: short) { try await client.get(server.http()) }
        try await expectTimeout(.response, after: short) { try await client.post(server.http(), .text("x")) }
    }

    @Test("in the middle of the head it is the limit for reading that counts")
    func head() async throws {
        let server = try FixtureServer.scripted([.awaitHead, .send("HTTP/1.1 200 OK\r\nX: "), .stall])
        let client = client { $0.read = short }
        try await expectTimeout(.response, after: short) { try await client.get(server.http()) }
    }

    @Test(
        "in the middle of the body",
        arguments: ["Content-Length: 10", "Transfer-Encoding: chunked", "X: y"]
    )
    func body(field: String) async throws {
        let head = "HTTP/1.1 200 OK\r\n\(field)\r\n\r\n"
        let server = try FixtureServer.scripted([.awaitHead, .send(head + "5\r\n12"), .stall])
        let client = client { $0.read = short }
        try await expectTimeout(.body, after: short) { try await client.get(server.http()) }
    }

    @Test("the peer takes nothing of a body, be it bytes or a stream", arguments: [true, false])
    func write(isStream: Bool) async throws {
        let server = try FixtureServer.scripted([.awaitHead, .stall])
        let client = client { $0.write = short }
        let pieces = PatternPieces(sizes: Array(repeating: 1 << 16, count: 512))
        let body = isStream ? RequestBody.stream(pieces) : .bytes([UInt8](repeating: 1, count: 32 << 20))
        let start = ContinuousClock.now
        let error = try await httpError { try await client.post(server.http(), body) }
        #expect(error.phase == .write && error.isTimeout, "\(error)")
        #expect(start.duration(to: .now) < patience)
    }

    @Test("a slow drip is no stall, but runs into the limit for everything")
    func drip() async throws {
        let server = try FixtureServer.start { _ in
            .drip(Array(repeating: 0x61, count: 40_000), every: .milliseconds(5))
        }
        try await withGrowingLimits { limit in
            let client = client { $0.total = limit }
            let error = try await httpError { try await client.get(server.http()) }
            guard case .timedOut(after: limit) = error.reason else {
                Issue.record("\(error)")
                return true
            }
            return error.phase == .body
        }
    }

    @Test("a drip faster than the limit for reading goes on for longer than that limit")
    func fastDrip() async throws {
        let server = try FixtureServer.start { _ in
            .drip(Array(repeating: 0x61, count: 30), every: .milliseconds(25))
        }
        try await withGrowingLimits { limit in
            let client = client { $0.read = limit }
            do {
                return try await client.get(server.http()).body.count == 30
            } catch let error as HTTPError where error.isTimeout {
                return false
            }
        }
    }

    @Test("the limit for everything holds in each phase")
    func total() async throws {
        let dead = try FixtureServer.unresponsive()
        let mute = try FixtureServer.scripted([.awaitHead, .stall])
        try await expectTimeout(.connect, after: short) {
            try await client { $0.total = short }.get(dead.http())
        }
        let upload = RequestBody.bytes([UInt8](repeating: 1, count: 32 << 20))
        try await withGrowingLimits { limit in
            let client = client { $0.total = limit }
            let unanswered = try await httpError { try await client.get(mute.http()) }
            let untaken = try await httpError { try await client.post(mute.http(), upload) }
            #expect(unanswered.isTimeout && untaken.isTimeout, "\(unanswered), \(untaken)")
            return unanswered.phase == .response && [.write, .response].contains(untaken.phase)
        }
    }

    @Test("a limit of nothing fails at once, in place of never")
    func zero() async throws {
        let server = try FixtureServer.scripted([.awaitHead, .stall])
        let error = try await httpError { try await client { $0.total = .zero }.get(server.http()) }
        #expect(error.isTimeout)
        let negative = try await httpError {
            try await client { $0.response = .seconds(-1) }.get(server.http())
        }
        #expect(negative.isTimeout)
    }

    @Test("a request's own limits come before the client's")
    func ofRequest() async throws {
        let server = try FixtureServer.scripted([.awaitHead, .stall])
        var request = Request(.get, server.http())
        request.timeouts = Timeouts(response: short)
        try await expectTimeout(.response, after: short) { [request] in
            try await client { $0.response = .seconds(50) }.fetch(request)
        }
    }

    @Test("a connection whose request ran out of time is closed, and serves nobody else")
    func closed() async throws {
        let server = try FixtureServer.start(
            behaviour: .sequence([
                .bytes([.awaitHead, .awaitClose]), .http { _ in .text("second") },
            ])
        )
        let client = client { $0.response = short }
        try await expectTimeout(.response, after: short) { try await client.get(server.http()) }
        #expect(try await server.nextRecord().end == .clientClosed)
        #expect(try await client.get(server.http()).text == "second")
    }

    @Test("an earlier request's limit does not hit a later one on the same connection")
    func oldDeadline() async throws {
        try await withGrowingLimits { limit in
            let server = try FixtureServer.start { request in
                if request.path == "/slow" { try request.pause(limit * 1.2) }
                return .text("ok")
            }
            let client = HTTPClient()
            var quick = Request(.get, server.http("/quick"))
            quick.timeouts = Timeouts(response: limit, total: limit)
            do {
                _ = try await client.fetch(quick)
            } catch let error as HTTPError where error.isTimeout {
                return false
            }
            let slow = try await client.get(server.http("/slow"))
            #expect(slow.text == "ok" && slow.isReused)
            return true
        }
    }
}
