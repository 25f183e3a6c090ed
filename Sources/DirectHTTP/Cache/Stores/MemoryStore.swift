internal import DirectHTTP1
internal import DirectIO

/// Keeps responses in memory, up to a number of bytes, in which those count that are still coming; the one that was not
/// asked for longest goes first.
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
        let entry = Entry(plan.key, plan.variant, plan.head, content: [])
        guard let room = MemoryRoom(self, entry.cost) else { return nil }
        return MemoryDraft(self, entry, room, limit: plan.length.map { Int($0) } ?? objectLimit)
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

    /// Keeps a response in the room that its draft has taken.
    fileprivate func keep(_ entry: Entry, _ room: MemoryRoom) {
        shelf.withLock { shelf in
            shelf.release(room.giveUp())
            shelf.add(entry)
        }
    }

    fileprivate func reserve(_ size: Int) -> Bool {
        shelf.withLock { $0.reserve(size) }
    }

    fileprivate func release(_ size: Int) {
        shelf.withLock { $0.release(size) }
    }

    /// How many bytes are kept, and for how many there is room that drafts have taken.
    var usage: (kept: Int, coming: Int) { shelf.withLock { ($0.bytes, $0.reserved) } }

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

/// Room in a store that a draft has taken; given back when nobody holds it any more.
private final class MemoryRoom: Sendable {
    private let store: MemoryStore
    private let size: Locked<Int>

    /// `nil` where there is none.
    init?(_ store: MemoryStore, _ size: Int) {
        guard store.reserve(size) else { return nil }
        self.store = store
        self.size = Locked(size)
    }

    deinit {
        store.release(giveUp())
    }

    /// Takes more; false where there is none.
    func grow(by more: Int) -> Bool {
        guard store.reserve(more) else { return false }
        size.withLock { $0 += more }
        return true
    }

    /// How much it was: whoever asks gives that back.
    func giveUp() -> Int {
        size.withLock { size in
            defer { size = 0 }
            return size
        }
    }
}

/// Collects the pieces of one content, in room that it takes before it needs it.
private final class MemoryDraft: CacheDraft {
    private let store: MemoryStore
    private let entry: MemoryStore.Entry
    private let room: MemoryRoom
    private let limit: Int
    private let content = Locked((bytes: [UInt8](), capacity: 0))

    init(_ store: MemoryStore, _ entry: MemoryStore.Entry, _ room: MemoryRoom, limit: Int) {
        self.store = store
        self.entry = entry
        self.room = room
        self.limit = limit
    }

    func append(_ piece: [UInt8]) async -> Bool {
        content.withLock { content in
            guard piece.count <= limit - content.bytes.count else { return false }
            let count = content.bytes.count + piece.count
            if count > content.capacity {
                let capacity = max(count, min(limit, 2 * content.capacity))
                guard room.grow(by: capacity - content.capacity) else { return false }
                content.capacity = capacity
            }
            // Most come in one piece, which need not be copied.
            if content.bytes.isEmpty {
                content.bytes = piece
            } else {
                content.bytes.reserveCapacity(content.capacity)
                content.bytes += piece
            }
            return true
        }
    }

    func commit() async {
        let bytes = content.withLock { $0.bytes.withoutSlack }
        store.keep(MemoryStore.Entry(entry.key, entry.variant, entry.head, content: bytes), room)
    }
}

extension [UInt8] {
    /// The same bytes, in no more than a quarter more memory than they need: an array that grows takes up to twice as much.
    fileprivate var withoutSlack: [UInt8] {
        guard capacity - count > count / 4 + 64 else { return self }
        var exact: [UInt8] = []
        exact.reserveCapacity(count)
        exact += self
        return exact
    }
}
