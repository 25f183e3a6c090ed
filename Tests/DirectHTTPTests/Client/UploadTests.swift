import DirectHTTP
import DirectTestCommands
import DirectTestTime
import Dispatch
import TLSFixtures
import Testing

@Suite("Bodies of requests", .idleLimit)
struct UploadTests {
    private let time = HeldTime()

    private static let drain: FixtureHandler = { .text("\(try $0.discardBody())") }

    @Test("A body of any size is sent completely", arguments: [0, 1, 14_000, 14_337, 100_000, 3_000_000])
    func bytes(size: Int) async throws {
        let server = try FixtureServer.start(
            .tls(testAuthority.certificate(for: "a.test")),
            handler: patternJudge
        )
        let client = HTTPClient.trusting()
        let request = server.request(
            "https://a.test/",
            .post,
            body: .bytes(pattern(at: 0, count: size))
        )
        for _ in 0..<2 { #expect(try await client.fetch(request).text == "\(size) \(size) true") }
    }

    @Test("A missing body has Content-Length 0 for POST, and no framing field for GET")
    func none() async throws {
        let server = try FixtureServer.start(handler: patternJudge)
        let client = HTTPClient.untimed()
        #expect(try await client.fetch(Request(.post, server.http())).text == "0 0 true")
        #expect(try await client.fetch(Request(.get, server.http())).text == "0 none true")
    }

    @Test(
        "A stream with a length is sent with Content-Length",
        arguments: [[], [1], [20_000, 1, 0, 70_000]]
    )
    func streamWithLength(sizes: [Int]) async throws {
        let server = try FixtureServer.start(
            .tls(testAuthority.certificate(for: "a.test")),
            handler: patternJudge
        )
        let total = sizes.reduce(0, +)
        let body = RequestBody.stream(PatternPieces(sizes: sizes), length: UInt64(total))
        let request = server.request("https://a.test/", .put, body: body)
        #expect(try await HTTPClient.trusting().fetch(request).text == "\(total) \(total) true")
    }

    @Test("A stream without a length is sent in chunks", arguments: [[], [1], [20_000, 1, 0, 70_000]])
    func streamInChunks(sizes: [Int]) async throws {
        let server = try FixtureServer.start(
            .tls(testAuthority.certificate(for: "a.test")),
            handler: patternJudge
        )
        let request = server.request("https://a.test/", .post, body: .stream(PatternPieces(sizes: sizes)))
        let response = try await HTTPClient.trusting().fetch(request)
        #expect(response.text == "\(sizes.reduce(0, +)) chunked true")
    }

    @Test("A stream of more or fewer bytes than announced is an error, and closes its connection")
    func wrongLength() async throws {
        let server = try FixtureServer.start(handler: Self.drain)
        let client = HTTPClient.untimed()
        for (sizes, given) in [([10, 10], 20), ([10], 10), ([16], 16), ([], 0)] as [([Int], UInt64)] {
            let body = RequestBody.stream(PatternPieces(sizes: sizes), length: 15)
            let error = try await httpError { try await client.post(server.http(), body) }
            #expect(error.phase == .write)
            guard case .bodyLength(announced: 15, given: given) = error.reason else {
                Issue.record("\(error)")
                continue
            }
            let record = try await server.nextRecord()
            #expect(record.requests.allSatisfy { !$0.isComplete && $0.bodyCount <= 15 })
        }
        let after = try await client.post(server.http(), .text("good"))
        #expect(after.text == "4" && !after.isReused)
    }

    @Test("The length of a stream is enforced behind trailers, compressed, and in a part of a form")
    func wrongLengthInside() async throws {
        let server = try FixtureServer.start(handler: Self.drain)
        func short(_ sizes: [Int] = [3]) -> RequestBody {
            .stream(PatternPieces(sizes: sizes), length: 5)
        }
        let trailers: @Sendable () async throws -> HTTPHeaders = { ["X-Sum": "1"] }
        let endless = FormPart("b", body: .stream(PatternPieces(sizes: [1])))
        let bodies: [RequestBody] = [
            short().followed(by: trailers), try short().gzipped(),
            try short().gzipped().followed(by: trailers),
            try short().followed(by: trailers).gzipped(), .multipart([FormPart("a", body: short())]),
            .multipart([FormPart("a", body: short()), endless]),
            .multipart([FormPart("a", body: short()), FormPart("b", body: short([7]))]),
        ]
        for body in bodies {
            let error = try await httpError { try await HTTPClient.untimed().post(server.http(), body) }
            guard error.phase == .write, case .bodyLength(announced: 5, given: 3) = error.reason else {
                Issue.record("\(error)")
                continue
            }
            #expect(try await !(server.nextRecord().requests.first?.isComplete ?? false))
        }
    }

    @Test("The error of a failed source is reported, and closes the connection")
    func failingSource() async throws {
        let server = try FixtureServer.start(handler: Self.drain)
        let client = HTTPClient.untimed()
        for length in [nil, 1000] as [UInt64?] {
            let pieces = PatternPieces(sizes: [100], end: SourceFailure())
            let error = try await httpError {
                try await client.post(server.http(), .stream(pieces, length: length))
            }
            #expect(error.phase == .write)
            guard case .bodySource(let cause) = error.reason else {
                Issue.record("\(error)")
                continue
            }
            #expect(cause is SourceFailure)
            #expect(try await !(server.nextRecord().requests.first?.isComplete ?? true))
        }
    }

    @Test("A CancellationError from a source is a failure of the source, not a cancellation")
    func sourceThatGivesUp() async throws {
        let server = try FixtureServer.start(handler: Self.drain)
        let pieces = PatternPieces(sizes: [100], end: CancellationError())
        let error = try await httpError {
            try await HTTPClient.untimed().post(server.http(), .stream(pieces))
        }
        guard case .bodySource = error.reason else {
            Issue.record("\(error)")
            return
        }
    }

    @Test("A connection is reused after an upload", arguments: [100, 200_000])
    func reuse(size: Int) async throws {
        let server = try FixtureServer.start(
            .tls(testAuthority.certificate(for: "a.test")),
            handler: patternJudge
        )
        let client = HTTPClient.trusting()
        var reuses = 0
        for _ in 0..<8 {
            let body = RequestBody.bytes(pattern(at: 0, count: size))
            let response = try await client.fetch(server.request("https://a.test/", .post, body: body))
            #expect(response.text == "\(size) \(size) true")
            if response.isReused { reuses += 1 }
        }
        #expect(reuses == 7)
    }

    @Test(
        "A response before the end of the upload is delivered, and stops the upload",
        arguments: [true, false]
    )
    func earlyRefusal(closes: Bool) async throws {
        let mayFinish = Gate()
        let text = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 8\r\n\r\n"
        let end: [ByteScript.Step] =
            closes ? [.send("too much")] : [.wait(mayFinish), .send("too much"), .awaitClose]
        let server = try FixtureServer.scripted(
            ByteScript([.awaitHead, .awaitBytes(100_000), .send(text)] + end)
        )
        // 64 GiB: on a busy machine 256 MiB were sent before the reader had its turn at the connection.
        let count = 1 << 20
        let pieces = PatternPieces(sizes: Array(repeating: 65_536, count: count))
        let request = Request(.post, server.http(), body: .stream(pieces, length: UInt64(count) * 65_536))
        let response = try await HTTPClient.untimed().send(request)
        #expect(response.status == 413)
        mayFinish.open()
        #expect(try await response.body.collect(upTo: 100) == Array("too much".utf8))
        _ = try await server.nextRecord()
        #expect(pieces.given < count)
    }

    @Test("A refusal is delivered although sending failed before its head was read")
    func refusalAfterFailure() async throws {
        let hasFailed = DispatchSemaphore(value: 0)
        let server = try FixtureServer.scripted([
            .awaitHead, .awaitBytes(100_000), .send("HTTP/1.1 103 Early Hints\r\n\r\n"),
            .send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 8\r\n\r\ntoo much"), .reset,
        ])
        var request = Request(.post, server.http())
        request.body = .replayable { EndlessPieces(end: hasFailed) }
        // The source is gone when the upload has ended.
        request.onInterim = { _ in hasFailed.wait() }
        let response = try await HTTPClient.untimed().fetch(request)
        #expect(response.status == 413 && response.text == "too much")
    }

    @Test("A refusal stops the upload before its body is read")
    func refusalStopsSource() async throws {
        let isAsked = Gate(), mayFinish = Gate()
        let head = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 8\r\n\r\n"
        let server = try FixtureServer.scripted(
            [.awaitHead, .wait(isAsked), .send(head), .wait(mayFinish), .send("too much"), .awaitClose])
        let (never, continuation) = AsyncStream.makeStream(of: Void.self)
        let (stops, stop) = AsyncStream.makeStream(of: Void.self)
        let pieces = PatternPieces(sizes: [10, 10])
        pieces.beforeEachAsync = {
            isAsked.open()
            for await _ in never {}
            if Task.isCancelled { stop.yield() }
            try Task.checkCancellation()
        }
        let response = try await HTTPClient.untimed().send(
            Request(.post, server.http(), body: .stream(pieces))
        )
        for await _ in stops { break }
        mayFinish.open()
        #expect(try await response.body.collect(upTo: 8) == Array("too much".utf8))
        continuation.finish()
    }

    @Test("An error of the response to a refused upload is not hidden by the end of the upload")
    func brokenRefusal() async throws {
        let isAsked = Gate()
        let refusal = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 8\r\n\r\ntoo"
        let server = try FixtureServer.scripted([.awaitHead, .wait(isAsked), .send(refusal)])
        let (never, continuation) = AsyncStream.makeStream(of: Void.self)
        let pieces = PatternPieces(sizes: [10])
        pieces.beforeEachAsync = {
            isAsked.open()
            for await _ in never {}
            try Task.checkCancellation()
        }
        let response = try await HTTPClient.untimed().send(
            Request(.post, server.http(), body: .stream(pieces))
        )
        let error = try await httpError { try await response.body.collect(upTo: 8) }
        #expect(error.protocolError == .truncatedContent(received: 3, expected: 8))
        continuation.finish()
    }

    @Test("A response may arrive while the request is still being sent")
    func echo() async throws {
        let total = 24 << 20
        let server = try FixtureServer.start(.tls(testAuthority.certificate(for: "a.test"))) { request in
            // The request belongs to this thread, which also runs the writer.
            nonisolated(unsafe) let request = request
            return .written(length: total, framing: .length) { writer in
                try request.readBody { piece in try writer.write(piece.withUnsafeBufferPointer(Array.init)) }
            }
        }
        let pieces = PatternPieces(sizes: Array(repeating: 1 << 16, count: 24 << 4))
        let body = RequestBody.stream(pieces, length: UInt64(total))
        let response = try await HTTPClient.trusting().send(
            server.request("https://a.test/", .post, body: body)
        )
        var count = 0
        for try await piece in response.body {
            guard isPattern(piece, at: count) else {
                Issue.record("wrong bytes from \(count) on")
                return
            }
            count += piece.count
        }
        #expect(count == total)
    }

    @Test("A body of 100 MiB is read from its source no faster than it is sent", arguments: [true, false])
    func large(isChunked: Bool) async throws {
        let server = try FixtureServer.start(handler: Self.drain)
        let total = 100 << 20
        let pieces = PatternPieces(sizes: Array(repeating: 1 << 18, count: total >> 18))
        pieces.beforeEach = { given in
            // What is not with the server lies in the sockets: that, and no more, is what memory holds. New
            // kernels give them up to 36 MiB (tcp_rmem and tcp_wmem of tcp(7)), which a server without a
            // processor fills.
            let received = server.records.first?.receivedCount ?? 0
            if given - received > 40 << 20 { Issue.record("\(given) given, \(received) received") }
        }
        let body = RequestBody.stream(pieces, length: isChunked ? nil : UInt64(total))
        #expect(try await HTTPClient.untimed().post(server.http(), body).text == "\(total)")
    }

    @Test("A source is not read while the server takes no bytes")
    func backPressure() async throws {
        let mayRead = Gate()
        let server = try FixtureServer.start { request in
            if request.method == "GET" { return .text("small") }
            try request.wait(for: mayRead)
            return .text("\(try request.discardBody())")
        }
        let client = HTTPClient.untimed()
        let pieces = PatternPieces(sizes: Array(repeating: 65_536, count: 1024))
        async let answer = client.post(server.http(), .stream(pieces))
        for _ in 0..<300 { _ = try await client.get(server.http()) }
        #expect(pieces.given < 512)
        mayRead.open()
        #expect(try await answer.text == "\(1024 * 65_536)")
    }

    @Test("The `response` limit begins at the end of the upload")
    func patienceAfterUpload() async throws {
        let mayAnswer = Gate()
        let server = try FixtureServer.start { request in
            _ = try request.discardBody()
            try request.wait(for: mayAnswer)
            return .text("thanks")
        }
        let pieces = PatternPieces(sizes: [10, 10, 10])
        pieces.beforeEachAsync = { [time] in
            time.advance(by: .seconds(6))
            await time.settle()
        }
        let client = time.client { $0.timeouts.response = .seconds(7) }
        async let answer = client.post(server.http(), .stream(pieces))
        _ = try await server.nextRequest()
        try await time.waitBegins(for: .seconds(7))
        time.advance(by: .seconds(6))
        await time.settle()
        mayAnswer.open()
        #expect(try await answer.text == "thanks")
    }
}

/// Pieces of the pattern of these sizes, made when they are asked for.
final class PatternPieces: AsyncSequence, @unchecked Sendable {
    typealias Element = [UInt8]

