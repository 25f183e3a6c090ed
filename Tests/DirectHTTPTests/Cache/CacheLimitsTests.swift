import DirectCore
import DirectTestCommands
import Foundation
import Testing

@testable import DirectHTTP

@Suite("Limits of a cache folder", .idleLimit)
struct CacheLimitsTests {
    private let folder = TemporaryFolder.planned()

    private func store(bytes: Int, objects: Int = 1000) throws -> DirectoryStore {
        try DirectoryStore(
            path: folder.path,
            limits: .init(bytes: bytes, objects: objects, objectBytes: bytes)
        )
    }

    private func plan(_ store: DirectoryStore, _ number: UInt64, variant: UInt64? = nil) async throws
        -> DraftPlan
    {
        let key = CacheKey(digest: Digest128(high: number, low: number))
        let head = CachedHead(ResponseHead(status: .ok, headers: [:]), requestTime: .now, responseTime: .now)
        return DraftPlan(
            key: key,
            variant: CacheVariant(
                names: VaryNames(names: variant == nil ? [] : ["accept"]),
                digest: Digest128(high: 0, low: variant ?? 0)
            ),
            mark: try #require(try await store.mark(key, wait: .unlimited)),
            head: head,
            length: nil
        )
    }

    private func keep(_ store: DirectoryStore, _ number: UInt64, variant: UInt64? = nil, count: Int = 10)
        async throws
    {
        let plan = try await plan(store, number, variant: variant)
        let draft = try #require(store.draft(plan, wait: .unlimited))
        #expect(await draft.append(pattern(at: 0, count: count)))
        await draft.commit()
    }

    private func has(_ store: DirectoryStore, _ number: UInt64) async throws -> Bool {
        let key = CacheKey(digest: Digest128(high: number, low: number))
        return try await store.find(key, fields: VaryFields(headers: [:], defaults: [:]), wait: .unlimited)
            != nil
    }

    private func setTime(_ date: Date, where isWanted: (String) -> Bool = { _ in true }) throws {
        for name in folder.names where ![.marks, .key].contains(CacheFileKind(name)) && isWanted(name) {
            try FileManager.default.setAttributes(
                [.modificationDate: date],
                ofItemAtPath: folder.path + "/" + name
            )
        }
    }

    @Test("What is still arriving counts, until it has come to its end or is given up")
    func arriving() async throws {
        let store = try store(bytes: 1 << 20)
        try await keep(store, 0, count: 300_000)
        var drafts: [any CacheDraft] = []
        for number in 1...20 {
            let draft = try #require(store.draft(try await plan(store, UInt64(number)), wait: .unlimited))
            if await draft.append(pattern(at: 0, count: 300_000)) { drafts.append(draft) }
        }
        #expect(drafts.count == 3)
        // They are not evicted, but what was there before makes room for them.
        #expect(try await !has(store, 0))
        for draft in drafts { await draft.commit() }
        for number in 1...3 { #expect(try await has(store, UInt64(number))) }
        drafts = []
        let next = try #require(store.draft(try await plan(store, 30), wait: .unlimited))
        #expect(await next.append(pattern(at: 0, count: 1_000_000)))
    }

    @Test("A name that cannot be examined, and times in the future, do not stop the eviction")
    func oddFiles() async throws {
        let store = try store(bytes: 300_000)
        // Each of these bytes becomes three in a text, which makes a name that no system call takes.
        let name = [CChar](repeating: -1, count: 200) + [0]
        let odd = open(Array((folder.path + "/").utf8CString.dropLast()) + name, O_CREAT | O_WRONLY, 0o600)
        #expect(odd != -1)
        close(odd)
        for number in 0..<5 { try await keep(store, UInt64(number), count: 20_000) }
        try setTime(Date(timeIntervalSinceNow: 1_000_000)) { $0.hasSuffix(".r") }
        for number in 5..<40 { try await keep(store, UInt64(number), count: 20_000) }
        let total = folder.names.filter { ![.marks, .key].contains(CacheFileKind($0)) }.reduce(0) {
            $0 + (((try? folder.read($1).count)) ?? 0)
        }
        #expect(total <= 300_000)
        for number in 0..<5 { #expect(try await !has(store, UInt64(number))) }
        #expect(try await has(store, 39))
    }

    @Test("Responses that were stored within one second are evicted in their order")
    func order() async throws {
        let store = try store(bytes: 1 << 20, objects: 20)
        for number in 0..<15 { try await keep(store, UInt64(number)) }
        for number in 15..<21 { try await keep(store, UInt64(number)) }
        for number: UInt64 in [15, 20] { #expect(try await has(store, number)) }
        #expect(try await !has(store, 0))
    }

    @Test("A URL with many variants evicts its own before those of others")
    func variants() async throws {
        let store = try store(bytes: 1 << 20, objects: 100)
        for number in 1...20 { try await keep(store, UInt64(number)) }
        try setTime(Date(timeIntervalSinceNow: -1000))
        for variant in 0..<200 { try await keep(store, 0, variant: UInt64(variant)) }
        for number in 1...20 { #expect(try await has(store, UInt64(number))) }
    }

    @Test("A length that no file can have is no length")
    func craftedLength() async throws {
        let store = try store(bytes: 1 << 20)
        let plan = try await plan(store, 1)
        for length in [Int.max, Int.max - 7, Int.max / 2 + 1] {
            let front = try #require(EntryFile.front(plan, length: length))
            #expect(EntryFile.front(front, fileSize: Int.max) == nil)
        }
    }
}
