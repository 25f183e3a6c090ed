internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// Stores responses in memory, up to a number of bytes. Responses that are still being received count towards
/// it. The least recently used response is evicted first.
///
/// A draft reserves memory before it uses it (`MemoryRoom`), which may evict stored responses. On commit the
/// reservation is released and the response stored under one lock, so that the total never exceeds the limit.
final class MemoryStore: CacheStore {
    private let shelf: Locked<LRUCache<Entry>>
    /// The removals of URLs, counted by the last byte of their keys. Changed and compared while the shelf is
    /// locked.
    private let removals = Locked([UInt64](repeating: 0, count: 256))
    private let objectLimit: Int
    var digestKey: [UInt8] { [] }

    init(limits: CacheLimits) {
        shelf = Locked(LRUCache(byteLimit: limits.bytes, countLimit: limits.objects))
        objectLimit = max(0, min(limits.objectBytes, limits.bytes))
    }

    func find(_ key: CacheKey, fields: VaryFields, wait _: DiskWait) async throws -> (any CacheEntry)? {
        var selected = SelectedVariants(fields, key: digestKey)
        return shelf.withLock { $0.find(key) { selected.contain($0.variant) } }
    }

    func mark(_ key: CacheKey, wait _: DiskWait) async -> CacheMark? { mark(key) }

    private func mark(_ key: CacheKey) -> CacheMark {
        removals.withLock { CacheMark(number: $0[Int(key.slot % 256)]) }
    }

    func draft(_ plan: DraftPlan, wait _: DiskWait) -> (any CacheDraft)? {
        guard plan.length ?? 0 <= UInt64(objectLimit) else { return nil }
        let entry = Entry(plan.key, plan.variant, plan.head, content: [])
        guard let room = MemoryRoom(self, entry.cost) else { return nil }
        return MemoryDraft(self, entry, plan.mark, room, limit: plan.length.map { Int($0) } ?? objectLimit)
    }

    func replaceHead(_ entry: any CacheEntry, with head: CachedHead, wait _: DiskWait) async {
        guard let old = entry as? Entry else { return }
        let new = Entry(old.key, old.variant, head, content: old.bytes)
        shelf.withLock { $0.replace(old, with: new) }
    }

    func remove(_ key: CacheKey, wait _: DiskWait) async {
        shelf.withLock { shelf in
            removals.withLock { $0[Int(key.slot % 256)] &+= 1 }
            shelf.remove(key)
        }
    }

    func removeAll() async {
        shelf.withLock { shelf in
            removals.withLock { counts in
                for slot in counts.indices { counts[slot] &+= 1 }
            }
            shelf.removeAll()
        }
    }

    /// Releases the draft's reservation and stores its response, if that is still wanted.
    fileprivate func keep(_ entry: Entry, room: MemoryRoom, if mark: CacheMark) {
        shelf.withLock { shelf in
            shelf.release(room.giveUp())
            guard self.mark(entry.key) == mark else { return }
            let present = shelf.find(entry.key) { $0.variant == entry.variant }
            if present.map({ entry.head.replaces($0.head) }) ?? true { shelf.add(entry) }
        }
    }

    fileprivate func reserve(_ size: Int) -> Bool {
        shelf.withLock { $0.reserve(size) }
    }

    fileprivate func release(_ size: Int) {
        shelf.withLock { $0.release(size) }
    }

    /// The number of bytes stored, and the number reserved by drafts.
    var usage: (kept: Int, coming: Int) { shelf.withLock { ($0.bytes, $0.reserved) } }

    /// A response with its content, both immutable.
    final class Entry: CacheEntry, LRUEntry {
        let key: CacheKey
        let variant: CacheVariant
        let head: CachedHead
        let bytes: [UInt8]
        /// An estimate of the memory it takes, including fields and bookkeeping.
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

        func content(_ range: Range<Int>, wait _: DiskWait) async -> ResponseBody.Storage {
            .complete(range.count == bytes.count ? bytes : Array(bytes[range]), HTTPHeaders(), nil)
        }
    }
}

/// Memory that a draft has reserved in the store. It is released with the last reference.
private final class MemoryRoom: Sendable {
    private let store: MemoryStore
    private let size: Locked<Int>

    /// Returns `nil` if the store has no room.
    init?(_ store: MemoryStore, _ size: Int) {
        guard store.reserve(size) else { return nil }
        self.store = store
        self.size = Locked(size)
    }

    deinit {
        store.release(giveUp())
    }

    /// Reserves more. Returns `false` if the store has no room.
    func grow(by more: Int) -> Bool {
        guard store.reserve(more) else { return false }
        size.withLock { $0 += more }
        return true
    }

    /// Returns the size and resets it to 0: the caller must release that amount.
    func giveUp() -> Int {
        size.withLock { size in
            defer { size = 0 }
            return size
        }
    }
}

/// Collects the pieces of a response, in memory that it reserves in advance.
private final class MemoryDraft: CacheDraft {
    private let store: MemoryStore
    private let entry: MemoryStore.Entry
    private let mark: CacheMark
    private let room: MemoryRoom
    private let limit: Int
    private let content = Locked((bytes: [UInt8](), capacity: 0))

    init(
        _ store: MemoryStore,
        _ entry: MemoryStore.Entry,
        _ mark: CacheMark,
        _ room: MemoryRoom,
        limit: Int
    ) {
        self.store = store
        self.entry = entry
        self.mark = mark
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
            // Most responses arrive in one piece, which need not be copied.
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
        let whole = MemoryStore.Entry(entry.key, entry.variant, entry.head, content: bytes)
        store.keep(whole, room: room, if: mark)
    }
}

extension [UInt8] {
    /// The same bytes, in at most a quarter more memory than they need: an array that grows takes up to twice
    /// as much.
    fileprivate var withoutSlack: [UInt8] {
        guard capacity - count > count / 4 + 64 else { return self }
        var exact: [UInt8] = []
        exact.reserveCapacity(count)
        exact += self
        return exact
    }
}
