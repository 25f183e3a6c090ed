@testable import DirectCore
import DirectTestCommands
import Testing

@testable import DirectHTTP

@Suite("Responses that are stored while their URL changes", .idleLimit)
struct CacheRemovalTests {
    private let folder = TemporaryFolder.planned()

    /// A client with a cache whose drafts are complete, but not stored, when `event` happens.
    private func client(_ place: Place, event: @escaping @Sendable (HTTPClient) async throws -> Void) throws
        -> HTTPClient
    {
        let store = HeldStore(try place.cache(folder).store)
        let cache = ResponseCache(store: store)
        let client = HTTPClient.untimed {
            $0.cache = cache
            $0.transport = {
                guard $0.method == .get else { return try Response(to: $0, 204) }
                let headers: HTTPHeaders = ["Cache-Control": "max-age=60"]
                guard try $0.url.path != "/whole" else {
                    return try Response(to: $0, 200, headers: headers, body: [1])
                }
                let pieces = AsyncThrowingStream<[UInt8], any Error> { pieces in
                    for piece: [UInt8] in [[1], [2]] { pieces.yield(piece) }
                    pieces.finish()
                }
                return try Response(to: $0, 200, headers: headers, stream: pieces)
            }
        }
        store.hold { try? await event(client) }
        return client
    }

    @Test(
        "A change that succeeds while the last byte is stored prevents the response from appearing",
        arguments: Place.allCases,
        ["/whole", "/pieces"]
    )
    func change(place: Place, path: String) async throws {
        let url = "https://a.test" + path
        let client = try client(place) { _ = try await $0.delete(url) }
        for _ in 0..<2 { #expect(try await client.get(url).cacheUse == .miss) }
        #expect(try await client.get(url).cacheUse == .hit)
        #expect(folder.names.allSatisfy { [.response, .marks, .key].contains(CacheFileKind($0)) })
    }

    @Test("Removing everything while the last byte is stored does the same", arguments: Place.allCases)
    func removal(place: Place) async throws {
        let url = "https://a.test/pieces"
        let client = try client(place) { await $0.configuration.cache?.removeAll() }
        for _ in 0..<2 { #expect(try await client.get(url).cacheUse == .miss) }
        #expect(try await client.get(url).cacheUse == .hit)
    }
}

/// A store in which something happens before the first response is completed.
private final class HeldStore: CacheStore {
    private let store: any CacheStore
    private let event = Locked<(@Sendable () async -> Void)?>(nil)
    var digestKey: [UInt8] { store.digestKey }

    init(_ store: any CacheStore) {
        self.store = store
    }

    func hold(for event: @escaping @Sendable () async -> Void) {
        self.event.withLock { $0 = event }
    }

    func find(_ key: CacheKey, fields: VaryFields, wait: DiskWait) async throws -> (any CacheEntry)? {
        try await store.find(key, fields: fields, wait: wait)
    }

    func draft(_ plan: DraftPlan, wait: DiskWait) -> (any CacheDraft)? {
        store.draft(plan, wait: wait).map { Draft($0) { [event] in await event.withLock { $0.take() }?() } }
    }

    func replaceHead(_ entry: any CacheEntry, with head: CachedHead, wait: DiskWait) async {
        await store.replaceHead(entry, with: head, wait: wait)
    }

    func mark(_ key: CacheKey, wait: DiskWait) async throws -> CacheMark? {
        try await store.mark(key, wait: wait)
    }

    func remove(_ key: CacheKey, wait: DiskWait) async { await store.remove(key, wait: wait) }

    func removeAll() async { await store.removeAll() }

    private final class Draft: CacheDraft {
        private let draft: any CacheDraft
        private let event: @Sendable () async -> Void

        init(_ draft: any CacheDraft, event: @escaping @Sendable () async -> Void) {
            self.draft = draft
            self.event = event
        }

        func append(_ piece: [UInt8]) async -> Bool { await draft.append(piece) }

        func commit() async {
            await event()
            await draft.commit()
        }
    }
}
