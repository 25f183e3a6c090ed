import DirectHTTP
import DirectTestCommands
import DirectTestData
import DirectTestTime
import Synchronization
import TLSFixtures
import Testing

@Suite("Streams of events that are followed", .idleLimit)
struct EventStreamTests {
    private let time = HeldTime()
    private static let fields: FixtureHeaders = ["Content-Type": "text/event-stream; charset=utf-8"]

    @Test("The server that a redirect leads to learns which event was the last")
    func redirectedStream() async throws {
        let next = Mutex(0)
        let events = try FixtureServer.start { _ in
            let number = next.withLock { next in
                next += 1
                return next
            }
            return number > 2
                ? .status(204) : .text("retry: 1\nid: \(number)\ndata: \(number)\n\n", Self.fields)
        }
        let front = try FixtureServer.start { _ in .redirect(to: events.http("/events"), status: 307) }
        var data: [String] = []
        for try await event in HTTPClient().events(from: front.http("/")) { data.append(event.data) }
        #expect(data == ["1", "2"])
        #expect(events.requests.map { $0.headers["last-event-id"] } == [nil, "1", "2"])
    }

    /// A server with one answer after the other; the last one is 204.
    private static func server(_ answers: FixtureReply...) throws -> FixtureServer {
        let next = Mutex(answers[...])
        return try FixtureServer.secure("a.test") { _ in
            next.withLock { $0.popFirst() } ?? .status(204)
        }
    }

    private static func stream(_ text: String) -> FixtureReply { .text(text, fields) }

    private static func request(_ server: FixtureServer) -> HTTPClient.Request {
        server.request("https://a.test/events?q=secret")
    }

    private func data(
        from request: HTTPClient.Request,
        lastEventID: String = "",
        _ configure: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) -> Task<[String], any Error> {
        let client = time.client(configure)
        return Task {
            var data: [String] = []
            for try await event in client.events(from: request, lastEventID: lastEventID) {
                data.append(event.data)
            }
            return data
        }
    }

    @Test(
        "The stream goes on after the last complete event, at the chosen address, until the server answers 204"
    )
    func reconnects() async throws {
        let server = try Self.server(
            Self.stream("id: 1\ndata: a\n\nid: 2\ndata: b\n\nid: 3\ndata: incomp"),
            Self.stream("retry: 7000\ndata: c\n\n"),
            Self.stream("id\ndata: d\n\n")
        )
        let events = data(from: Self.request(server))
        try await time.pass(.seconds(3))
        try await time.pass(.seconds(7))
        try await time.pass(.seconds(7))
        #expect(try await events.value == ["a", "b", "c", "d"])
        #expect(server.requests.map { $0.headers["last-event-id"] } == [nil, "2", "2", nil])
        #expect(server.requests.allSatisfy { $0.headers["accept"] == "text/event-stream" })
        #expect(server.requests.allSatisfy { $0.headers["cache-control"] == "no-store" })
    }

    @Test("A server that asks for no pause gets one, so that it cannot keep the client busy")
    func noPause() async throws {
        let server = try Self.server(Self.stream("retry: 0\ndata: a\n\n"), Self.stream("data: b\n\n"))
        let events = data(from: Self.request(server))
        for _ in 0..<2 { try await time.pass(.milliseconds(100)) }
        #expect(try await events.value == ["a", "b"])
    }

    @Test("The first request has the id of an earlier run, and the caller's own fields stay")
    func lastEventID() async throws {
        let server = try Self.server()
        var request = Self.request(server)
        request.headers = ["Accept": "text/event-stream, */*", "Cache-Control": "no-cache"]
        #expect(try await data(from: request, lastEventID: "é 7").value.isEmpty)
        let fields = try #require(server.requests.first?.headers)
        #expect(fields["last-event-id"] == "é 7" && fields["accept"] == "text/event-stream, */*")
        #expect(fields["cache-control"] == "no-cache")
    }

    @Test("Events are never those of a stored response, whatever the caller's own Cache-Control allows")
    func cached() async throws {
        let fields: FixtureHeaders = ["Content-Type": "text/event-stream", "Cache-Control": "max-age=60"]
        let first = FixtureReply.text("data: a\n\n", fields)
        let server = try Self.server(first, Self.stream("data: b\n\n"))
        var request = Self.request(server)
        request.headers["Cache-Control"] = "no-transform"
        let events = data(from: request) { $0.cache = .memory() }
        for _ in 0..<2 { try await time.pass(.seconds(3)) }
        #expect(try await events.value == ["a", "b"])
    }

    @Test("A connection that breaks in the stream or before its response is followed by another, ever later")
    func failures() async throws {
        let cut = FixtureReply.raw("HTTP/1.1 200", then: .cut)
        let broken = FixtureReply.raw(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 99\r\n\r\nid: 1\ndata: a\n\nda",
            then: .cut
        )
        let server = try Self.server(broken, cut, cut, cut, Self.stream("data: b\n\n"))
        // A kept connection that is dead would be replaced at once, and not by the stream.
        let events = data(from: Self.request(server)) { $0.maximumConnectionUses = 1 }
        for pause in [3, 3, 6, 12, 3] { try await time.pass(.seconds(pause)) }
        #expect(try await events.value == ["a", "b"])
        #expect(server.requests.dropFirst().allSatisfy { $0.headers["last-event-id"] == "1" })
        #expect(server.requests.count == 6)
    }

