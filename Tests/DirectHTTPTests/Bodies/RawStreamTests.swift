import DirectHTTP
import DirectTestCommands
import DirectTestTime
import TLSFixtures
import Testing

@Suite("Streams after 101 or CONNECT", .idleLimit)
struct RawStreamTests {
    private static let switching =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: upgrade\r\n\r\n"

    private func upgrade(_ server: FixtureServer, secure: Bool) -> (HTTPClient, Request) {
        var request = server.request(secure ? server.https("a.test", "/chat") : "http://a.test/chat")
        request.upgrade = ["echo/2", "echo"]
        return (.trusting(), request)
    }

    private func security(_ secure: Bool) -> FixtureSecurity {
        secure ? .tls(testAuthority.certificate(for: "a.test")) : .plain
    }

    @Test("A reader may leave the number of bytes open")
    func noLimit() async throws {
        let server = try FixtureServer.start { _ in
            .script([.send(Self.switching), .awaitBytes(1), .send("pong"), .awaitClose])
        }
        let (client, request) = upgrade(server, secure: false)
        let stream = try await client.send(request).takeStream()
        try await stream.write([1])
        #expect(try await stream.read(upTo: .max)?.isEmpty == false)
    }

    @Test(
        "A raw stream gives the bytes after the head, then later ones, and sends what is written",
        arguments: [true, false]
    )
    func conversation(secure: Bool) async throws {
        let server = try FixtureServer.start(security(secure)) { _ in
            .script([
                .send(Self.switching + "early"), .awaitBytes(4), .send("pong"), .awaitBytes(3), .send("bye"),
            ])
        }
        let (client, request) = upgrade(server, secure: secure)
        let response = try await client.send(request)
        #expect(response.status == .switchingProtocols && response.headers["upgrade"] == "echo")
        let head = try #require(server.requests.first)
        #expect(head.headers["upgrade"] == "echo/2, echo" && head.headers["connection"] == "upgrade")
        let stream = try response.takeStream()
        #expect(stream.endpoint == server.endpoint && stream.name == "a.test")
        #expect(try await read(stream, 5) == "early")
        try await stream.write(Array("ping".utf8))
        #expect(try await read(stream, 4) == "pong")
        try await stream.write(Array("end".utf8))
        #expect(try await read(stream, 3) == "bye")
        #expect(try await stream.read() == nil)
        #expect(try await stream.read() == nil)
    }

    @Test("A server may switch and send before it has read the whole request", arguments: [true, false])
    func earlySwitch(secure: Bool) async throws {
        let mayRead = Gate()
        let server = try FixtureServer.start(security(secure)) { _ in
            .script([
                .send(Self.switching + "early"), .wait(mayRead), .awaitBytes(20_000_000), .send("late"),
                .awaitClose,
            ])
        }
        var request = upgrade(server, secure: secure).1
        request.method = .post
        request.body = .bytes([UInt8](repeating: 7, count: 20_000_000))
        let client = HTTPClient.trusting {
            // The client has the response, and cannot have sent all of the request.
            $0.observer = { event in if case .responded = event.kind { mayRead.open() } }
        }
        let stream = try await client.send(request).takeStream()
        #expect(try await read(stream, 9) == "earlylate")
    }

    @Test("A connection that breaks after 101 ends the call, even if the body's source gives nothing")
    func brokenSwitch() async throws {
        let hasSwitched = Gate()
        let server = try FixtureServer.start { _ in
            .script([.send(Self.switching + "early"), .wait(hasSwitched), .reset])
        }
        let (pieces, source) = AsyncStream<[UInt8]>.makeStream()
        var request = upgrade(server, secure: false).1
        request.method = .post
        request.body = .stream(pieces)
        let client = HTTPClient.trusting {
            $0.observer = { event in if case .responded = event.kind { hasSwitched.open() } }
        }
        let error = try await httpError { [request] in try await client.send(request) }
        #expect(error.phase == .write)
        withExtendedLifetime(source) {}
    }

    @Test("A raw stream can be half-closed while the peer still sends", arguments: [true, false])
    func halfClose(secure: Bool) async throws {
        let mayGoOn = Gate()
        let server = try FixtureServer.start(security(secure)) { _ in
            .script([.send(Self.switching), .wait(mayGoOn), .send("late"), .awaitClose])
        }
        let (client, request) = upgrade(server, secure: secure)
        let stream = try await client.send(request).takeStream()
        try await stream.finishWriting()
        try await stream.finishWriting()
        let error = try await httpError { try await stream.write([1]) }
        guard case .streamClosed = error.reason else {
            Issue.record("\(error)")
            return
        }
        mayGoOn.open()
        #expect(try await read(stream, 4) == "late")
        #expect(try await stream.read() == nil)
        #expect(try await server.nextRecord().end == .clientClosed)
    }

    @Test("A raw stream reads and writes concurrently, more than the buffers hold", arguments: [true, false])
    func duplex(secure: Bool) async throws {
        let total = 16 << 20
        let piece = [UInt8](repeating: 7, count: 1 << 20)
        let server = try FixtureServer.start(security(secure)) { _ in
            .script([
                .send(Self.switching), .flood(piece, times: 16), .awaitBytes(total), .send("done"),
                .awaitClose,
            ])
        }
        let (client, request) = upgrade(server, secure: secure)
        let stream = try await client.send(request).takeStream()
        async let written: Void = stream.write([UInt8](repeating: 9, count: total))
        var count = 0
        while count < total + 4, let piece = try await stream.read() { count += piece.count }
        try await written
        #expect(count == total + 4)
    }

