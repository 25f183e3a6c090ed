import DirectHTTP
import DirectTestCommands
import DirectTestData
import TLSFixtures
import Testing

@Suite("Coded content", .idleLimit)
struct DecodingTests {
    private let text = [UInt8](repeating: UInt8(ascii: "x"), count: 3000) + Array("the end".utf8)

    /// A server whose answer to everything has this content and these fields.
    private func server(
        _ content: [UInt8],
        _ encoding: String = "gzip",
        framing: FixtureReply.Framing = .length
    ) throws -> FixtureServer {
        try FixtureServer.start { _ in .bytes(content, ["Content-Encoding": encoding], framing: framing) }
    }

    @Test("Coded content is requested and decoded, and the fields remain unchanged")
    func decoded() async throws {
        let coded = deflated(text)
        let server = try server(coded)
        let response = try await HTTPClient.untimed().get(server.http())
        #expect(response.body == text)
        #expect(response.headers["content-encoding"] == "gzip")
        #expect(response.headers["content-length"] == "\(coded.count)")
        #expect(
            response.decoding
                == .decoded(wireBytes: UInt64(coded.count), decodedBytes: UInt64(text.count))
        )
        let asked = ContentCoding.available.map(\.rawValue).joined(separator: ", ")
        #expect(try await server.nextRequest().headers["accept-encoding"] == asked)
    }

    @Test("Content that has arrived whole is decoded into as much memory as the end of its gzip member names")
    func roomForWhole() async throws {
        let coded = deflated(Array("x".utf8 + text.prefix(200))) + deflated(Array("the end".utf8))
        let client = HTTPClient.untimed {
            $0.transport = {
                try HTTPClient.Response(to: $0, 200, headers: ["Content-Encoding": "gzip"], body: coded)
            }
        }
        var pieces: [Int] = []
        let response = try await client.send(HTTPClient.Request(.get, "http://a.test/"))
        for try await piece in response.body { pieces.append(piece.count) }
        // The last member is so small that the first piece has the least room.
        #expect(pieces == [64, 144])
    }

    @Test(
        "Decoded content is the same whatever the framing, at once or piece by piece",
        arguments: [FixtureReply.Framing.length, .chunked, .untilClose]
    )
    func framings(framing: FixtureReply.Framing) async throws {
        let content = scattered(1_500_000)
        let server = try server(
            deflated(deflated(content), windowBits: 15),
            "gzip, deflate",
            framing: framing
        )
        let client = HTTPClient.untimed()
        #expect(try await client.get(server.http()).body == content)
        let response = try await client.send(Request(.get, server.http()))
        var all: [UInt8] = [], largest = 0
        for try await piece in response.body {
            #expect(!piece.isEmpty)
            largest = max(largest, piece.count)
            all += piece
        }
        #expect(all == content)
        #expect(largest <= 64 * 1024)
    }

    @Test(
        "Content is not decoded if the caller requests a coding itself, or decoding is off",
        arguments: ["request", "client", "switched off"]
    )
    func manual(who: String) async throws {
        let coded = deflated(text)
        let server = try server(coded)
        let client = HTTPClient.untimed {
            if who == "client" { $0.headers["Accept-Encoding"] = "gzip;q=0.5" }
            if who == "switched off" { $0.decoding.isEnabled = false }
        }
        var request = Request(.get, server.http())
        if who == "request" { request.headers["accept-encoding"] = "br" }
        let response = try await client.fetch(request)
        #expect(response.body == coded)
        #expect(response.decoding == .leftCoded)
        let asked = try await server.nextRequest().headers["accept-encoding"]
        #expect(asked == ["request": "br", "client": "gzip;q=0.5"][who])
    }

    @Test(
        "A coding that an interceptor of calls requests is left as it came, one of a network interceptor is decoded"
    )
    func interceptors() async throws {
        let asking: Interceptor = { request, forward in
            var request = request
            request.headers["Accept-Encoding"] = "x-gzip"
            return try await forward(request)
        }
        for isOfCalls in [true, false] {
            let coded = deflated(text)
            let server = try server(coded)
            let client = HTTPClient.untimed {
                if isOfCalls { $0.interceptors = [asking] } else { $0.networkInterceptors = [asking] }
            }
            let response = try await client.get(server.http())
            #expect(response.body == (isOfCalls ? coded : text))
            #expect(try await server.nextRequest().headers["accept-encoding"] == "x-gzip")
        }
    }

    @Test("No coding is requested with a range, and partial content is not decoded")
    func ranges() async throws {
        let part = Array(deflated(text).prefix(20))
        let server = try FixtureServer.start { _ in
            .bytes(part, status: 206, ["Content-Encoding": "gzip", "Content-Range": "bytes 0-19/99"])
        }
        let response = try await HTTPClient.untimed().get(server.http(), headers: ["Range": "bytes=0-19"])
        #expect(response.body == part)
        #expect(response.decoding == .leftCoded)
        #expect(try await server.nextRequest().headers["accept-encoding"] == nil)
    }

    @Test(
        "Content with an unknown coding is delivered as it came",
        arguments: ["sdch", "gzip, sdch", "gzip;x"]
    )
    func unknown(encoding: String) async throws {
        let server = try server(text, encoding)
        let response = try await HTTPClient.untimed().get(server.http())
        #expect(response.body == text)
        #expect(response.decoding == .leftCoded)
    }

    @Test("Missing content with a coding is no error: HEAD, 204, 304 and empty bodies")
    func nothing() async throws {
        let field = "Content-Encoding: gzip\r\n"
        let heads = [
            ("HEAD", "200 OK\r\nContent-Length: 30\r\n"), ("GET", "204 No\r\n"), ("GET", "304 No\r\n"),
            ("GET", "200 OK\r\nContent-Length: 0\r\n"),
        ]
        for (method, head) in heads {
            let server = try FixtureServer.scripted([
                .awaitHead, .send("HTTP/1.1 \(head)\(field)\r\n"), .awaitClose,
            ])
            let request = Request(HTTPMethod(stringLiteral: method), server.http())
            let response = try await HTTPClient.untimed().fetch(request)
            #expect(response.body.isEmpty)
            #expect(response.decoding == .notNeeded)
        }
        let chunked = try FixtureServer.start { _ in
            .bytes([], ["Content-Encoding": "gzip, deflate"], framing: .chunked)
        }
        #expect(try await HTTPClient.untimed().get(chunked.http()).body.isEmpty)
    }

    @Test("Corrupt content is an error with name and address", arguments: [100, 100_000])
    func corrupt(count: Int) async throws {
        // One of them comes with its head, the other does not.
        var coded = deflated(scattered(count))
        coded[coded.count - 8] ^= 1
        let server = try FixtureServer.secure("a.test") { [coded] _ in
            .bytes(coded, ["Content-Encoding": "gzip"])
        }
        let error = try await httpError {
            try await HTTPClient.trusting().fetch(server.request("https://a.test/"))
        }
        #expect(error.phase == .body)
        #expect(error.name == "a.test")
        #expect(error.endpoint == server.endpoint)
        #expect(error.codingError == .corrupt(.gzip, detail: "incorrect data check"))
    }

    @Test("Content that ends before its coding does is an error, although the framing is complete")
    func truncated() async throws {
        for framing in [FixtureReply.Framing.length, .chunked, .untilClose] {
            let server = try server(deflated(text).dropLast(), framing: framing)
            let error = try await httpError { try await HTTPClient.untimed().get(server.http()) }
            #expect(error.codingError == .truncated(.gzip))
        }
    }

    @Test("Content with too many codings is refused, and its connection closed")
    func tooMany() async throws {
        let server = try server([UInt8](repeating: 0, count: 1 << 20), "gzip, gzip, gzip, gzip, gzip, gzip")
        let error = try await httpError { try await HTTPClient.untimed().get(server.http()) }
        #expect(error.codingError == .tooManyCodings(limit: 5))
        _ = try await server.nextRecord()
    }

    @Test("The content of a redirect is not decoded")
    func redirect() async throws {
        let server = try FixtureServer.start { [text] request in
            request.path == "/old"
                ? .bytes(text, status: 302, ["Content-Encoding": "gzip", "Location": "/new"]) : .text("new")
        }
        #expect(try await HTTPClient.untimed().get(server.http("/old")).text == "new")
    }
}

