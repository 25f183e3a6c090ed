internal import DirectHTTP1
package import DirectIO

/// Keeps responses and answers requests with them, as HTTP allows it to a private cache (RFC 9111).
///
/// It is private: what it keeps may be for one person alone, so one cache belongs to one person. What was said
/// to somebody who had said who he is (`Authorization`) is given to nobody else all the same. Responses are
/// kept for the URL, and so for the name in it, never for an address.
///
/// A cache may be shared by several clients. docs/Cache.md says which rules it goes by.
public final class ResponseCache: Sendable {
    /// How much is kept.
    public struct Limits: Hashable, Sendable {
        /// All responses together, in bytes.
        public var bytes: Int
        /// The number of responses.
        public var objects: Int
        /// The largest response, in bytes.
        public var objectBytes: Int

        /// The limits of a cache.
        public init(bytes: Int, objects: Int = 20_000, objectBytes: Int) {
            self.bytes = bytes
            self.objects = objects
            self.objectBytes = objectBytes
        }
    }

    /// What has happened to a cache since it was made.
    public struct Statistics: Hashable, Sendable {
        /// How many responses came from the cache without anybody being asked.
        public var hits = 0
        /// How many of these were out of date.
        public var staleHits = 0
        /// How many came from the cache after the origin had confirmed them.
        public var revalidations = 0
        /// How many came from the origin.
        public var misses = 0
        /// How many requests were not the cache's business.
        public var bypasses = 0
    }

    let store: any CacheStore
    let patience: CachePatience
    let clock: @Sendable () -> UnixTime
    let changes = KeyChanges()
    let background = BackgroundWork()
    private let counts = Locked(Statistics())

    init(
        store: any CacheStore,
        staleWhenUnreachable: Duration? = nil,
        clock: @escaping @Sendable () -> UnixTime = { UnixTime.now }
    ) {
        self.store = store
        patience = CachePatience(whenUnreachable: staleWhenUnreachable?.components.seconds ?? 0)
        self.clock = clock
    }

    /// A cache that lives in memory, as long as somebody holds it.
    ///
    /// Where the origin cannot be reached, a response that is out of date by no more than
    /// `staleWhenUnreachable` is used, unless it forbids that; else only one that allows it.
    public static func memory(
        _ limits: Limits = Limits(bytes: 64 << 20, objectBytes: 8 << 20),
        staleWhenUnreachable: Duration? = nil
    ) -> ResponseCache {
        ResponseCache(store: MemoryStore(limits: limits), staleWhenUnreachable: staleWhenUnreachable)
    }

    /// A cache that lives in a folder, which other processes and later ones may share; the folder is made, if need be,
    /// in one that is there.
    ///
    /// What cannot be read is passed over and reported in `faults`. Opening does not depend on how much is kept.
    public static func directory(
        _ path: String,
        _ limits: Limits = Limits(bytes: 256 << 20, objectBytes: 64 << 20),
        staleWhenUnreachable: Duration? = nil
    ) throws(CacheFault) -> ResponseCache {
        let store = try DirectoryStore(path: path, limits: limits)
        return ResponseCache(store: store, staleWhenUnreachable: staleWhenUnreachable)
    }

    /// The last faults of the cache's files, up to 32: what is damaged is removed, what is foreign left alone.
    public var faults: [CacheFault] { (store as? DirectoryStore)?.faults ?? [] }

    /// What has happened so far.
    public var statistics: Statistics { counts.withLock { $0 } }

    /// Forgets everything.
    @concurrent
    public func removeAll() async {
        changes.touchAll()
        await store.removeAll()
    }

    /// Forgets all responses for that URL.
    @concurrent
    public func remove(_ url: HTTPURL) async {
        guard let key = CacheKey(url.withoutCredentials) else { return }
        await forget(key, .unlimited)
    }

    func forget(_ key: CacheKey, _ wait: DiskWait) async {
        changes.touch(key)
        await store.remove(key, wait)
    }

    /// A cache in memory, or in that folder, to which the time is told; files are read and written by `work`.
    package convenience init(
        folder: String? = nil,
        limits: Limits = Limits(bytes: 64 << 20, objectBytes: 8 << 20),
        staleWhenUnreachable: Duration? = nil,
        work: BlockingWork = .shared,
        clock: @escaping @Sendable () -> UnixTime
    ) throws(CacheFault) {
        let store: any CacheStore =
            if let folder {
                try DirectoryStore(path: folder, limits: limits, work: work)
            } else {
                MemoryStore(limits: limits)
            }
        self.init(store: store, staleWhenUnreachable: staleWhenUnreachable, clock: clock)
    }

    /// Waits for everything that goes on behind answers that have been given.
    package func settle() async {
        await background.settle()
    }

    func count(_ use: CacheUse) {
        counts.withLock { counts in
            switch use {
            case .hit: counts.hits += 1
            case .stale:
                counts.hits += 1
                counts.staleHits += 1
            case .revalidated: counts.revalidations += 1
            case .miss: counts.misses += 1
            case .bypassed: counts.bypasses += 1
            }
        }
    }
}

/// Says whether a URL was made to be forgotten since some moment: what was asked for before must not be kept
/// after (RFC 9111, section 4.4).
final class KeyChanges: Sendable {
    struct Mark: Equatable, Sendable {
        fileprivate var count: UInt64
    }

    /// Keys share a count with some others, which costs them no more than being kept.
    private let counts = Locked([UInt64](repeating: 0, count: 256))

    func mark(_ key: CacheKey) -> Mark {
        counts.withLock { Mark(count: $0[key.slot]) }
    }

    func touch(_ key: CacheKey) {
        counts.withLock { $0[key.slot] &+= 1 }
    }

    func touchAll() {
        counts.withLock { counts in
            for slot in counts.indices { counts[slot] &+= 1 }
        }
    }
}

extension CacheKey {
    fileprivate var slot: Int { Int(digest.low & 0xff) }
}

/// Work that nobody waits for, at most once at a time for each key.
final class BackgroundWork: Sendable {
    private struct State {
        var keys: Set<Digest128> = []
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    func start(_ key: Digest128, _ work: @escaping @Sendable () async -> Void) {
        guard state.withLock({ $0.keys.insert(key).inserted }) else { return }
        Task {
            await work()
            let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                state.keys.remove(key)
                guard state.keys.isEmpty else { return [] }
                defer { state.waiting = [] }
                return state.waiting
            }
            for continuation in waiting { continuation.resume() }
        }
    }

    /// Waits until nothing is left.
    func settle() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if !state.keys.isEmpty { state.waiting.append(continuation) }
                return state.keys.isEmpty
            }
            if isIdle { continuation.resume() }
        }
    }
}

extension ResponseCache: CustomReflectable {
    /// Never shows what is kept.
    public var customMirror: Mirror { Mirror(self, children: ["statistics": statistics]) }
}
