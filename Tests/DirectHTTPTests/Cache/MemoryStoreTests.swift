@testable import DirectCore
import DirectIO
@testable import DirectTransport
import Testing

@testable import DirectHTTP

@Suite("A cache in memory")
struct MemoryStoreTests {
    private let store = MemoryStore(limits: .init(bytes: 1 << 20, objectBytes: 1 << 18))

    private func plan(_ number: UInt64, length: UInt64? = nil) -> DraftPlan {
        let head = ResponseHead(status: .ok, headers: ["Cache-Control": "max-age=60"])
        let time = UnixTime(seconds: 1_800_000_000)
        return DraftPlan(
            key: CacheKey(digest: Digest128(high: 0, low: number)),
            variant: CacheVariant(names: VaryNames(names: []), digest: Digest128(high: 0, low: 0)),
            mark: CacheMark(number: 0),
            head: CachedHead(head, requestTime: time, responseTime: time),
            length: length
        )
    }

    private var all: Int { store.usage.kept + store.usage.coming }

    @Test("The store never exceeds its limit, counting contents that are still being received")
    func drafts() async {
        var drafts: [any CacheDraft] = []
        var held = 0
        for round in 0..<8 {
            for number in 0..<40 {
                if round == 0, let draft = store.draft(plan(UInt64(number)), wait: .unlimited) {
                    drafts.append(draft)
                }
                guard number < drafts.count else { continue }
                if await drafts[number].append([UInt8](repeating: 1, count: 30_000)) { held += 30_000 }
                #expect(all <= 1 << 20)
            }
        }
        // The stored bytes are counted, and most of the room is used.
        #expect(held <= 1 << 20 && held > 1 << 19)
        drafts = []
        #expect(store.usage.coming == 0)
    }

    @Test("The room of a draft passes to its response")
    func commit() async throws {
        let body = [UInt8](repeating: 1, count: 100_000)
        for length in [nil, UInt64(body.count)] {
            let draft = try #require(store.draft(plan(1, length: length), wait: .unlimited))
            for start in stride(from: 0, to: body.count, by: 7_000) {
                #expect(await draft.append(Array(body[start..<min(body.count, start + 7_000)])))
            }
            #expect(store.usage.coming >= body.count)
            await draft.commit()
            #expect(store.usage.coming == 0)
            #expect((body.count..<body.count + 2_000).contains(store.usage.kept))
        }
        let entry = try await store.find(
            plan(1).key,
            fields: VaryFields(headers: [:], defaults: [:]),
            wait: .unlimited
        )
        #expect(entry?.length == body.count)
    }

    @Test("A draft without room is dropped, and stored responses remain")
    func fullOfDrafts() async throws {
        let first = try #require(store.draft(plan(1), wait: .unlimited))
        #expect(await first.append([UInt8](repeating: 1, count: 1 << 18)))
        await first.commit()
        var drafts: [any CacheDraft] = []
        for number in 2..<10 {
            let draft = try #require(store.draft(plan(UInt64(number)), wait: .unlimited))
            drafts.append(draft)
            let isTaken = await draft.append([UInt8](repeating: 1, count: 1 << 18))
            // Four of a quarter each are too much, with their heads.
            #expect(isTaken == (number < 5))
        }
        #expect(all <= 1 << 20)
    }

    @Test("A content longer than the limit is dropped")
    func tooLarge() async throws {
        let draft = try #require(store.draft(plan(1), wait: .unlimited))
        #expect(await draft.append([UInt8](repeating: 1, count: 1 << 18)))
        #expect(await !draft.append([1]))
        #expect(store.draft(plan(2, length: (1 << 18) + 1), wait: .unlimited) == nil)
    }
}
