@testable import DirectCore
@testable import DirectIO
import DirectTestCommands
import DirectTestTime
@testable import DirectTransport
import Synchronization
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Calls with a cache on a slow disk", .idleLimit)
struct DiskWaitTests {
    private let time = HeldTime()
    private let folder = TemporaryFolder.planned()
    /// One thread, which a test can keep busy.
    private let work = BlockingWork(threadLimit: 1)

    private func cache() throws -> ResponseCache {
        try ResponseCache(folder: folder.path, work: work) { .now }
    }

    @Test("A look-up on a slow disk ends with the call's limit, and no request is sent")
    func lookup() async throws {
        let gate = DiskGate()
        defer { gate.open() }
        let cache = try cache()
        await work.stop(until: gate)
        let script = Script((200, [:]))
        let client = script.client {
            $0.cache = cache
            $0.timeouts.total = .seconds(7)
            $0.loop = time.loop
        }
        async let failure = httpError { try await client.get("https://a.test/") }
        try await time.pass(.seconds(7))
        let error = try await failure
        #expect(error.phase == .request && error.isTimeout)
        #expect(script.requests.isEmpty)
    }

    @Test("A look-up on a slow disk ends when the call is cancelled")
    func cancellation() async throws {
        let gate = DiskGate()
        defer { gate.open() }
        let cache = try cache()
        await work.stop(until: gate)
        let client = Script((200, [:])).client { $0.cache = cache }
        let task = Task { try await client.get("https://a.test/") }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("What stands in for an expired call can be read", arguments: [10, 200_000])
    func standIn(_ size: Int) async throws {
        let gate = Gate()
        defer { gate.open() }
        let (asked, signal) = AsyncStream.makeStream(of: Void.self)
        let fields: FixtureHeaders = ["Cache-Control": "max-age=0, stale-if-error=1000", "ETag": "\"a\""]
        let server = try FixtureServer.start { request in
            if request.headers["if-none-match"] != nil {
                signal.yield()
                try request.wait(for: gate)
            }
            return .text(String(repeating: "a", count: size), fields)
        }
        let cache = try cache()
        let client = HTTPClient {
            $0.cache = cache
            $0.timeouts = Timeouts(response: nil, total: .seconds(7))
            $0.loop = time.loop
        }
        #expect(try await client.get(server.http()).body.count == size)
        async let later = client.get(server.http())
        // The disk has been asked before the server.
        for await _ in asked { break }
        time.advance(by: .seconds(7))
        let response = try await later
        #expect(response.cacheUse == .stale && response.body.count == size)
    }

    @Test(
        "If the system refuses the disk's threads, requests go on without the cache, and the refusal is reported"
    )
    func refusedThread() async throws {
        let refusal = SystemError("pthread_create", code: 11)
        let refusing = BlockingWork(threadLimit: 1) { _, _ in refusal }
        let cache = try ResponseCache(folder: folder.path, work: refusing) { .now }
        let script = Script((200, ["Cache-Control": "max-age=60"]), (200, [:]))
        let client = script.client { $0.cache = cache }
        for _ in 0..<2 { #expect(try await client.get("https://a.test/").cacheUse == .miss) }
        #expect(cache.faults.first == .file(refusal))
    }

    @Test("Reading a content from a slow disk ends with the call's limit")
    func reading() async throws {
        let store = try DirectoryStore(
            path: folder.path,
            limits: .init(bytes: 1 << 20, objectBytes: 1 << 20),
            work: work
        )
        let head = CachedHead(ResponseHead(status: .ok, headers: [:]), requestTime: .now, responseTime: .now)
        let variant = CacheVariant(names: VaryNames(names: []), digest: Digest128(high: 0, low: 0))
        let key = CacheKey(digest: Digest128(high: 0, low: 1))
        let mark = try #require(try await store.mark(key, wait: .unlimited))
        let plan = DraftPlan(key: key, variant: variant, mark: mark, head: head, length: nil)
        let draft = try #require(store.draft(plan, wait: .unlimited))
        #expect(await draft.append(pattern(at: 0, count: 200_000)))
        await draft.commit()
        let fields = VaryFields(headers: [:], defaults: [:])
        let entry = try #require(try await store.find(key, fields: fields, wait: .unlimited))
        let gate = DiskGate()
        defer { gate.open() }
        await work.stop(until: gate)
        let wait = DiskWait(
            within: CallLimit(Timeouts(total: .milliseconds(1)).nanoseconds, until: .now),
            name: "a.test",
            loop: .shared
        )
        guard case .arriving(let pieces) = try await entry.content(0..<entry.length, wait: wait) else {
            return #expect(Bool(false))
        }
        let error = try await httpError { try await pieces.next() }
        #expect(error.phase == .body && error.isTimeout)
        #expect("\(error)".contains("a.test"))
        // Nor is anything written for a call that has ended.
        let late = try #require(store.draft(plan, wait: wait))
        #expect(await !late.append(pattern(at: 0, count: 300_000)))
    }

    @Test("A changed resource is dropped from a slow disk, even if the call was cancelled meanwhile")
    func invalidation() async throws {
        let cache = try cache()
        let gate = DiskGate()
        let client = HTTPClient {
            $0.cache = cache
            $0.transport = { request in
                try Response(to: request, 200, headers: ["Cache-Control": "max-age=60"], body: [1])
            }
        }
        #expect(try await client.get("https://a.test/").cacheUse == .miss)
        #expect(try await client.get("https://a.test/").cacheUse == .hit)
        await work.stop(until: gate)
        let task = Task { try await client.fetch(Request(.delete, "https://a.test/")) }
        // Before, the client has not seen the answer, and has nothing to drop.
        while work.waiting == 0 { await Task.yield() }
        task.cancel()
        _ = try? await task.value
        gate.open()
        #expect(try await client.get("https://a.test/").cacheUse == .miss)
    }
}
