import DirectTestResolvers
@testable import DirectCore
import DirectHTTP
import DirectIO
import DirectTestCommands
import DirectTestTime
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Transfers of bodies", .idleLimit)
struct TransferTests {
    private let time = HeldTime()

    @Test("Trailers follow a chunked upload, and are made when its last byte has been sent")
    func trailers() async throws {
        let server = try FixtureServer.start { request in
            let trailers = try request.trailers
            return .text("\(request.headers["transfer-encoding"] ?? "") \(trailers["x-sum"] ?? "none")")
        }
        let client = HTTPClient.untimed()
        let pieces = PatternPieces(sizes: [10, 20])
        let bodies: [RequestBody] = [.none, .bytes([1]), .stream(pieces, length: 30)]
        for (body, sum) in zip(bodies, [0, 0, 2]) {
            let response = try await client.post(
                server.http(),
                body.followed { ["X-Sum": "\(pieces.given)"] }
            )
            #expect(response.text == "chunked \(sum)")
        }
        #expect(server.records.count == 1)
    }

    @Test("Trailers follow those that a body has already, and a part of a form may have none")
    func moreTrailers() async throws {
        let server = try FixtureServer.start { request in
            let trailers = try request.trailers
            return .text("\(trailers["x-a"] ?? "none") \(trailers["x-b"] ?? "none")")
        }
        let client = HTTPClient.untimed()
        let body = RequestBody.text("hello").followed { ["X-A": "1"] }.followed { ["X-B": "2"] }
        #expect(try await client.post(server.http(), body).text == "1 2")
        let form = RequestBody.multipart([.field("a", "b"), FormPart("c", body: body)])
        let error = try await httpError { try await client.post(server.http(), form) }
        guard case .requestBody(.partWithTrailers(part: 1)) = error.reason else {
            Issue.record("\(error)")
            return
        }
    }

    @Test("A source that has told its end before its last piece is not asked again")
    func endToldOnce() async throws {
        let server = try FixtureServer.start { .text("\(try $0.discardBody())") }
        let asked = Counter()
        let body = StreamedBody(isReplayable: false, endsAtOnce: true) { _, _ in
            3
        } open: { _ in
            RequestBodySource {
                asked.add(1)
                // As a file that has grown since.
                return asked.value == 2 ? nil : [1, 2, 3]
            }
        }
        let response = try await HTTPClient.untimed().post(server.http(), RequestBody(.stream(body)))
        #expect(response.text == "3" && asked.value == 2)
    }

    @Test(
        "Malformed trailers are refused, and the request stays incomplete",
        arguments: [
            ("X-A", "b\r\nX-Evil: 1"), ("X-A", "b\u{0}"), ("X A", "1"), ("Content-Length", "5"),
            ("transfer-encoding", "chunked"), ("Host", "evil.test"), ("Authorization", "Basic eA=="),
        ]
    )
    func badTrailers(name: String, value: String) async throws {
        let server = try FixtureServer.start { .text("\(try $0.discardBody())") }
        let client = HTTPClient.untimed()
        let body = RequestBody.text("hello").followed { [name: value] }
        let error = try await httpError { try await client.post(server.http(), body) }
        #expect(error.phase == .write && error.protocolError != nil, "\(error)")
        #expect(!error.description.contains("Evil"))
        let record = try await server.nextRecord()
        #expect(record.requests.first?.isComplete == false)
        #expect(!record.receivedText.contains("Evil"))
    }

    @Test("An error while trailers are made is the error of the call")
    func failingTrailers() async throws {
        struct Failure: Error {}
        let server = try FixtureServer.start { .text("\(try $0.discardBody())") }
        let body = RequestBody.text("hello").followed { throw Failure() }
        let error = try await httpError { try await HTTPClient.untimed().post(server.http(), body) }
        guard case .bodySource(let cause) = error.reason, cause is Failure else {
            Issue.record("\(error)")
            return
        }
    }

