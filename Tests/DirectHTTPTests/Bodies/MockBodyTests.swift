import DirectHTTP
import DirectTestCommands
import DirectTestData
import DirectTestTime
import Synchronization
import Testing

@Suite("Bodies of mock transports", .idleLimit)
struct MockBodyTests {
    private static let url = "http://a.test/"
    private let time = HeldTime()

    private func client(
        _ steps: [HTTPClient.Response.BodyStep],
        headers: HTTPHeaders = [:],
        _ configure: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) -> HTTPClient {
        time.client { settings in
            settings.transport = { try HTTPClient.Response(to: $0, 200, headers: headers, steps: steps) }
            configure(&settings)
        }
    }

    @Test("Each step is a piece of its own, and empty ones are left out")
    func pieces() async throws {
        let client = client([.text("one"), .bytes([]), .text("two")])
        var pieces: [[UInt8]] = []
        for try await piece in try await client.send(HTTPClient.Request(.get, Self.url)).body {
            pieces.append(piece)
        }
        #expect(pieces == [Array("one".utf8), Array("two".utf8)])
        #expect(try await client.get(Self.url).text == "onetwo")
        #expect(try await self.client([]).get(Self.url).body.isEmpty)
    }

    @Test("A step that fails ends the body with its error, after the pieces before it")
    func failure() async throws {
        let client = client([.text("one"), .failure(HTTPError(.body, .connectionClosed))])
        var received = 0
        let error = try await httpError {
            for try await piece in try await client.send(HTTPClient.Request(.get, Self.url)).body {
                received += piece.count
            }
        }
        guard case .connectionClosed = error.reason else { throw error }
        #expect(received == 3 && error.phase == .body && error.url?.text == Self.url)
        struct Strange: Error {}
        await #expect(throws: Strange.self) { try await self.client([.failure(Strange())]).get(Self.url) }
    }

    @Test("A stall ends with the limit for reading, or with that of the whole call if it comes first")
    func limits() async throws {
        for limit in [Duration.seconds(7), .seconds(3)] {
            let client = client([.text("one"), .stall]) {
                $0.timeouts.read = .seconds(7)
                $0.timeouts.total = limit
            }
            // The response is there before the clock moves: until then the same limit applies to another
            // phase.
            let response = try await client.send(HTTPClient.Request(.get, Self.url))
            let (result, elapsed) = await time.passing(limit) { try await response.body.collect(upTo: 100) }
            let error = try await httpError { try result.get() }
            guard case .timedOut(after: limit) = error.reason else { throw error }
            #expect(error.phase == .body && elapsed == limit)
        }
    }

