@testable import DirectCore
import DirectIO
import DirectTestCommands
import DirectTestTime
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Limits of waits in an exchange", .idleLimit)
struct LimitTests {
    private let time = HeldTime()
    private static let endless = "HTTP/1.1 200 OK\r\n\r\n"

    @Test("The total limit applies while bytes keep arriving", arguments: [true, false])
    func totalOfFlood(isChunked: Bool) async throws {
        let head = isChunked ? "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" : Self.endless
        let piece =
            isChunked
            ? "400\r\n" + String(repeating: "x", count: 1024) + "\r\n" : String(repeating: "x", count: 1024)
        let server = try FixtureServer.scripted([
            .awaitHead, .send(head), .flood(Array(String(repeating: piece, count: 64).utf8), times: .max),
        ])
        let client = time.client { $0.timeouts.total = .seconds(3600) }
        let response = try await client.send(Request(.get, server.http()))
        var iterator = response.body.makeAsyncIterator()
        _ = try await iterator.next()
        time.advance(by: .seconds(3600))
        let error = try await httpError {
            // As much as receive buffers hold may still be delivered.
            var count = 0
            while count < 1 << 20 { count += try #require(await iterator.next()).count }
        }
        #expect(error.phase == .body && error.isTimeout)
    }

    @Test("Collecting a body that keeps arriving ends with the total limit")
    func totalOfCollect() async throws {
        let piece = [UInt8](repeating: 120, count: 65_536)
        let server = try FixtureServer.scripted([
            .awaitHead, .send(Self.endless), .flood(piece, times: .max),
        ])
        let client = time.client { $0.timeouts.total = .seconds(30) }
        let received = Locked<UInt64>(0)
        var request = Request(.get, server.http())
        request.onDownload = { progress in received.withLock { $0 = progress.bytes } }
        let response = try await client.send(request)
        async let failure = httpError { try await response.body.collect(upTo: .max) }
        try await waitUntil { received.withLock { $0 } > 1 << 20 }
        time.advance(by: .seconds(30))
        let error = try await failure
        #expect(error.phase == .body && error.isTimeout)
    }

    @Test(
        "A body that stops within a size line, a chunk's end or the trailers ends with the limit of reading",
        arguments: Self.beginnings
    )
    func readOfFraming(beginning: String) async throws {
        let error = try await failure(after: beginning) { $0.timeouts.read = .seconds(61) }
        #expect(error.phase == .body && error.isTimeout)
    }

    @Test(
        "The total limit applies within a size line, a chunk's end and the trailers",
        arguments: Self.beginnings
    )
    func totalOfFraming(beginning: String) async throws {
        let error = try await failure(after: beginning) {
            $0.timeouts.read = nil
            $0.timeouts.total = .seconds(61)
        }
        #expect(error.phase == .body && error.isTimeout)
    }

    /// Where chunked content can stop without being complete.
    private static let beginnings = [
        "", "5", "5;a=\"b", "5\r", "2\r\nok", "2\r\nok\r", "0\r\n", "0\r\nX", "0\r\nX: y\r\n",
        "0\r\nX: y\r\n\r",
    ]

    /// The error of a body that stops after this beginning, when a minute and a second have passed.
    private func failure(
        after beginning: String,
        _ change: (inout HTTPClient.Configuration) -> Void
    ) async throws -> HTTPError {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"
        // In one write: a wait for the beginning could be taken for the one behind it.
        let server = try FixtureServer.scripted([.awaitHead, .send(head + beginning), .stall])
        let response = try await time.client(change).send(Request(.get, server.http()))
        async let failure = httpError { try await response.body.collect(upTo: .max) }
        try await time.waitBegins(for: .seconds(61))
        time.advance(by: .seconds(61))
        return try await failure
    }

    @Test("Trailers that drip extend the limit of reading with each byte, and never the total")
    func dripOfTrailers() async throws {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: "
        let gates = [Gate(), Gate()]
        let server = try FixtureServer.scripted([
            .awaitHead, .send(head), .wait(gates[0]), .send("a"), .wait(gates[1]), .send("b"), .stall,
        ])
        let client = time.client {
            $0.timeouts.read = .seconds(61)
            $0.timeouts.total = .seconds(150)
        }
        let response = try await client.send(Request(.get, server.http()))
        async let failure = httpError { try await response.body.collect(upTo: .max) }
        for gate in gates {
            try await time.waitBegins(for: .seconds(61))
            time.advance(by: .seconds(60))
            gate.open()
        }
        try await time.pass(.seconds(30))
        let error = try await failure
        #expect(error.phase == .body && error.isTimeout)
    }

    @Test("A cancelled task ends while bytes keep arriving")
    func cancellation() async throws {
        let piece = [UInt8](repeating: 120, count: 65_536)
        let server = try FixtureServer.scripted([
            .awaitHead, .send(Self.endless), .flood(piece, times: .max),
        ])
        let response = try await HTTPClient.untimed().send(Request(.get, server.http()))
        let task = Task {
            for try await _ in response.body { withUnsafeCurrentTask { $0?.cancel() } }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("A body that never pauses lets other tasks of the client's executor run")
    func fairness() async throws {
        let chunks = Array(String(repeating: "1\r\nx\r\n", count: 4096).utf8)
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        let server = try FixtureServer.scripted([.awaitHead, .send(head), .flood(chunks, times: .max)])
        let client = HTTPClient { $0.loop = EventLoop() }
        let response = try await client.send(Request(.get, server.http()))
        let hasHadTurn = Locked(false)
        // One thread runs both. Without giving way the first would run until nothing more has come.
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: client.executor) {
                for try await _ in response.body where hasHadTurn.withLock({ $0 }) { return }
            }
            group.addTask(executorPreference: client.executor) {
                for _ in 0..<3 { await Task.yield() }
                hasHadTurn.withLock { $0 = true }
            }
            try await group.waitForAll()
        }
    }

    @Test("The write limit of a raw stream applies although TLS awaits the rest of a message")
    func halfATicketUnderAStream() async throws {
        let answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"
        let server = try FixtureServer.scripted(
            [.awaitHead, .send(answer), .awaitBytes(1), .halfATicket, .stall],
            .tls(testAuthority.certificate(for: "a.test"))
        )
        let client = time.client { $0.timeouts.write = .seconds(61) }
        var request = server.request("https://a.test/")
        request.upgrade = ["x"]
        let stream = try await client.send(request).takeStream()
        let error = try await httpError {
            try await time.passing(repeatedly: .seconds(61)) {
                while true { try await stream.write([UInt8](repeating: 1, count: 65_536)) }
            }
        }
        #expect(error.phase == .write && error.isTimeout)
    }

    @Test(
        "The write limit of an upload applies although half a TLS message has arrived",
        arguments: [.halfATicket, halfARecord] as [ByteScript.Step],
        [true, false]
    )
    func halfAMessageUnderAnUpload(half: ByteScript.Step, isStream: Bool) async throws {
        let server = try FixtureServer.scripted(
            [.awaitHead, half, .stall],
            .tls(testAuthority.certificate(for: "a.test"))
        )
        let client = time.client { $0.timeouts.write = .seconds(61) }
        let pieces = PatternPieces(sizes: Array(repeating: 65_536, count: 512))
        let body = isStream ? RequestBody.stream(pieces) : .bytes([UInt8](repeating: 1, count: 32 << 20))
        let request = server.request("https://a.test/", .put, body: body)
        let error = try await httpError {
            try await time.passing(repeatedly: .seconds(61)) { try await client.fetch(request) }
        }
        #expect(error.phase == .write && error.isTimeout)
        #expect(client.connections.isEmpty)
    }

    /// The head of a record of 100 bytes, and three of them.
    private static let halfARecord = ByteScript.Step.rawBytes([23, 3, 3, 0, 100, 1, 2, 3])

    @Test("After a cancelled write the next bytes arrive intact", arguments: [true, false])
    func cancelledWrite(isSecure: Bool) async throws {
        let answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"
        let mayRead = Gate()
        let script: ByteScript = [.awaitHead, .send(answer), .wait(mayRead), .awaitClose]
        let server = try FixtureServer.scripted(
            script,
            isSecure ? .tls(testAuthority.certificate(for: "a.test")) : .plain
        )
        var request = isSecure ? server.request("https://a.test/") : Request(.get, server.http())
        request.upgrade = ["x"]
        let client = time.client { $0.timeouts.write = .seconds(61) }
        let stream = try await client.send(request).takeStream()
        // Nothing is read, so the write stands still in the middle of a record, and is given up.
        _ = try await httpError {
            try await time.passing(repeatedly: .seconds(61)) {
                while true { try await stream.write([UInt8](repeating: UInt8(ascii: "A"), count: 1 << 20)) }
            }
        }
        mayRead.open()
        try await stream.write(Array(repeating: UInt8(ascii: "B"), count: 100))
        try await stream.finishWriting()
        stream.close()
        let record = try await server.nextRecord()
        let end = record.lastReceived
        #expect(end.suffix(100).allSatisfy { $0 == UInt8(ascii: "B") })
        #expect(end.dropLast(100).allSatisfy { $0 == UInt8(ascii: "A") })
    }

    @Test("A head that arrives too slowly violates the minimum speed")
    func slowHead() async throws {
        let server = try FixtureServer.scripted([.awaitHead, .send("HTTP/1.1 200 OK\r\nX: "), .stall])
        let client = time.client { $0.timeouts.minimumSpeed = .init(bytes: 1000, in: .seconds(7)) }
        async let failure = httpError { try await client.get(server.http()) }
        try await time.pass(.seconds(7))
        let error = try await failure
        #expect(error.phase == .response)
        guard case .tooSlow = error.reason else {
            Issue.record("\(error)")
            return
        }
    }
}