    @Test("A coded stream that ends before its coding does is followed by another, as one that is not coded")
    func codedStream() async throws {
        let fields: FixtureHeaders = ["Content-Type": "text/event-stream", "Content-Encoding": "gzip"]
        let whole = deflated(Array("id: 1\ndata: a\n\nid: 2\ndata: b\n\n".utf8))
        // Without the check value and the length at the end of gzip.
        let content = Array(whole.dropLast(8))
        let cut = FixtureReply.bytes(content, fields)
        let server = try Self.server(cut, .bytes(content, fields, framing: .untilClose))
        let events = data(from: Self.request(server))
        for _ in 0..<2 { try await time.pass(.seconds(3)) }
        #expect(try await events.value == ["a", "b", "a", "b"])
        #expect(server.requests.map { $0.headers["last-event-id"] } == [nil, "2", "2"])
        let other = try Self.server(cut)
        var request = Self.request(other)
        request.method = .post
        let error = try await httpError { [request] in try await data(from: request).value }
        #expect(error.codingError == .truncated(.gzip))
    }

    @Test("A server that is silent for the limit of reading is connected to again")
    func silence() async throws {
        let server = try FixtureServer.secure("a.test") { request in
            request.headers["last-event-id"] == nil
                ? .raw(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 99\r\n\r\n"
                        + "id: 1\ndata: a\n\n",
                    then: .keep
                ) : .status(204)
        }
        let events = data(from: Self.request(server)) { $0.timeouts.read = .seconds(50) }
        try await time.pass(.seconds(50))
        try await time.pass(.seconds(3))
        #expect(try await events.value == ["a"])
    }

    @Test(
        "Another status than 200 and 204 is an error with its response, and the stream has ended",
        arguments: [201, 206, 401, 404, 500, 503]
    )
    func statuses(status: Int) async throws {
        let server = try Self.server(.text("why", status: status, Self.fields))
        var events = time.client().events(from: Self.request(server)).makeAsyncIterator()
        let error = try await httpError { try await events.next(isolation: #isolation) }
        guard case .status(let found) = error.reason else { throw error }
        #expect(Int(found.code) == status && !"\(error)".contains("secret"))
        if status >= 300 { #expect(error.response?.body == Array("why".utf8)) }
        #expect(try await events.next() == nil && server.requests.count == 1)
    }

    @Test(
        "A response of another type is an error",
        arguments: ["text/html", "text/event-streams", "", "application/json; a=text/event-stream"]
    )
    func types(type: String) async throws {
        let server = try Self.server(.text("data: a\n\n", ["Content-Type": type]))
        let error = try await httpError { try await data(from: Self.request(server)).value }
        guard case .notEventStream = error.reason else { throw error }
        // As in a single response.
        let other = try Self.server(.text("data: a\n\n", ["Content-Type": type]))
        let single = try await httpError {
            try await time.client().send(Self.request(other)).requiringEvents()
        }
        guard case .notEventStream = single.reason else { throw single }
    }

    @Test("A certificate for another name is not asked again")
    func certificate() async throws {
        let server = try FixtureServer.secure("b.test")
        let error = try await httpError { try await data(from: Self.request(server)).value }
        #expect(error.phase == .tls && server.requests.isEmpty)
    }

    @Test("A request that is not a GET is sent once, and its stream ends with its response")
    func post() async throws {
        let server = try Self.server(Self.stream("data: a\n\n"), Self.stream("data: b\n\n"))
        let request = server.request("https://a.test/", .post, body: .text("x"))
        #expect(try await data(from: request).value == ["a"])
        #expect(server.requests.count == 1)
        let cut = try Self.server(.raw("HTTP/1.1 200", then: .cut))
        _ = try await httpError {
            try await data(from: cut.request("https://a.test/", .post, body: .text("x"))).value
        }
    }

    @Test("The stream ends with the caller's cancellation: before the response, in the stream, in a pause")
    func cancellation() async throws {
        let mayAnswer = Gate()
        let silent = try FixtureServer.secure("a.test") { request in
            try request.wait(for: mayAnswer)
            return .status(500)
        }
        let waiting = data(from: Self.request(silent))
        try await silent.waitUntil { $0.first?.requests.count == 1 }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        let stream = time.client { settings in
            settings.transport = { request in
                let fields: HTTPHeaders = ["Content-Type": "text/event-stream"]
                return try HTTPClient.Response(
                    to: request,
                    200,
                    headers: fields,
                    steps: [.text("data: a\n\n"), .stall]
                )
            }
        }
        let reading = Task {
            for try await _ in stream.events(from: "http://a.test/") {
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }
        await #expect(throws: CancellationError.self) { try await reading.value }
        let server = try Self.server(Self.stream("retry: 5000\n\n"))
        let pausing = data(from: Self.request(server))
        try await time.waitBegins(for: .seconds(5))
        pausing.cancel()
        await #expect(throws: CancellationError.self) { try await pausing.value }
    }

    @Test("A redirect is followed anew for each connection")
    func redirect() async throws {
        let count = Mutex(0)
        let server = try FixtureServer.secure("a.test") { request in
            guard request.target == "/there" else { return .redirect(to: "/there", status: 308) }
            let number = count.withLock {
                $0 += 1; return $0
            }
            return number == 1 ? Self.stream("id: 1\ndata: a\n\n") : .status(204)
        }
        let events = data(from: Self.request(server))
        try await time.pass(.seconds(3))
        #expect(try await events.value == ["a"])
        #expect(server.requests.map { $0.headers["last-event-id"] } == [nil, nil, "1", "1"])
    }
}
