import DirectCore
import DirectTestCommands
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Bodies that interceptors and mocks read and replace", .idleLimit)
struct SeenBodyTests {
    private static let text = "a body that is read"

    private static func once(length: UInt64? = nil) -> RequestBody {
        .stream(
            AsyncStream { pieces in
                for byte in text.utf8 { pieces.yield([byte]) }
                pieces.finish()
            },
            length: length
        )
    }

    private static func bodies(_ path: String) -> [RequestBody] {
        [.text(text), once(), once(length: UInt64(text.utf8.count)), .file(path)]
    }

    @Test("A mock reads the body of every kind that it was sent")
    func mock() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/body"
        try folder.write(Self.text, "body")
        let client = HTTPClient.untimed {
            $0.transport = { request in
                try Response(to: request, 200, body: await request.body.collect(upTo: 100))
            }
        }
        for body in Self.bodies(path) {
            #expect(try await client.put("http://a.test/", body).text == Self.text)
        }
        #expect(try await client.get("http://a.test/").body.isEmpty)
    }

    @Test("A redirect frees the connection of a body that an interceptor has replaced by a sequence")
    func replacedBeforeRedirect() async throws {
        let server = try FixtureServer.start { request in
            guard request.path == "/from" else { return .text(Self.text) }
            return .bytes(pattern(at: 0, count: 1 << 20), status: 302, ["Location": "/to"])
        }
        let client = HTTPClient.untimed {
            $0.maximumConnectionsPerOrigin = 1
            $0.networkInterceptors = [
                { request, forward in
                    let response = try await forward(request)
                    return response.replacing(stream: response.body)
                }
            ]
        }
        #expect(try await client.get(server.http("/from")).text == Self.text)
    }

    @Test(
        "A sequence that reads a response's body to its end has its trailers, also where another task reads it",
        arguments: [true, false],
        [true, false]
    )
    func trailersOfSequence(isLate: Bool, isOnNetwork: Bool) async throws {
        let hasHead = Gate()
        let server = try FixtureServer.start { _ in
            var reply = FixtureReply.written(framing: .chunked) { writer in
                try writer.write("a")
                if isLate { try writer.wait(for: hasHead) }
            }
            reply.trailers = ["X-Sum": "1"]
            return reply
        }
        let replace: Interceptor = { request, forward in
            let response = try await forward(request)
            hasHead.open()
            return response.replacing(stream: Self.copy(of: response.body))
        }
        let client = HTTPClient.untimed {
            if isOnNetwork { $0.networkInterceptors = [replace] } else { $0.interceptors = [replace] }
        }
        let response = try await client.send(Request(.get, server.http()))
        #expect(try await response.body.collect(upTo: 100) == Array("a".utf8))
        #expect(response.body.trailers["X-Sum"] == "1")
    }

    @Test("A sequence gets the trailers though another task has begun to read the body, or has ended")
    func trailersWhileRead() async throws {
        for hasEnded in [true, false] {
            let mayEnd = Gate()
            if hasEnded { mayEnd.open() }
            let server = try FixtureServer.start { _ in
                var reply = FixtureReply.written(framing: .chunked) { writer in
                    try writer.write("a")
                    try writer.wait(for: mayEnd)
                }
                reply.trailers = ["X-Sum": "1"]
                return reply
            }
            let response = try await HTTPClient.untimed().send(Request(.get, server.http()))
            let (pieces, piece) = AsyncStream<Void>.makeStream()
            let reader = Task {
                for try await _ in response.body { piece.yield() }
                piece.finish()
            }
            // One piece, and the task waits for the next; or all of it.
            for await _ in pieces where !hasEnded { break }
            let replaced = response.replacing(stream: AsyncStream<[UInt8]> { $0.finish() })
            mayEnd.open()
            try await reader.value
            _ = try await replaced.body.collect(upTo: 1)
            #expect(replaced.body.trailers["X-Sum"] == "1")
        }
    }

    /// A sequence that has let go of the body by the time that it ends.
    private static func copy(of body: ResponseBody) -> AsyncThrowingStream<[UInt8], any Error> {
        AsyncThrowingStream { pieces in
            Task {
                do {
                    for try await piece in body { pieces.yield(piece) }
                    pieces.finish()
                } catch {
                    pieces.finish(throwing: error)
                }
            }
        }
    }

    @Test("A body that an interceptor has read is sent, and can be sent again after a redirect")
    func readAndSent() async throws {
        let server = try FixtureServer.start { request in
            let text = try request.text
            return request.path == "/from" ? .redirect(to: "/to", status: 307) : .text(text)
        }
        let lengths = Locked<[Int]>([])
        let client = HTTPClient.untimed {
            $0.interceptors = [
                { request, forward in
                    var request = request
                    let bytes = try await request.collectBody(upTo: 100)
                    lengths.withLock { $0.append(bytes.count) }
                    return try await forward(request)
                }
            ]
        }
        let response = try await client.put(server.http("/from"), Self.once())
        #expect(response.text == Self.text && response.history.map(\.reason) == [.redirect])
        #expect(lengths.withLock { $0 } == [Self.text.utf8.count])
    }

    @Test("Trailers and the content type stay with a body that was read")
    func trailers() async throws {
        let server = try FixtureServer.start { request in
            _ = try request.body
            return .text(try request.trailers["x-sum"] ?? "none")
        }
        var request = Request(.put, server.http(), body: Self.once().followed { ["X-Sum": "12"] })
        #expect(try await request.collectBody(upTo: 100).count == Self.text.utf8.count)
        #expect(try await HTTPClient.untimed().fetch(request).text == "12")
        let typed = RequestBody.form(["a": "1"])
        var form = Request(.put, server.http(), body: typed.followed { [:] })
        try await form.collectBody(upTo: 100)
        #expect(form.body.contentType == typed.contentType)
    }

    @Test("A body over the limit is refused, and is not spent if its length is known")
    func limits() async throws {
        for (body, isSpent) in [
            (RequestBody.text(Self.text), false), (Self.once(length: 19), false), (Self.once(), true),
        ] {
            let error = try await httpError { try await body.collect(upTo: 18) }
            guard case .bodyTooLarge(limit: 18) = error.reason else {
                Issue.record("\(error)")
                continue
            }
            guard isSpent else {
                #expect(try await body.collect(upTo: 19).count == 19)
                continue
            }
            let second = try await httpError { try await body.collect(upTo: 19) }
            guard case .requestBody(.alreadySent) = second.reason else {
                Issue.record("\(second)")
                continue
            }
        }
    }

    @Test("A wrong length and a failing source are errors of reading, too")
    func failures() async throws {
        struct Broken: Error {}
        let short = try await httpError { try await Self.once(length: 30).collect(upTo: 100) }
        guard case .bodyLength(announced: 30, given: 19) = short.reason else {
            Issue.record("\(short)")
            return
        }
        let failing = RequestBody.stream(AsyncThrowingStream { throw Broken() })
        let error = try await httpError { try await failing.collect(upTo: 100) }
        guard case .bodySource(let cause) = error.reason, cause is Broken else {
            Issue.record("\(error)")
            return
        }
    }

    @Test(
        "A response with another body keeps status, transaction and history, and loses the fields of the former one"
    )
    func replacedResponse() async throws {
        let server = try FixtureServer.start { request in
            request.path == "/from"
                ? .redirect(to: "/to")
                : .text("old", status: 203, ["X-Kept": "1", "Content-Encoding": "identity"])
        }
        let client = HTTPClient.untimed {
            $0.interceptors = [
                { request, forward in
                    let response = try await forward(request)
                    let old = try await response.body.collect(upTo: 100)
                    return response.replacing(body: old + old)
                }
            ]
        }
        let response = try await client.get(server.http("/from"))
        #expect(response.text == "oldold" && response.status == 203 && response.history.count == 1)
        #expect(response.transaction != nil && response.headers["X-Kept"] == "1")
        #expect(response.headers["Content-Length"] == "6" && !response.headers.contains("Content-Encoding"))
        #expect(try await client.get(server.http("/to")).isReused)
    }

    @Test("A response with another body keeps the trailers of one that has been read")
    func keptTrailers() async throws {
        let server = try FixtureServer.start { _ in
            .chunked([Array("one".utf8)], trailers: ["X-Sum": "7"])
        }
        let client = HTTPClient.untimed {
            $0.interceptors = [
                { request, forward in
                    let response = try await forward(request)
                    return response.replacing(body: try await response.body.collect(upTo: 100) + [0x21])
                }
            ]
        }
        let response = try await client.get(server.http())
        #expect(response.text == "one!" && response.trailers == ["X-Sum": "7"])
    }

    @Test("The cache stores what a network interceptor has made of a response")
    func cached() async throws {
        let server = try FixtureServer.start { _ in .text("coded?", ["Cache-Control": "no-store"]) }
        let client = HTTPClient.untimed {
            $0.cache = .memory()
            $0.networkInterceptors = [
                { request, forward in
                    let response = try await forward(request)
                    _ = try await response.body.collect(upTo: 100)
                    let own = response.replacing(body: Array("own".utf8))
                    var headers = own.headers
                    headers["Cache-Control"] = "max-age=60"
                    return own.replacing(headers: headers)
                }
            ]
        }
        let first = try await client.get(server.http()), second = try await client.get(server.http())
        #expect([first.text, second.text] == ["own", "own"] && server.requests.count == 1)
        #expect(second.cacheUse == .hit)
    }

    @Test(
        "A body replaced by a stream is read piece by piece, and giving up the former one closes its connection"
    )
    func streamed() async throws {
        let server = try FixtureServer.start { _ in .pattern(count: 1 << 20) }
        let client = HTTPClient.untimed {
            $0.interceptors = [
                { request, forward in
                    try await forward(request).replacing(
                        stream: AsyncThrowingStream { pieces in
                            pieces.yield([1, 2])
                            pieces.yield([3])
                            pieces.finish()
                        }
                    )
                }
            ]
        }
        #expect(try await client.get(server.http()).body == [1, 2, 3])
        #expect(try await !client.get(server.http()).isReused)
    }
}
