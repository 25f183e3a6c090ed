internal import DirectHTTP1
internal import DirectIO

/// Keeps responses in memory, up to a number of bytes; the one that was not asked for longest goes first.
final class MemoryStore: CacheStore {
    private let shelf: Locked<Shelf<Entry>>
    private let objectLimit: Int

    init(limits: ResponseCache.Limits) {
        shelf = Locked(Shelf(byteLimit: limits.bytes, countLimit: limits.objects))
        objectLimit = max(0, min(limits.objectBytes, limits.bytes))
    }

    func find(_ key: CacheKey, _ fields: SelectingFields, _: DiskWait) async throws -> (any CacheEntry)? {
        var selected = SelectedVariants(fields)
        return shelf.withLock { $0.find(key) { selected.contain($0.variant) } }
    }

    func draft(_ plan: DraftPlan, _: DiskWait) -> (any CacheDraft)? {
        guard plan.length ?? 0 <= UInt64(objectLimit) else { return nil }
        return MemoryDraft(self, Entry(plan.key, plan.variant, plan.head, content: []), limit: objectLimit)
    }

    func replaceHead(_ entry: any CacheEntry, with head: CachedHead, _: DiskWait) async {
        guard let old = entry as? Entry else { return }
        let new = Entry(old.key, old.variant, head, content: old.bytes)
        shelf.withLock { $0.replace(old, with: new) }
    }

    func remove(_ key: CacheKey, _: DiskWait) async {
        shelf.withLock { $0.remove(key) }
    }

    func removeAll() async {
        shelf.withLock { $0.removeAll() }
    }

    func keep(_ entry: Entry) {
        shelf.withLock { $0.add(entry) }
    }

    /// A response and its content, which nothing changes.
    final class Entry: CacheEntry, ShelfEntry {
        let key: CacheKey
        let variant: CacheVariant
        let head: CachedHead
        let bytes: [UInt8]
        /// Roughly what it takes, fields and bookkeeping included.
        let cost: Int

        init(_ key: CacheKey, _ variant: CacheVariant, _ head: CachedHead, content: [UInt8]) {
            self.key = key
            self.variant = variant
            self.head = head
            bytes = content
            cost = content.count + head.cost + 512
        }

        var length: Int { bytes.count }

        func isNewer(than other: Entry) -> Bool { head.isNewer(than: other.head) }

        func content(_ range: Range<Int>, _: DiskWait) async -> ResponseBody.Content {
            .complete(range.count == bytes.count ? bytes : Array(bytes[range]), Headers(), nil)
        }
    }
}

/// Collects the pieces of one content.
private final class MemoryDraft: CacheDraft {
    private let store: MemoryStore
    private let entry: MemoryStore.Entry
    private let limit: Int
    private let pieces = Locked<[UInt8]>([])

    init(_ store: MemoryStore, _ entry: MemoryStore.Entry, limit: Int) {
        self.store = store
        self.entry = entry
        self.limit = limit
    }

    func append(_ piece: [UInt8]) async -> Bool {
        pieces.withLock { bytes in
            guard piece.count <= limit - bytes.count else { return false }
            // Most come in one piece, which need not be copied.
            if bytes.isEmpty { bytes = piece } else { bytes += piece }
            return true
        }
    }

    func commit() async {
        let bytes = pieces.withLock { $0 }
        store.keep(MemoryStore.Entry(entry.key, entry.variant, entry.head, content: bytes))
    }
}