@Suite("Decoded bodies", .idleLimit)
struct DecodingSourceTests {
    @Test("A decoded body returns its connection when it is read to the end, with its trailers")
    func reuse() async throws {
        let coded = deflated(Array("hello".utf8))
        let server = try FixtureServer.start { _ in
            FixtureReply.chunked(
                [Array(coded.prefix(5)), Array(coded.dropFirst(5))],
                trailers: ["X-Sum": "7"]
            ).adding("Content-Encoding", value: "gzip")
        }
        let client = HTTPClient.untimed()
        for round in 0..<3 {
            let response = try await client.get(server.http())
            #expect(response.text == "hello")
            #expect(response.trailers["x-sum"] == "7")
            #expect(response.transaction?.isReused == (round > 0))
        }
    }

    @Test("A decoded body delivers what has arrived before more follows")
    func promptness() async throws {
        let gate = Gate()
        // Two stored blocks, the first of which is not the last.
        let first: [UInt8] = [0x78, 0x01, 0x00, 3, 0, 0xFC, 0xFF] + Array("abc".utf8)
        let second: [UInt8] = [0x01, 3, 0, 0xFC, 0xFF] + Array("def".utf8) + [0x08, 0x1E, 0x02, 0x56]
        let script: ByteScript = [
            .awaitHead,
            .send(
                Array(
                    "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: \(first.count + second.count)\r\n\r\n"
                        .utf8
                )
                    + first
            ),
            .wait(gate), .send(second), .awaitClose,
        ]
        let server = try FixtureServer.scripted(script)
        let response = try await HTTPClient.untimed().send(Request(.get, server.http()))
        var iterator = response.body.makeAsyncIterator()
        #expect(try await iterator.next() == Array("abc".utf8))
        #expect(response.body.decoding == .decoded(wireBytes: UInt64(first.count), decodedBytes: 3))
        gate.open()
        #expect(try await iterator.next() == Array("def".utf8))
        #expect(try await iterator.next() == nil)
    }

