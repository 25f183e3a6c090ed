import DirectCore
import DirectIO
import DirectTestTime
import DirectTestCommands
import Testing

@testable import DirectHTTP

/// A content that is larger than what is read with the head of its file.
private let size = 200_000

@Suite("Reading a large body from a cache's folder", .idleLimit)
struct CacheFileSourceTests {
    private let folder = TemporaryFolder.planned()
    /// One thread, which a test can keep busy.
    private let work = BlockingWork(threadLimit: 1)

    /// A response of the cache whose body is in a file.
    private func response() async throws -> Response {
        let cache = try ResponseCache(folder: folder.path, work: work) { .now }
        let client = HTTPClient.untimed {
            $0.cache = cache
            $0.transport = {
                let content = pattern(at: 0, count: size)
                return try Response(to: $0, 200, headers: ["Cache-Control": "max-age=60"], body: content)
            }
        }
        #expect(try await client.get("https://a.test/").cacheUse == .miss)
        let response = try await client.send(Request(.get, "https://a.test/"))
        #expect(response.cacheUse == .hit)
        return response
    }

    private func expectRefusal(
        _ location: SourceLocation = #_sourceLocation,
        _ read: () async throws -> some Any
    ) async throws {
        let error = try await httpError(location, read)
        guard case .bodyAlreadyRead = error.reason else { throw error }
        #expect(error.phase == .body && error.name == "a.test", sourceLocation: location)
    }

    @Test("It is read once: a second reader gets an error, not an empty body")
    func readTwice() async throws {
        let body = try await response().body
        #expect(body.bytesLeft == UInt64(size))
        #expect(try await isPattern(body.collect(upTo: size), at: 0))
        for _ in 0..<2 { try await expectRefusal { try await body.collect(upTo: size) } }
    }

    @Test("While one task reads it, another one is refused, and the first gets all of it")
    func twoReaders() async throws {
        let body = try await response().body
        let gate = DiskGate()
        defer { gate.open() }
        await work.stop(until: gate)
        let reader = Task { try await body.collect(upTo: size) }
        while work.waiting == 0 { await Task.yield() }
        try await expectRefusal {
            var iterator = body.makeAsyncIterator()
            return try await iterator.next()?.count
        }
        #expect(body.bytesLeft == nil)
        gate.open()
        let bytes = try await reader.value
        #expect(bytes.count == size && isPattern(bytes, at: 0))
    }

    @Test("One that is larger than its reader's limit cannot be read any more")
    func tooLarge() async throws {
        let body = try await response().body
        for limit in [100, size] {
            let error = try await httpError { try await body.collect(upTo: limit) }
            guard case .bodyTooLarge(limit: 100) = error.reason else { throw error }
            #expect(error.phase == .body && error.name == "a.test")
        }
    }

    @Test("A cancelled reader ends it, also between two pieces")
    func cancelled() async throws {
        let body = try await response().body
        let reader = Task {
            var iterator = body.makeAsyncIterator()
            let first = try await iterator.next()
            withUnsafeCurrentTask { $0?.cancel() }
            #expect(first?.isEmpty == false)
            return try await iterator.next()?.count
        }
        await #expect(throws: CancellationError.self) { try await reader.value }
        await #expect(throws: CancellationError.self) { try await body.collect(upTo: size) }
    }

    @Test("One that was given up cannot be read")
    func drained() async throws {
        let body = try await response().body
        await body.drain()
        try await expectRefusal { try await body.collect(upTo: size) }
    }
}