    @Test("A stall ends with the cancellation of its reader, also without any limit")
    func cancellation() async throws {
        let client = client([.text("one"), .stall]) { $0.timeouts.read = nil }
        let hasBegun = Atomic(false)
        let reader = Task {
            for try await _ in try await client.send(HTTPClient.Request(.get, Self.url)).body {
                hasBegun.store(true, ordering: .relaxed)
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }
        await #expect(throws: CancellationError.self) { try await reader.value }
        let begun = hasBegun.load(ordering: .relaxed)
        #expect(begun)
    }

    @Test("A sequence that ignores cancellation does not keep its reader")
    func deaf() async throws {
        struct Deaf: AsyncSequence, AsyncIteratorProtocol, Sendable {
            func makeAsyncIterator() -> Deaf { self }

            func next() async throws -> [UInt8]? {
                await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                return nil
            }
        }
        let client = time.client {
            $0.transport = { try HTTPClient.Response(to: $0, 200, stream: Deaf()) }
        }
        let body = try await client.send(HTTPClient.Request(.get, Self.url)).body
        let reader = Task { try await body.collect(upTo: 9) }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
    }

    @Test("The pieces of a sequence are asked for one at a time, as they are read")
    func demand() async throws {
        let asked = Atomic(0)
        let source = AsyncThrowingStream<[UInt8], any Error> {
            [UInt8(truncatingIfNeeded: asked.add(1, ordering: .relaxed).newValue)]
        }
        let client = time.client {
            $0.transport = { try HTTPClient.Response(to: $0, 200, stream: source) }
        }
        var iterator = try await client.send(HTTPClient.Request(.get, Self.url)).body.makeAsyncIterator()
        let askedBefore = asked.load(ordering: .relaxed)
        #expect(askedBefore == 0)
        #expect(try await iterator.next() == [1])
        #expect(try await iterator.next() == [2])
        let askedAfter = asked.load(ordering: .relaxed)
        #expect(askedAfter == 2)
    }

    @Test("A sequence that never fails is a body as well")
    func neverFailing() async throws {
        let mocked = time.client { $0.transport = { try .init(to: $0, 200, stream: Self.twoPieces()) } }
        let replacing = time.client {
            $0.transport = { try HTTPClient.Response(to: $0, 200).replacing(stream: Self.twoPieces()) }
        }
        #expect(try await mocked.fetch(HTTPClient.Request(.get, Self.url)).body == [1, 2])
        #expect(try await replacing.fetch(HTTPClient.Request(.get, Self.url)).body == [1, 2])
    }

    private static func twoPieces() -> AsyncStream<[UInt8]> {
        AsyncStream { source in
            source.yield([1])
            source.yield([2])
            source.finish()
        }
    }

    @Test("A body of steps can be read once, and has its limit")
    func once() async throws {
        let response = try await client([.text("one"), .text("two")]).send(HTTPClient.Request(.get, Self.url))
        let error = try await httpError { try await response.body.collect(upTo: 5) }
        guard case .bodyTooLarge(limit: 5) = error.reason else { throw error }
        let whole = try await client([.text("one")]).send(HTTPClient.Request(.get, Self.url))
        _ = try await whole.body.collect(upTo: 3)
        let again = try await httpError { try await whole.body.collect(upTo: 3) }
        guard case .bodyAlreadyRead = again.reason else { throw again }
    }

    @Test("Steps of coded content are decoded, and those of a failing copy are not stored")
    func combinations() async throws {
        let coded = deflated(Array("hello".utf8), windowBits: 31)
        let halves = [coded.prefix(9), coded.dropFirst(9)].map {
            HTTPClient.Response.BodyStep.bytes(Array($0))
        }
        #expect(try await client(halves, headers: ["Content-Encoding": "gzip"]).get(Self.url).text == "hello")
        let count = Atomic(0)
        let cached = time.client {
            $0.cache = .memory()
            $0.transport = { request in
                let isFirst = count.add(1, ordering: .relaxed).newValue == 1
                let end = HTTPClient.Response.BodyStep.failure(HTTPError(.body, .connectionClosed))
                let steps: [HTTPClient.Response.BodyStep] =
                    isFirst ? [.text("a"), end] : [.text("a"), .text("b")]
                let fields: HTTPHeaders = ["Cache-Control": "max-age=60"]
                return try HTTPClient.Response(to: request, 200, headers: fields, steps: steps)
            }
        }
        // Over plain HTTP a body without a length is not stored: its end may be that of the connection.
        _ = try await httpError { try await cached.get("https://a.test/") }
        for _ in 0..<2 { #expect(try await cached.get("https://a.test/").text == "ab") }
        let sent = count.load(ordering: .relaxed)
        #expect(sent == 2)
    }

    @Test("A redirect whose body stalls is followed")
    func redirect() async throws {
        let client = time.client {
            $0.transport = { request in
                guard try request.url.path == "/" else {
                    return try HTTPClient.Response(to: request, 200, steps: [.text("there")])
                }
                return try HTTPClient.Response(to: request, 302, headers: ["Location": "/x"], steps: [.stall])
            }
        }
        #expect(try await client.get(Self.url).text == "there")
    }
}
