@testable import DirectCore
import DirectIO
import DirectTestCommands
import DirectTestTime
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Responses before the end of the request", .idleLimit)
struct EarlyAnswerTests {
    private let time = HeldTime()
    private static let accepted = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\naccepted"
    private static let size = 16 << 20

    private func upload(_ server: FixtureServer, _ pieces: PatternPieces) -> Request {
        Request(.put, server.http(), body: .stream(pieces, length: UInt64(Self.size)))
    }

    /// A server that answers at once and reads on only when it may.
    private func earlyServer(_ mayRead: Gate) throws -> FixtureServer {
        try FixtureServer.start { request in
            // The request belongs to this thread, which also runs the writer.
            nonisolated(unsafe) let request = request
            return .written(length: 8, framing: .length) { writer in
                try writer.write(Array("accepted".utf8))
                try request.wait(for: mayRead)
                _ = try request.discardBody()
            }
        }
    }

    private var pieces: PatternPieces {
        PatternPieces(sizes: Array(repeating: 65_536, count: Self.size / 65_536))
    }

    @Test("The upload continues after an early success for as long as the server reads it")
    func slowReader() async throws {
        let mayRead = Gate()
        let server = try earlyServer(mayRead)
        let client = time.client()
        let response = try await client.send(upload(server, pieces))
        #expect(response.status == 200)
        var iterator = response.body.makeAsyncIterator()
        // Delivered as it comes: the server has read nothing of the body yet.
        #expect(try await iterator.next() == Array("accepted".utf8))
        // The upload stands still for as long as it may.
        time.advance(by: .seconds(59))
        mayRead.open()
        #expect(try await iterator.next() == nil)
        #expect(client.connections.first?.connections.first?.isBusy == false)
        // The next request comes behind all of the body.
        #expect(try await client.get(server.http()).isReused)
        #expect(server.requests.first?.bodyCount == Self.size)
    }

    @Test("Collecting a response waits for the end of the upload")
    func collected() async throws {
        let mayRead = Gate()
        let server = try earlyServer(mayRead)
        let source = pieces
        source.beforeEach = { given in if given > 0 { mayRead.open() } }
        let client = HTTPClient.untimed()
        let response = try await client.fetch(upload(server, source))
        #expect(response.text == "accepted")
        #expect(try await client.get(server.http()).isReused)
        #expect(server.requests.first?.bodyCount == Self.size)
    }

    @Test(
        "If the connection ends after an early success, the error has the response",
        arguments: [true, false]
    )
    func lostUpload(collects: Bool) async throws {
        let hasAnswer = Gate()
        let server = try FixtureServer.scripted([
            .awaitHead, .send(Self.accepted), .wait(hasAnswer), .reset,
        ])
        let source = pieces
        let response = try await HTTPClient.untimed().send(upload(server, source))
        #expect(response.status == 200)
        hasAnswer.open()
        let error: HTTPError
        if collects {
            error = try await httpError { try await response.body.collect(upTo: 100) }
            #expect(error.response?.body == Array("accepted".utf8))
        } else {
            var iterator = response.body.makeAsyncIterator()
            #expect(try await iterator.next() == Array("accepted".utf8))
            error = try await httpError { try await iterator.next() }
        }
        #expect(error.phase == .write)
        #expect(error.response?.status == 200)
    }

    @Test("A server that responds and stops reading violates the write limit")
    func standstill() async throws {
        let server = try FixtureServer.scripted([.awaitHead, .send(Self.accepted), .stall])
        let client = time.client { $0.timeouts.write = .seconds(61) }
        let request = upload(server, pieces)
        // The time passes once the response is there, however long it takes.
        let response = try await client.send(request)
        let error = try await httpError {
            try await time.passing(repeatedly: .seconds(61)) { try await response.body.collect(upTo: 100) }
        }
        #expect(error.phase == .write && error.isTimeout)
        #expect(error.response?.status == 200)
        #expect(client.connections.isEmpty)
    }

    @Test("Dropping a response ends its upload")
    func dropped() async throws {
        let server = try FixtureServer.scripted([.awaitHead, .send(Self.accepted), .awaitClose])
        let source = pieces
        let (never, continuation) = AsyncStream.makeStream(of: Void.self)
        source.beforeEachAsync = {
            if source.given < 1 { return }
            for await _ in never {}
            try Task.checkCancellation()
        }
        var response: Response? = try await HTTPClient.untimed().send(upload(server, source))
        #expect(response?.status == 200)
        response = nil
        // The connection is closed, and the source is asked for no more.
        _ = try await server.nextRecord()
        #expect(source.given <= 1)
        continuation.finish()
        source.beforeEachAsync = nil  // It holds the source.
    }

    @Test("Head and body are delivered while the source of the upload is slow")
    func slowSource() async throws {
        let server = try FixtureServer.scripted([
            .awaitHead, .send(Self.accepted), .awaitClose,
        ])
        let hasRead = Gate()
        let (turns, turn) = AsyncStream.makeStream(of: Void.self)
        let source = pieces
        source.beforeEachAsync = {
            if hasRead.isOpen { return }
            for await _ in turns { break }
        }
        let response = try await HTTPClient.untimed().send(upload(server, source))
        var iterator = response.body.makeAsyncIterator()
        #expect(try await iterator.next() == Array("accepted".utf8))
        #expect(source.given == 0)
        hasRead.open()
        turn.finish()
        #expect(try await iterator.next() == nil)
        #expect(source.given == Self.size / 65_536)
    }