    /// 64 MiB of 64 KiB: the same form as the ten gigabytes of scripts/bench.
    @Test("A bomb is refused at once, and its connection closed", arguments: [1, 2])
    func bomb(layers: Int) async throws {
        var bomb = [UInt8](repeating: 0, count: 64 << 20)
        for _ in 0..<layers { bomb = deflated(bomb, level: 9) }
        let encoding = [String](repeating: "gzip", count: layers).joined(separator: ", ")
        let server = try FixtureServer.start { [bomb] _ in .bytes(bomb, ["Content-Encoding": encoding]) }
        let response = try await HTTPClient.untimed().send(Request(.get, server.http()))
        var count = 0
        let error = try await httpError {
            for try await piece in response.body { count += piece.count }
        }
        #expect(error.codingError == .ratioTooHigh(limit: 200))
        #expect(count <= 1 << 20)
        // And stay refused.
        await #expect(throws: HTTPError.self) { try await response.body.collect(upTo: .max) }
    }

    @Test("The limit for a collected body counts decoded bytes")
    func collected() async throws {
        let server = try FixtureServer.start { _ in
            .bytes(deflated([UInt8](repeating: 1, count: 5000)), ["Content-Encoding": "gzip"])
        }
        let client = HTTPClient.untimed { $0.maximumBufferedBody = 4999 }
        let error = try await httpError { try await client.get(server.http()) }
        guard case .bodyTooLarge(limit: 4999) = error.reason else {
            Issue.record("\(error)")
            return
        }
        let limited = HTTPClient.untimed { $0.decoding.maximumSize = 4999 }
        let other = try await httpError { try await limited.get(server.http()) }
        #expect(other.codingError == .tooLarge(limit: 4999))
    }

    @Test("A decoded body is read once")
    func once() async throws {
        let server = try FixtureServer.start { _ in
            .bytes(deflated(Array("hello".utf8)), ["Content-Encoding": "gzip"])
        }
        let response = try await HTTPClient.untimed().send(Request(.get, server.http()))
        #expect(try await response.body.collect(upTo: 100) == Array("hello".utf8))
        let error = try await httpError { try await response.body.collect(upTo: 100) }
        guard case .bodyAlreadyRead = error.reason else {
            Issue.record("\(error)")
            return
        }
    }

    @Test("Cancelling stops a decoded body, although all its bytes have arrived")
    func cancelled() async throws {
        let server = try FixtureServer.start { _ in
            .bytes(deflated([UInt8](repeating: 1, count: 500_000)), ["Content-Encoding": "gzip"])
        }
        let response = try await HTTPClient.untimed().send(Request(.get, server.http()))
        let task = Task {
            var iterator = response.body.makeAsyncIterator()
            #expect(try await iterator.next()?.count == 64 * 1024)
            withUnsafeCurrentTask { $0?.cancel() }
            return try await iterator.next()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

/// Bytes that cannot be made much smaller, the same ones each time.
private func scattered(_ count: Int) -> [UInt8] {
    var random = SplitMix64(seed: 1)
    return random.bytes(count, below: 64)
}

extension HTTPError {
    var codingError: CodingError? { if case .coding(let error) = reason { error } else { nil } }
}
