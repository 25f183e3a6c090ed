import DirectHTTP
import DirectTestCommands
import Synchronization
import TLSFixtures
import Testing

@Suite("Bodies of responses", .idleLimit)
struct ResponseBodyTests {
    private let large = 64 << 20

    private static let allFramings: [FixtureReply.Framing] = [.length, .chunked, .untilClose]

    /// Reads piece by piece and compares each with the pattern; says how many there were and how large.
    private func readPattern(_ body: ResponseBody) async throws -> (count: Int, pieces: Int, largest: Int) {
        var count = 0, pieces = 0, largest = 0
        for try await piece in body {
            guard isPattern(piece, at: count), !piece.isEmpty else {
                Issue.record("wrong bytes from \(count) on")
                break
            }
            count += piece.count
            pieces += 1
            largest = max(largest, piece.count)
        }
        return (count, pieces, largest)
    }

    @Test("A body is the same whatever its framing, at once or piece by piece", arguments: allFramings)
    func framings(framing: FixtureReply.Framing) async throws {
        let server = try FixtureServer.start(.tls(testAuthority.certificate(for: "a.test"))) { request in
            .pattern(count: Int(request.path.dropFirst()) ?? 0, framing: framing, chunkSize: 1000)
        }
        let client = HTTPClient.trusting()
        for size in [0, 1, 999, 1000, 8191, 8192, 8193, 65_536, 300_001] {
            let request = server.request("https://a.test/\(size)")
            let whole = try await client.fetch(request)
            #expect(whole.body.count == size && isPattern(whole.body, at: 0))
            let (count, _, _) = try await readPattern(client.send(request).body)
            #expect(count == size)
        }
    }

    @Test("A body that arrives byte by byte is complete")
    func byteByByte() async throws {
        let text =
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nT: v\r\n\r\n"
        var script: [ByteScript.Step] = [.awaitHead]
        for byte in text.utf8 { script += [.send([byte]), .pause(.microseconds(200))] }
        let server = try FixtureServer.scripted(ByteScript(script + [.awaitClose]))
        let response = try await HTTPClient.untimed().get(server.http())
        #expect(response.text == "abcde")
        #expect(response.trailers["t"] == "v")
    }

    @Test("A body of 64 MiB is streamed in pieces of bounded size", arguments: allFramings)
    func largeStreamed(framing: FixtureReply.Framing) async throws {
        let server = try FixtureServer.start { [large] _ in .pattern(count: large, framing: framing) }
        let response = try await HTTPClient.untimed().send(Request(.get, server.http()))
        let (count, _, largest) = try await readPattern(response.body)
        #expect(count == large)
        #expect(largest <= 64 << 10)
    }

