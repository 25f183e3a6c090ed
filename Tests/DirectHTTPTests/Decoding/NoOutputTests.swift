@testable import DirectCore
import DirectIO
import DirectTestCommands
import DirectTestData
import DirectTestTime
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Coded content without output", .idleLimit)
struct NoOutputTests {
    private let time = HeldTime()
    /// 20 bytes of gzip of which nothing comes.
    private static let emptyMember = deflated([])
    private static let emptyMembers = Array(repeatElement(emptyMember, count: 3200).joined())

    private static func endlessServer() throws -> FixtureServer {
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"
        return try FixtureServer.scripted([.awaitHead, .send(head), .flood(emptyMembers, times: .max)])
    }

    @Test("Endless content without output ends with an error")
    func endless() async throws {
        let server = try Self.endlessServer()
        let error = try await httpError { try await HTTPClient().get(server.http()) }
        #expect(error.codingError == .inputWithoutOutput(limit: 1 << 20))
        #expect(error.phase == .body)
    }

    @Test(
        "Content without output ends at the limit of the settings, with one coding on the other, too",
        arguments: [1, 2]
    )
    func limit(layers: Int) async throws {
        var content = Array(repeatElement(Self.emptyMember, count: 10_000).joined())
        if layers == 2 { content = deflated(content) }
        let encoding = layers == 2 ? "gzip, gzip" : "gzip"
        let server = try FixtureServer.start { [content] _ in .bytes(content, ["Content-Encoding": encoding])
        }
        let strict = HTTPClient { $0.decoding.maximumInputWithoutOutput = 100_000 }
        let error = try await httpError { try await strict.get(server.http()) }
        #expect(error.codingError == .inputWithoutOutput(limit: 100_000))
        let lax = HTTPClient { $0.decoding.maximumInputWithoutOutput = 200_000 }
        #expect(try await lax.get(server.http()).body.isEmpty)
    }

    @Test("Content without output ends with the total limit")
    func total() async throws {
        let server = try Self.endlessServer()
        let client = time.client {
            $0.timeouts.total = .seconds(30)
            $0.decoding.maximumInputWithoutOutput = nil
        }
        let response = try await client.send(Request(.get, server.http()))
        async let failure = httpError { try await response.body.collect(upTo: .max) }
        try await waitUntil { response.wireBytes > 1 << 20 }
        time.advance(by: .seconds(30))
        let error = try await failure
        #expect(error.phase == .body && error.isTimeout)
    }

    @Test("Content without output ends when its task is cancelled")
    func cancelled() async throws {
        let server = try Self.endlessServer()
        let client = HTTPClient { $0.decoding.maximumInputWithoutOutput = nil }
        let response = try await client.send(Request(.get, server.http()))
        let task = Task { try await response.body.collect(upTo: .max) }
        try await waitUntil { response.wireBytes > 1 << 20 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("Content without output lets other tasks of the client's executor run while it arrives")
    func fairness() async throws {
        let server = try Self.endlessServer()
        let client = HTTPClient {
            $0.loop = EventLoop()
            $0.decoding.maximumInputWithoutOutput = nil
        }
        let response = try await client.send(Request(.get, server.http()))
        // One thread runs both: the second cancels the first only if that gives way.
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: client.executor) {
                _ = try await response.body.collect(upTo: .max)
            }
            group.addTask(executorPreference: client.executor) {
                while response.wireBytes < 1 << 20 { await Task.yield() }
                throw CancellationError()
            }
            await #expect(throws: CancellationError.self) { try await group.next() }
            group.cancelAll()
        }
    }

    @Test(
        "Content without output lets other tasks run although all of it is there",
        arguments: [true, false]
    )
    func wholeContent(isEmpty: Bool) async throws {
        let content =
            isEmpty
            ? Array(repeatElement(Self.emptyMembers, count: 16).joined())
            : deflated([UInt8](repeating: 0, count: 1 << 20), level: 1)
        let client = HTTPClient {
            $0.loop = EventLoop()
            $0.decoding.maximumInputWithoutOutput = nil
            $0.transport = { try Response(to: $0, 200, headers: ["Content-Encoding": "gzip"], body: content) }
        }
        let response = try await client.send(Request(.get, "http://a.test/"))
        let turns = Locked(0)
        let isOver = Locked(false)
        let before = Locked(Int?.none)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: client.executor) {
                while turns.withLock({ $0 }) == 0 { await Task.yield() }
                let start = turns.withLock { $0 }
                _ = try await response.body.collect(upTo: .max)
                before.withLock { $0 = turns.withLock { $0 } - start }
                isOver.withLock { $0 = true }
            }
            group.addTask(executorPreference: client.executor) {
                while !isOver.withLock({ $0 }) {
                    turns.withLock { $0 += 1 }
                    await Task.yield()
                }
            }
            try await group.waitForAll()
        }
        #expect((before.withLock { $0 } ?? 0) >= 2)
    }
}

extension Response {
    fileprivate var wireBytes: UInt64 {
        guard case .decoded(let wireBytes, _) = body.decoding else { return 0 }
        return wireBytes
    }
}