    @Test("A raw stream is taken once, occupies no place in the pool, and closes when it is released")
    func ownership() async throws {
        let server = try FixtureServer.start { request in
            request.path == "/" ? .text("plain") : .script([.send(Self.switching), .awaitClose])
        }
        let client = HTTPClient.untimed { $0.maximumConnectionsPerOrigin = 1 }
        var request = Request(.get, server.http("/chat"))
        request.upgrade = ["echo"]
        func useOnce() async throws {
            let response = try await client.send(request)
            let stream = try response.takeStream()
            let error = try await httpError { try response.takeStream() }
            guard case .noStream = error.reason else { throw error }
            #expect(try await response.body.collect(upTo: 0) == [])
            #expect(try await client.get(server.http()).text == "plain")
            try await stream.write([1])
        }
        try await useOnce()
        #expect(try await server.nextRecord().end == .clientClosed)
        // And one that is not taken is closed with its response.
        _ = try await client.fetch(request)
        #expect(try await server.nextRecord().end == .clientClosed)
    }

    @Test("A cancelled read ends at once and loses no bytes")
    func cancelledRead() async throws {
        let mayGoOn = Gate()
        let server = try FixtureServer.start { _ in
            .script([.send(Self.switching), .wait(mayGoOn), .send("later"), .awaitClose])
        }
        let (client, request) = upgrade(server, secure: false)
        let stream = try await client.send(request).takeStream()
        let task = Task { try await stream.read() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        mayGoOn.open()
        #expect(try await read(stream, 5) == "later")
    }

    @Test(
        "Closing a raw stream wakes its readers, with an error that says which side closed it",
        arguments: [true, false]
    )
    func closing(secure: Bool) async throws {
        let server = try FixtureServer.start(security(secure)) { _ in
            .script([.send(Self.switching + "early"), .stall])
        }
        let time = HeldTime()
        let client = time.client { $0.timeouts.write = .seconds(61) }
        let stream = try await client.send(upgrade(server, secure: secure).1).takeStream()
        #expect(try await read(stream, 5) == "early")
        let reader = Task { try await httpError { try await stream.read() } }
        // More than fits between the two: the server reads none of it.
        let writer = Task {
            try await httpError {
                while true { try await stream.write([UInt8](repeating: 1, count: 1 << 20)) }
            }
        }
        try await time.waitBegins(for: .seconds(61))
        // The reader's wait has no limit, so nothing shows when it has begun.
        await time.letFaultsShow()
        stream.close()
        // One task at a time may read: the later one only when the first has ended.
        let errors = [
            try await reader.value, try await writer.value, try await httpError { try await stream.read() },
        ]
        for error in errors {
            guard case .streamClosed = error.reason else {
                Issue.record("\(error)")
                continue
            }
        }
    }

    @Test("There is no raw stream without a change of protocol, and an unrequested 101 is an error")
    func noStream() async throws {
        let server = try FixtureServer.start { request in
            request.path == "/101" ? .raw(Self.switching) : .text("no")
        }
        let client = HTTPClient.untimed()
        var request = Request(.get, server.http())
        request.upgrade = ["echo"]
        let response = try await client.send(request)
        let error = try await httpError { try response.takeStream() }
        guard case .noStream = error.reason else {
            Issue.record("\(error)")
            return
        }
        let unsolicited = try await httpError { try await client.get(server.http("/101")) }
        #expect(unsolicited.protocolError == .unsolicitedSwitchingProtocols)
    }

    @Test(
        "CONNECT names host and port, including the default port, and opens a tunnel",
        arguments: ["", ":8080"]
    )
    func connect(port: String) async throws {
        let server = try FixtureServer.start { _ in
            .script([
                .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Encoding: gzip\r\n\r\nhello"),
                .awaitBytes(2), .send("!"),
                .awaitClose,
            ])
        }
        var request = server.request("http://b.test\(port)/", .connect)
        request.headers["Proxy-Authorization"] = "Basic bWU6cHc="
        let stream = try await HTTPClient.untimed().send(request).takeStream()
        let record = try #require(server.requests.first)
        let target = "b.test\(port.isEmpty ? ":80" : port)"
        #expect(record.target == target && record.host == target)
        #expect(record.headers["proxy-authorization"] == "Basic bWU6cHc=")
        #expect(try await read(stream, 5) == "hello")
        try await stream.write([1, 2])
        #expect(try await read(stream, 1) == "!")
    }

    @Test("A refused CONNECT is an ordinary response")
    func refusedConnect() async throws {
        let server = try FixtureServer.start { _ in .text("who are you?", status: 407) }
        let response = try await HTTPClient.untimed().fetch(server.request("http://b.test/", .connect))
        #expect(response.status == .proxyAuthenticationRequired && response.text == "who are you?")
    }

    private func read(_ stream: RawStream, _ count: Int) async throws -> String {
        var bytes: [UInt8] = []
        while bytes.count < count, let piece = try await stream.read(upTo: count - bytes.count) {
            bytes += piece
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