    @Test("A body of 64 MiB is streamed and collected over TLS")
    func largeSecure() async throws {
        let server = try FixtureServer.secure("a.test") { [large] _ in .pattern(count: large) }
        let client = HTTPClient.trusting { $0.maximumBufferedBody = 64 << 20 }
        let request = server.request("https://a.test/")
        #expect(try await readPattern(client.send(request).body).count == large)
        let whole = try await client.fetch(request)
        #expect(
            whole.body.count == large && isPattern(Array(whole.body.suffix(1 << 20)), at: large - (1 << 20))
        )
        #expect(whole.isReused)
    }

    @Test("A body without a length is complete at close_notify, although the socket stays open")
    func closeNotifyEnds() async throws {
        let mayGoOn = Gate()
        let body = FixturePattern.bytes(at: 0, count: 20_000)
        let script: ByteScript = [
            .awaitHead, .send("HTTP/1.1 200 OK\r\n\r\n"), .wait(mayGoOn), .send(body), .closeNotify,
            .awaitClose,
        ]
        let server = try FixtureServer.scripted(script, .tls(testAuthority.certificate(for: "a.test")))
        let other = try FixtureServer.start { _ in .text("pong") }
        let client = HTTPClient.trusting()
        let response = try await client.send(server.request("https://a.test/"))
        mayGoOn.open()
        // Last bytes and goodbye are there together when they are read.
        for _ in 0..<3 { _ = try await client.get(other.http()) }
        #expect(try await response.body.collect(upTo: 20_000) == body)
    }

    @Test("Trailers are available when the body has been read")
    func trailers() async throws {
        let server = try FixtureServer.start { request in
            .chunked([Array(repeating: 7, count: 100_000), [1]], trailers: ["X-Sum": "42", "X-More": "y"])
        }
        let response = try await HTTPClient.untimed().send(Request(.get, server.http()))
        #expect(try await response.body.collect(upTo: 200_000).count == 100_001)
        #expect(response.body.trailers["x-sum"] == "42")
        let whole = try await HTTPClient.untimed().get(server.http())
        #expect(whole.trailers["X-More"] == "y")
        #expect(!whole.headers.contains("X-Sum"))
    }

    @Test("HEAD, 204 and 304 have no body, whatever the fields say")
    func none() async throws {
        let server = try FixtureServer.start { request in
            switch request.path {
            case "/204": .raw("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n")
            case "/304": .raw("HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n")
            default: .raw("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            }
        }
        let client = HTTPClient.untimed()
        for (method, path) in [(.get, "/204"), (.get, "/304"), (.head, "/")] as [(HTTPMethod, String)] {
            let response = try await client.fetch(Request(method, server.http(path)))
            #expect(response.body.isEmpty)
        }
    }

    @Test("A body that is not read makes the server wait")
    func backPressure() async throws {
        let written = Counter()
        let server = try FixtureServer.start { [large] request in
            guard request.path == "/large" else { return .text("small") }
            return .written(length: large, framing: .length) { writer in
                for _ in 0..<large / 65_536 {
                    try writer.write([UInt8](repeating: 1, count: 65_536))
                    written.add(65_536)
                }
            }
        }
        let client = HTTPClient.untimed()
        let response = try await client.send(Request(.get, server.http("/large")))
        var iterator = response.body.makeAsyncIterator()
        _ = try await iterator.next()
        // Time in which an eager reader would have taken all of it.
        for _ in 0..<300 { _ = try await client.get(server.http("/small")) }
        #expect(written.value < 24 << 20)
        var count = 0
        while let piece = try await iterator.next() { count += piece.count }
        // The server counts a piece after the client may have read it.
        try await waitUntil { written.value == large }
        #expect(count > 0 && count < large)
    }

    @Test("A body beyond the caller's limit is refused, and its connection is closed")
    func limit() async throws {
        let server = try FixtureServer.start { request in .pattern(count: Int(request.path.dropFirst()) ?? 0)
        }
        let client = HTTPClient.untimed { $0.maximumBufferedBody = 100_000 }
        #expect(try await client.get(server.http("/100000")).body.count == 100_000)
        for size in [100_001, 4 << 20] {
            let error = try await httpError { try await client.get(server.http("/\(size)")) }
            guard case .bodyTooLarge(limit: 100_000) = error.reason else {
                Issue.record("\(error)")
                continue
            }
            #expect(error.phase == .body)
            #expect(error.name == "127.0.0.1" && error.endpoint == server.endpoint)
        }
        let small = try await client.send(Request(.get, server.http("/11")))
        await #expect(throws: HTTPError.self) { try await small.body.collect(upTo: 10) }
    }

    @Test("A body that is dropped closes its connection")
    func dropped() async throws {
        let server = try FixtureServer.start { [large] _ in .pattern(count: large) }
        let client = HTTPClient.untimed()
        func readOnce() async throws {
            let response = try await client.send(Request(.get, server.http()))
            for try await _ in response.body { break }
        }
        try await readOnce()
        let record = try await server.nextRecord()
        #expect(record.end == .clientClosed || record.end == .clientReset)
        func readNothing() async throws { _ = try await client.send(Request(.get, server.http())) }
        try await readNothing()
        _ = try await server.nextRecord()
    }

    @Test("A second task that reads a body while another one reads it gets an error")
    func secondReader() async throws {
        let mayGoOn = Gate()
        let server = try FixtureServer.start { _ in
            .written { writer in
                try writer.write("first")
                try writer.wait(for: mayGoOn)
                try writer.write("last")
            }
        }
        let response = try await HTTPClient.untimed().send(Request(.get, server.http()))
        var iterator = response.body.makeAsyncIterator()
        #expect(try await iterator.next() == Array("first".utf8))
        await withTaskGroup { group in
            for _ in 0..<2 {
                group.addTask {
                    var iterator = response.body.makeAsyncIterator()
                    do {
                        return Result<[UInt8]?, any Error>.success(try await iterator.next())
                    } catch {
                        return .failure(error)
                    }
                }
            }
            // One waits for the server, so it is the other one that is done.
            let refused = await group.next()
            mayGoOn.open()
            let served = await group.next()
            if case .failure(let error as HTTPError) = refused, case .bodyAlreadyRead = error.reason {
            } else {
                Issue.record("\(String(describing: refused))")
            }
            if case .success(let piece) = served {
                #expect(piece == Array("last".utf8))
            } else {
                Issue.record("\(String(describing: served))")
            }
        }
    }

    @Test("A second reader of a body gets an error, not an empty body")
    func readTwice() async throws {
        let server = try FixtureServer.start { _ in .pattern(count: 300_000) }
        let response = try await HTTPClient.untimed().send(Request(.get, server.http()))
        #expect(try await response.body.collect(upTo: 300_000).count == 300_000)
        let error = try await httpError { try await response.body.collect(upTo: 300_000) }
        guard case .bodyAlreadyRead = error.reason else {
            Issue.record("\(error)")
            return
        }
    }

    @Test("An iterator at its end stays there")
    func endOfIteration() async throws {
        let server = try FixtureServer.start { .pattern(count: Int($0.path.dropFirst()) ?? 0) }
        for size in [0, 10, 300_000] {
            let response = try await HTTPClient.untimed().send(Request(.get, server.http("/\(size)")))
            var iterator = response.body.makeAsyncIterator()
            var count = 0
            while let piece = try await iterator.next() { count += piece.count }
            #expect(count == size)
            #expect(try await iterator.next() == nil)
        }
    }

    @Test("Interim responses before the body are skipped")
    func interim() async throws {
        let server = try FixtureServer.start { request in
            try request.sendInterim(103, headers: ["Link": "</a>"])
            try request.sendInterim(100)
            return .text("final")
        }
        let response = try await HTTPClient.untimed().get(server.http())
        #expect(response.status == .ok && response.text == "final")
        #expect(!response.headers.contains("Link"))
    }
}

/// A number that a server's thread counts up.
final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    func add(_ number: Int) { count.add(number, ordering: .relaxed) }

    var value: Int { count.load(ordering: .relaxed) }
}