    @Test("A replayable body is made again for each request")
    func replayable() async throws {
        let server = try FixtureServer.start { request in
            // A server that responds before the body has arrived may never get it.
            let count = try request.discardBody()
            return request.path == "/" ? .redirect(to: "/next", status: 307) : .text("\(count)")
        }
        let makings = Counter()
        let body = RequestBody.replayable(length: 30) {
            makings.add(1)
            return PatternPieces(sizes: [10, 20])
        }
        #expect(body.isReplayable)
        #expect(try await HTTPClient.untimed().post(server.http(), body).text == "30")
        #expect(makings.value == 2)
    }

    @Test("The progress of an upload counts its content up to the end", arguments: [100, 300_000])
    func uploadProgress(size: Int) async throws {
        let server = try FixtureServer.start { .text("\(try $0.discardBody())") }
        for body in [
            RequestBody.bytes(pattern(at: 0, count: size)), .stream(PatternPieces(sizes: [size - 50, 50])),
            .stream(PatternPieces(sizes: [50, size - 50]), length: UInt64(size)),
        ] {
            let heard = Heard<TransferProgress>()
            var request = Request(.put, server.http(), body: body)
            request.onUpload = { heard.add($0) }
            #expect(try await HTTPClient.untimed().fetch(request).text == "\(size)")
            let all = heard.all
            #expect(all.map(\.bytes) == all.map(\.bytes).sorted())
            #expect(all.last?.bytes == UInt64(size))
            let isChunked = server.requests.last?.headers["transfer-encoding"] != nil
            #expect(all.allSatisfy { $0.total == (isChunked ? nil : UInt64(size)) })
        }
    }

    @Test(
        "The progress of a download counts received bytes, with the total if the head has one",
        arguments: [100, 300_000]
    )
    func downloadProgress(size: Int) async throws {
        let server = try FixtureServer.start { request in
            .pattern(count: size, framing: request.path == "/chunked" ? .chunked : .length)
        }
        for (path, total) in [("/", UInt64(size)), ("/chunked", nil)] {
            let heard = Heard<TransferProgress>()
            var request = Request(.get, server.http(path))
            request.onDownload = { heard.add($0) }
            #expect(try await HTTPClient.untimed().fetch(request).body.count == size)
            #expect(heard.all.last == TransferProgress(bytes: UInt64(size), total: total))
            #expect(heard.all.allSatisfy { $0.total == total && $0.bytes > 0 })
        }
    }

    @Test("A second request with the same stream is an error, and sends nothing")
    func streamSentTwice() async throws {
        let server = try FixtureServer.start { try .echo($0) }
        let client = HTTPClient()
        let pieces = AsyncStream<[UInt8]> { continuation in
            continuation.yield([1, 2, 3])
            continuation.finish()
        }
        let body = RequestBody.stream(pieces)
        #expect(try await client.post(server.http(), body).body == [1, 2, 3])
        for again in [body, body.followed { [:] }] {
            let error = try await httpError { try await client.post(server.http(), again) }
            guard error.phase == .request, case .requestBody(.alreadySent) = error.reason else { throw error }
        }
        // The connection is as good as before.
        #expect(try await client.get(server.http()).isReused)
        #expect(server.requests.count == 2)
    }