    private let sizes: [Int]
    private let end: (any Error)?
    private let counter = Counter()
    // Set before the sequence is used.
    var beforeEach: (@Sendable (_ given: Int) -> Void)?
    var beforeEachAsync: (@Sendable () async throws -> Void)?

    init(sizes: [Int], end: (any Error)? = nil) {
        self.sizes = sizes
        self.end = end
    }

    /// How many pieces have been asked for.
    var given: Int { counter.value }

    func makeAsyncIterator() -> Iterator { Iterator(pieces: self) }

    struct Iterator: AsyncIteratorProtocol {
        let pieces: PatternPieces
        private var index = 0
        private var position = 0

        init(pieces: PatternPieces) { self.pieces = pieces }

        mutating func next() async throws -> [UInt8]? {
            guard index < pieces.sizes.count else {
                if let end = pieces.end { throw end }
                return nil
            }
            pieces.beforeEach?(position)
            try await pieces.beforeEachAsync?()
            defer {
                position += pieces.sizes[index]
                index += 1
                pieces.counter.add(1)
            }
            return pattern(at: position, count: pieces.sizes[index])
        }
    }
}

/// Pieces without an end; tells when they are not needed any more.
private final class EndlessPieces: AsyncSequence, AsyncIteratorProtocol, Sendable {
    typealias Element = [UInt8]
    private let end: DispatchSemaphore

    init(end: DispatchSemaphore) {
        self.end = end
    }

    deinit {
        end.signal()
    }

    func makeAsyncIterator() -> EndlessPieces { self }

    func next() async -> [UInt8]? { [UInt8](repeating: 1, count: 65_536) }
}
