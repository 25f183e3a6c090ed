package import DirectCore
internal import DirectHTTP1
package import DirectIO

/// Stores responses and answers requests with them, as a private cache (RFC 9111).
///
/// Several clients may share a cache, also those of several users: what was stored for one asker is never
/// given to another. The asker is the cookie store, the client certificate, the client's own fields,
/// `Authorization` and a caller's `Cookie`, as far as they are sent. Responses are stored by URL, and so by
/// host name, never by address. The rules that the cache follows are in docs/Cache.md.
public final class ResponseCache: Sendable {
    let store: any CacheStore
    let staleLimits: StaleLimits
    let clock: @Sendable () -> UnixTime
    let background = BackgroundWork()
    private let counts = Locked<[CacheUse: Int]>([:])

    init(
        store: any CacheStore,
        staleWhenUnreachable: Duration? = nil,
        clock: @escaping @Sendable () -> UnixTime = { UnixTime.now }
    ) {
        self.store = store
        staleLimits = StaleLimits(whenUnreachable: staleWhenUnreachable?.components.seconds ?? 0)
        self.clock = clock
    }

    /// Creates a cache in memory.
    ///
    /// - Parameter limits: The size limits.
    /// - Parameter staleWhenUnreachable: How long a response may be used after it has become stale if the
    ///   origin cannot be reached, unless the response forbids it. `nil` uses only responses that allow it
    ///   themselves.
    public static func memory(
        _ limits: CacheLimits = CacheLimits(bytes: 64 << 20, objectBytes: 8 << 20),
        staleWhenUnreachable: Duration? = nil
    ) -> ResponseCache {
        ResponseCache(store: MemoryStore(limits: limits), staleWhenUnreachable: staleWhenUnreachable)
    }

    /// Creates a cache in a folder, which may be shared with other processes and outlives this one.
    ///
    /// Opening takes the same time however many responses are stored. Files that cannot be read are skipped
    /// and reported in ``faults``.
    ///
    /// - Parameter path: The folder. It is created if it does not exist; its parent must exist.
    /// - Parameter limits: The size limits.
    /// - Parameter staleWhenUnreachable: How long a response may be used after it has become stale if the
    ///   origin cannot be reached, unless the response forbids it. `nil` uses only responses that allow it
    ///   themselves.
    /// - Throws: ``CacheError/folder(_:)`` if the folder cannot be used.
    public static func directory(
        _ path: String,
        _ limits: CacheLimits = CacheLimits(bytes: 256 << 20, objectBytes: 64 << 20),
        staleWhenUnreachable: Duration? = nil
    ) throws(CacheError) -> ResponseCache {
        let store = try DirectoryStore(path: path, limits: limits)
        return ResponseCache(store: store, staleWhenUnreachable: staleWhenUnreachable)
    }

    /// The last errors of the cache's files, up to 32. Damaged files are removed, and files that do not
    /// belong to the cache are left alone.
    public var faults: [CacheError] { (store as? DirectoryStore)?.faults ?? [] }

    /// The number of responses since the cache was created, by its part in them. One that has none is not
    /// listed.
    public var statistics: [CacheUse: Int] { counts.withLock { $0 } }

    /// Removes all responses.
    @concurrent
    public func removeAll() async {
        await store.removeAll()
    }

    /// Removes all responses for a URL.
    @concurrent
    public func remove(_ url: HTTPURL) async {
        guard let key = CacheKey(url.withoutCredentials) else { return }
        await store.remove(key, wait: .unlimited)
    }

    /// Creates a cache in memory, or in `folder` if it is not `nil`, with a clock of the caller's.
    ///
    /// - Parameter work: The threads that read and write files; `nil` for those of the folder.
    /// - Parameter clock: Returns the current time.
    package convenience init(
        folder: String? = nil,
        limits: CacheLimits = CacheLimits(bytes: 64 << 20, objectBytes: 8 << 20),
        staleWhenUnreachable: Duration? = nil,
        work: BlockingWork? = nil,
        clock: @escaping @Sendable () -> UnixTime
    ) throws(CacheError) {
        let store: any CacheStore =
            if let folder {
                try DirectoryStore(path: folder, limits: limits, work: work)
            } else {
                MemoryStore(limits: limits)
            }
        self.init(store: store, staleWhenUnreachable: staleWhenUnreachable, clock: clock)
    }

    /// Waits until all revalidations in the background have ended.
    package func settle() async {
        await background.settle()
    }

    func count(_ use: CacheUse) {
        counts.withLock { $0[use, default: 0] += 1 }
    }
}

/// Tasks that no caller waits for, at most one at a time for each key.
final class BackgroundWork: Sendable {
    private struct State {
        var keys: Set<[Digest128]> = []
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    func start(
        _ key: [Digest128],
        on threads: BlockingWork,
        work: @escaping @Sendable () async -> Void
    ) {
        guard state.withLock({ $0.keys.insert(key).inserted }) else { return }
        Task(executorPreference: threads) {
            await work()
            let waiting = self.state.withLock { state -> [CheckedContinuation<Void, Never>] in
                state.keys.remove(key)
                guard state.keys.isEmpty else { return [] }
                defer { state.waiting = [] }
                return state.waiting
            }
            for continuation in waiting { continuation.resume() }
        }
    }

    /// Waits until no task is running.
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
    /// A mirror with the statistics only, which hides the responses.
    public var customMirror: Mirror { Mirror(self, children: ["statistics": statistics]) }
}