    @Test("A stream in two concurrent requests goes to one of them, and the other one fails")
    func streamSentAtTheSameTime() async throws {
        let server = try FixtureServer.start { try .echo($0) }
        let client = HTTPClient()
        let pieces = AsyncStream<[UInt8]>.makeStream()
        let body = RequestBody.stream(pieces.stream)
        try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    do {
                        return try await client.post(server.http(), body).body
                    } catch let error as HTTPError {
                        guard case .requestBody(.alreadySent) = error.reason else { throw error }
                        return nil
                    }
                }
            }
            // The one that has the stream waits for its end, so it is the other one that is over.
            let loser = try await group.next()
            #expect(loser == .some(nil))
            pieces.continuation.yield([1, 2, 3])
            pieces.continuation.finish()
            let winner = try await group.next()
            #expect(winner == [1, 2, 3])
        }
    }

    @Test("A body that arrived with its head can be read once, like any other", arguments: [0, 10])
    func once(size: Int) async throws {
        let server = try FixtureServer.start { _ in .pattern(count: size) }
        let client = HTTPClient.untimed()
        let response = try await client.send(Request(.get, server.http()))
        #expect(try await response.body.collect(upTo: 10).count == size)
        let again = try await httpError { try await response.body.collect(upTo: 10) }
        guard case .bodyAlreadyRead = again.reason else { throw again }
        let other = try await client.send(Request(.get, server.http()))
        for try await piece in other.body { #expect(piece.count == size) }
        let pieces = try await httpError { for try await _ in other.body {} }
        guard case .bodyAlreadyRead = pieces.reason else { throw pieces }
    }

    @Test("A body with a Content-Length beyond the limit is refused unread")
    func announcedTooLarge() async throws {
        let mayGoOn = Gate()
        let server = try FixtureServer.start { _ in
            .written(length: 1 << 30, framing: .length) { writer in
                try writer.flushHead()
                try writer.wait(for: mayGoOn)
            }
        }
        let error = try await httpError { try await HTTPClient.untimed().get(server.http()) }
        guard case .bodyTooLarge = error.reason else { throw error }
        #expect(try await server.waitUntil { $0.first != nil }.count == 1)
        mayGoOn.open()
    }

    @Test("A short rest of an abandoned response is read and dropped, and the connection is reused")
    func drained() async throws {
        for framing in [FixtureReply.Framing.length, .chunked] {
            let mayGoOn = Gate()
            let server = try FixtureServer.start { request in
                guard request.path == "/" else { return .text("next") }
                return .written(length: 40_000, framing: framing) { writer in
                    try writer.write([UInt8](repeating: 1, count: 30_000))
                    try writer.wait(for: mayGoOn)
                    try writer.write([UInt8](repeating: 2, count: 10_000))
                }
            }
            let client = HTTPClient.untimed { $0.maximumConnectionsPerOrigin = 1 }
            func drop() async throws { _ = try await client.send(Request(.get, server.http())) }
            try await drop()
            mayGoOn.open()
            // The only place is free when the rest has been read, or given up.
            #expect(try await client.get(server.http("/next")).isReused)
        }
    }

    @Test("A watched response that is there as a whole has given its connection back before it is read")
    func wholeAndWatched() async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        let server = try FixtureServer.scripted([
            .awaitHead, .send(answer), .awaitHead, .send(answer), .awaitClose,
        ])
        let client = HTTPClient.untimed()
        var request = Request(.get, server.http())
        request.onDownload = { _ in }
        let unread = try await client.send(request)
        #expect(try await client.fetch(request).isReused)
        #expect(try await unread.body.collect(upTo: 2) == Array("ok".utf8))
    }

    @Test("A long or late rest of an abandoned response is not read, and the connection is closed")
    func notDrained() async throws {
        let never = Gate()
        let server = try FixtureServer.start { request in
            switch request.path {
            case "/large": .pattern(count: 1 << 20)
            case "/endless": .pattern(count: 1 << 30, framing: .chunked)
            case "/slow":
                .written(length: 20, framing: .length) { writer in
                    try writer.write([1])
                    try writer.wait(for: never)
                }
            default: .text("next")
            }
        }
        let client = time.client { $0.maximumConnectionsPerOrigin = 1 }
        for path in ["/large", "/endless", "/slow"] {
            func drop() async throws { _ = try await client.send(Request(.get, server.http(path))) }
            try await drop()
            if path == "/slow" { try await time.pass(.milliseconds(100)) }
            #expect(try await !client.get(server.http("/next")).isReused)
        }
        never.open()
    }

    @Test("A server that sends slowly violates the minimum speed, although it never pauses")
    func tooSlow() async throws {
        let gates = [Gate(), Gate()]
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
        let server = try FixtureServer.scripted([
            .awaitHead, .send(head), .wait(gates[0]), .send("a"), .wait(gates[1]), .send("a"), .awaitClose,
        ])
        let client = time.client { $0.timeouts.minimumSpeed = .init(bytes: 100, in: .seconds(9)) }
        let arrivals = [Barrier(), Barrier()]
        var request = Request(.get, server.http())
        request.onDownload = { arrivals[Int($0.bytes) - 1].open() }
        async let failure = httpError { [request] in try await client.fetch(request) }
        for (number, gate) in gates.enumerated() {
            // The time that has been waited is taken off, also when the wait before ended with a byte.
            try await time.waitBegins(for: .seconds(9 - 4 * number))
            time.advance(by: .seconds(4))
            gate.open()
            await arrivals[number].pass()
        }
        try await time.pass(.seconds(1))
        let error = try await failure
        guard case .tooSlow(.init(bytes: 100, in: .seconds(9))) = error.reason else { throw error }
        #expect(error.phase == .body)
    }

    @Test("A server that takes no bytes of an upload violates the minimum speed")
    func tooSlowUpload() async throws {
        let never = Gate()
        let server = try FixtureServer.start { request in
            try request.wait(for: never)
            return .text("")
        }
        let client = time.client { $0.timeouts.minimumSpeed = .init(bytes: 1000, in: .seconds(9)) }
        // The first stretch is that in which the kernel has taken what it has room for.
        let error = try await httpError {
            try await time.passing(repeatedly: .seconds(9)) {
                try await client.post(server.http(), .bytes([UInt8](repeating: 1, count: 64 << 20)))
            }
        }
        guard case .tooSlow = error.reason else { throw error }
        #expect(error.phase == .write)
        never.open()
    }

    @Test("Only time spent waiting counts for the minimum speed")
    func gauge() throws {
        func moment(_ milliseconds: UInt64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }
        var gauge = ThroughputMonitor(.init(Timeouts.Speed(bytes: 100, in: .seconds(1))))
        #expect(gauge.isOn)
        gauge.enter(waitFrom: moment(0), to: moment(999))
        gauge.count(99)
        try gauge.judge(.body)
        // A long pause of our own lies between the waits, and the last byte comes with the second.
        gauge.enter(waitFrom: moment(60_000), to: moment(60_001))
        gauge.count(1)
        try gauge.judge(.body)
        gauge.count(99)
        gauge.enter(waitFrom: moment(70_000), to: moment(70_500))
        try gauge.judge(.body)
        gauge.enter(waitFrom: moment(80_000), to: moment(80_500))
        #expect(throws: TransportError.self) { try gauge.judge(.body) }
        #expect(!ThroughputMonitor(.init(nil)).isOn)
    }

    @Test("What has arrived by the end of an interval counts, although its reader runs late")
    func lateReader() async throws {
        var gauge = ThroughputMonitor(.init(Timeouts.Speed(bytes: 100, in: .seconds(1))))
        let limit = CallLimit(Timeouts().nanoseconds, until: .never)
        let deadline = limit.deadline(.body, stall: limit.timeouts.read, from: time.now)
        for bytes in [100, 0] {
            // The event has come in time, and the process has stood still before its task ran.
            let goesOn = try await gauge.check(deadline, on: time.loop) { [time] _ in
                time.advance(by: .seconds(50))
                return true
            }
            #expect(goesOn)
            gauge.count(bytes)
        }
        do throws(TransportError) {
            _ = try await gauge.check(deadline, on: time.loop) { _ in true }
            Issue.record("the second interval was too slow")
        } catch {
            guard case .failed(.body, .tooSlow) = error else { throw error }
        }
    }

    @Test("A TLS key update during an upload that the server does not read breaks neither direction")
    func keysDuringUpload() async throws {
        let total = 32 << 20
        let mayRead = Gate()
        let server = try FixtureServer.scripted(
            [
                .awaitHead, .askForNewKeys, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst"),
                .wait(mayRead),
                .awaitBytes(total), .send("later"), .awaitClose,
            ],
            .tls(testAuthority.certificate(for: "a.test"))
        )
        let body = RequestBody.bytes([UInt8](repeating: 5, count: total))
        let response = try await HTTPClient.trusting().send(
            server.request("https://a.test/", .post, body: body)
        )
        mayRead.open()
        #expect(try await response.body.collect(upTo: 10) == Array("firstlater".utf8))
    }
}

extension BodyWriter {
    /// Sends the head, and nothing more yet.
    fileprivate func flushHead() throws { try pause(.zero) }
}
