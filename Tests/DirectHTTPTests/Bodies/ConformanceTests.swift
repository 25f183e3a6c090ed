import DirectHTTP
import DirectTestCommands
import DirectTestTime
import TLSFixtures
import Testing

/// The cases about bodies of the conformance list that Swift's other clients are measured by, under its
/// names.
@Suite("Conformance of bodies", .idleLimit)
struct ConformanceTests {
    private func post(_ server: FixtureServer, _ body: RequestBody) -> Request {
        server.request("https://a.test/", .post, body: body)
    }

    private func secure(_ handler: @escaping FixtureHandler) throws -> FixtureServer {
        try .start(.tls(testAuthority.certificate(for: "a.test")), handler: handler)
    }

    /// Sends back each piece as it comes, in chunks.
    private static let echoing: FixtureHandler = { request in
        // The request belongs to this thread, which also runs the writer.
        nonisolated(unsafe) let request = request
        return .written { writer in
            try writer.pause(.zero)
            try request.readBody { piece in try writer.write(piece.withUnsafeBufferPointer(Array.init)) }
        }
    }

    @Test("EchoString: a text is sent back unchanged")
    func echoString() async throws {
        let server = try secure { try .echo($0) }
        #expect(
            try await HTTPClient.trusting().fetch(post(server, .text("Hello World"))).text == "Hello World"
        )
    }

    @Test("Echo1MBBody: a body of 1 MB is sent back unchanged")
    func echo1MBBody() async throws {
        let server = try secure { try .echo($0) }
        let body = pattern(at: 0, count: 1_000_000)
        #expect(try await HTTPClient.trusting().fetch(post(server, .bytes(body))).body == body)
    }

    @Test("UnderRead: a large body of which only a part is read closes its connection")
    func underRead() async throws {
        let server = try secure { _ in .pattern(count: 1_000_000) }
        let client = HTTPClient.trusting()
        func readSome() async throws {
            var iterator = try await client.send(server.request("https://a.test/")).body.makeAsyncIterator()
            #expect(try await iterator.next()?.isEmpty == false)
        }
        try await readSome()
        #expect(try await server.nextRecord().end != nil)
        #expect(try await client.fetch(server.request("https://a.test/")).body.count == 1_000_000)
    }

    @Test("DripRead: a body that is read slower than it arrives is complete")
    func dripRead() async throws {
        let server = try secure { _ in .pattern(count: 1_000_000, chunkSize: 1000) }
        let response = try await HTTPClient.trusting().send(server.request("https://a.test/"))
        var count = 0
        for try await piece in response.body {
            #expect(isPattern(piece, at: count))
            count += piece.count
            await letFaultsShow()
        }
        #expect(count == 1_000_000)
    }

    @Test("EchoInterleave: each piece is sent when the previous one has come back")
    func echoInterleave() async throws {
        let server = try secure(Self.echoing)
        let (pieces, give) = AsyncStream.makeStream(of: [UInt8].self)
        let response = try await HTTPClient.trusting().send(post(server, .stream(pieces)))
        var iterator = response.body.makeAsyncIterator()
        for number in 0..<100 {
            let piece = pattern(at: number, count: 100)
            give.yield(piece)
            var back: [UInt8] = []
            while back.count < piece.count, let part = try await iterator.next() { back += part }
            #expect(back == piece)
        }
        give.finish()
        #expect(try await iterator.next() == nil)
    }

    @Test("SpeakInterleave: the server speaks first, and each side waits for the other")
    func speakInterleave() async throws {
        let server = try FixtureServer.scripted(
            [
                .awaitHead, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n0\r\n"),
                .awaitBytes(6), .send("1\r\n1\r\n"), .awaitBytes(6), .send("1\r\n2\r\n"), .awaitBytes(5),
                .send("0\r\n\r\n"), .awaitClose,
            ],
            .tls(testAuthority.certificate(for: "a.test"))
        )
        let (pieces, give) = AsyncStream.makeStream(of: [UInt8].self)
        let response = try await HTTPClient.trusting().send(post(server, .stream(pieces)))
        var iterator = response.body.makeAsyncIterator()
        #expect(try await iterator.next() == [0x30])
        give.yield([1])
        #expect(try await iterator.next() == [0x31])
        give.yield([2])
        #expect(try await iterator.next() == [0x32])
        give.finish()
        #expect(try await iterator.next() == nil)
    }

    @Test("EmptyChunkedBody: an empty chunked body is received and sent")
    func emptyChunkedBody() async throws {
        let server = try secure { _ in .chunked([]) }
        let response = try await HTTPClient.trusting().fetch(server.request("https://a.test/"))
        #expect(response.status == .ok && response.body.isEmpty)
        let judge = try secure { .text("\($0.headers["transfer-encoding"] ?? "") \(try $0.discardBody())") }
        let body = RequestBody.stream(PatternPieces(sizes: []))
        #expect(try await HTTPClient.trusting().fetch(post(judge, body)).text == "chunked 0")
    }

    @Test("HeadWithContentLength: the connection serves the next request after a HEAD")
    func headWithContentLength() async throws {
        let server = try secure { request in
            request.method == "HEAD" ? .bytes([], ["Content-Length": "1000"]) : .text("next")
        }
        let client = HTTPClient.trusting()
        let head = try await client.fetch(server.request("https://a.test/", .head))
        #expect(head.headers["content-length"] == "1000" && head.body.isEmpty)
        let next = try await client.fetch(server.request("https://a.test/"))
        #expect(next.text == "next" && next.isReused)
    }

    @Test("204WithContentLength and 304WithContentLength: the response has no body", arguments: [204, 304])
    func noContentWithLength(status: Int) async throws {
        let server = try secure { _ in .raw("HTTP/1.1 \(status) X\r\nContent-Length: 1000\r\n\r\n") }
        let response = try await HTTPClient.trusting().fetch(server.request("https://a.test/"))
        #expect(response.status.code == status && response.body.isEmpty)
    }

    @Test("IncompleteBody: a truncated body is an error with both lengths")
    func incompleteBody() async throws {
        let server = try secure { _ in .bytes([1, 2, 3], ["Content-Length": "1000"]).then(.closeUnannounced) }
        let error = try await httpError {
            try await HTTPClient.trusting().fetch(server.request("https://a.test/"))
        }
        #expect(error.protocolError == .truncatedContent(received: 3, expected: 1000))
    }

    @Test("NoLengthHint: a body without a length ends with the connection")
    func noLengthHint() async throws {
        let server = try secure { _ in .bytes([1, 2, 3], framing: .untilClose) }
        let response = try await HTTPClient.trusting().fetch(server.request("https://a.test/"))
        #expect(response.body == [1, 2, 3])
    }

    @Test("TrailerRead: a trailer is received apart from the headers")
    func trailerRead() async throws {
        let server = try secure { _ in .chunked([[1]], trailers: ["X-Checksum": "abc"]) }
        let response = try await HTTPClient.trusting().fetch(server.request("https://a.test/"))
        #expect(response.trailers["x-checksum"] == "abc" && !response.headers.contains("X-Checksum"))
    }

    @Test("TrailerWrite: a trailer is sent after the body")
    func trailerWrite() async throws {
        let server = try secure { .text(try $0.trailers["x-checksum"] ?? "none") }
        let body = RequestBody.stream(PatternPieces(sizes: [10])).followed { ["X-Checksum": "abc"] }
        var request = post(server, body)
        request.headers.add("Trailer", "X-Checksum")
        #expect(try await HTTPClient.trusting().fetch(request).text == "abc")
        #expect(server.requests.first?.headers["trailer"] == "X-Checksum")
    }

    @Test("CancelPreHeaders: a call cancelled before the head ends and closes its connection")
    func cancelPreHeaders() async throws {
        let server = try FixtureServer.scripted(
            [.awaitHead, .awaitClose],
            .tls(testAuthority.certificate(for: "a.test"))
        )
        let client = HTTPClient.trusting()
        let request = server.request("https://a.test/")
        let task = Task { try await client.fetch(request) }
        try await server.waitUntil { ($0.first?.receivedCount ?? 0) > 0 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await server.nextRecord().end == .clientClosed)
    }

    @Test("CancelPreBody: a call cancelled before the body ends and closes its connection")
    func cancelPreBody() async throws {
        let never = Gate()
        let server = try secure { _ in
            .written(length: 1000, framing: .length) { writer in try writer.wait(for: never) }
        }
        let response = try await HTTPClient.trusting().send(server.request("https://a.test/"))
        let task = Task { try await response.body.collect(upTo: 1000) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        never.open()
        #expect(try await server.nextRecord().end != nil)
    }

    @Test(
        "Each method is sent unchanged, with a body and without",
        arguments: ["GET", "PUT", "POST", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "get", "M-SEARCH"]
    )
    func methods(name: String) async throws {
        let server = try secure { request in
            .text("\(request.method) \(request.headers["content-length"] ?? "none") \(try request.text)")
        }
        let client = HTTPClient.trusting()
        let method = try #require(HTTPMethod(validating: name))
        let announces = ["PUT", "POST", "PATCH"].contains(name)
        let bare = try await client.fetch(server.request("https://a.test/", method))
        #expect(bare.text == "\(name) \(announces ? "0" : "none") ")
        let full = try await client.fetch(server.request("https://a.test/", method, body: .text("x")))
        #expect(full.text == "\(name) 1 x")
    }
}