    @Test("After an early success the rest of the upload is sent to a half-closed server")
    func halfClosed() async throws {
        let mayRead = Gate()
        let server = try FixtureServer.scripted([
            .awaitHead, .send(Self.accepted), .halfClose, .wait(mayRead), .awaitClose,
        ])
        let client = HTTPClient.untimed()
        let response = try await client.send(upload(server, pieces))
        mayRead.open()
        #expect(try await response.body.collect(upTo: 8) == Array("accepted".utf8))
        #expect(client.connections.isEmpty)
        #expect(try await server.nextRecord().receivedCount >= Self.size)
    }

    @Test("Cancelling a caller that awaits the end of its upload ends both")
    func cancelled() async throws {
        let server = try FixtureServer.scripted([.awaitHead, .send(Self.accepted), .awaitClose])
        let source = pieces
        let (never, continuation) = AsyncStream.makeStream(of: Void.self)
        source.beforeEachAsync = {
            for await _ in never {}
            try Task.checkCancellation()
        }
        let client = HTTPClient.untimed()
        let response = try await client.send(upload(server, source))
        let reading = Task { try await response.body.collect(upTo: 100) }
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        _ = try await server.nextRecord()
        #expect(client.connections.isEmpty)
        continuation.finish()
    }

    /// A body of three bytes, or none, whose source tells nothing more until it is continued.
    private func held(_ length: Int = 3) -> (
        RequestBody, AsyncThrowingStream<[UInt8], any Error>.Continuation
    ) {
        let (pieces, source) = AsyncThrowingStream.makeStream(of: [UInt8].self, throwing: (any Error).self)
        if length > 0 { source.yield(pattern(at: 0, count: length)) }
        return (.stream(pieces, length: UInt64(length)), source)
    }

    @Test(
        "A response comes when the announced bytes are out, ends when the source tells its end, and keeps the connection",
        arguments: [HTTPStatus.ok, .forbidden],
        [0, 3]
    )
    func lateEnd(status: HTTPStatus, length: Int) async throws {
        let server = try FixtureServer.start { request in
            .text("\(try request.discardBody())", status: Int(status.code))
        }
        let (body, source) = held(length)
        let client = HTTPClient.untimed()
        let response = try await client.send(Request(.post, server.http(), body: body))
        #expect(response.status == status)
        var iterator = response.body.makeAsyncIterator()
        #expect(try await iterator.next() == Array("\(length)".utf8))
        source.finish()
        #expect(try await iterator.next() == nil)
        #expect(try await client.get(server.http()).isReused)
    }

    @Test(
        "What a source gives behind its announced end is an error although the response is there",
        arguments: [nil, SourceFailure()] as [SourceFailure?],
        [0, 3]
    )
    func excess(failure: SourceFailure?, length: Int) async throws {
        let server = try FixtureServer.start { .text("\(try $0.discardBody())") }
        let (body, source) = held(length)
        let client = HTTPClient.untimed()
        let response = try await client.send(Request(.post, server.http(), body: body))
        #expect(response.status == 200)
        if let failure { source.finish(throwing: failure) } else { source.yield([1]) }
        let error = try await httpError { try await response.body.collect(upTo: 100) }
        #expect(error.phase == .write && error.response?.status == 200)
        switch error.reason {
        case .bodyLength(UInt64(length), given: UInt64(length) + 1): #expect(failure == nil)
        case .bodySource(let cause): #expect(failure != nil && cause is SourceFailure)
        default: Issue.record("\(error)")
        }
        #expect(client.connections.isEmpty)
        source.finish()
    }

    @Test(
        "A source that does not tell its end ends the call by the write limit, and no redirect is followed before",
        arguments: [nil, 301, 302, 303] as [Int?]
    )
    func noEnd(redirect: Int?) async throws {
        let server = try FixtureServer.start { request in
            _ = try request.discardBody()
            return redirect.map { .redirect(to: "/elsewhere", status: $0) } ?? .text("taken")
        }
        let client = time.client {
            $0.timeouts.write = .seconds(61)
            $0.timeouts.response = nil
        }
        let (body, source) = held()
        let error = try await httpError {
            try await time.passing(repeatedly: .seconds(61)) { try await client.post(server.http(), body) }
        }
        #expect(error.phase == .write && error.isTimeout)
        #expect(server.requests.map(\.target) == ["/"])
        source.finish()
    }

    @TaskLocal static var mark = "none"

    @Test("The source of a body sees the task-local values of its caller")
    func taskLocal() async throws {
        let server = try FixtureServer.start { .text("\(try $0.discardBody())") }
        let source = PatternPieces(sizes: [100_000])
        let seen = Locked<[String]>([])
        source.beforeEach = { _ in seen.withLock { $0.append(Self.mark) } }
        try await Self.$mark.withValue("the caller's") {
            _ = try await HTTPClient.untimed().post(server.http(), .stream(source))
        }
        #expect(seen.withLock { $0 } == ["the caller's"])
    }
}

struct SourceFailure: Error {}
