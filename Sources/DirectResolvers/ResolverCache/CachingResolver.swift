public import DirectCore
public import DirectHTTP
package import DirectIO

/// Caches the answers of a resolver, and shares one query among all callers that ask for the same name.
///
/// The parts: `AnswerTable` holds the answers, an `InFlightQuery` is a query under way with its waiters, and
/// `Contents` guards both with one lock. A call to ``resolve(_:port:context:)`` takes one of these ways:
///
/// - The table has an answer: it is returned at once, or thrown if it is negative. In the last tenth of its
///   time to live, or once it is stale, a query for the next answer starts in the background.
/// - The resolver behind the cache has an answer at hand: it is returned, and not cached.
/// - A query for the name is in flight: the caller joins it, and waits within its own deadline. As soon as a
///   part of the answer has come, all have it, and may wait for more.
/// - Another resolver is asked as well, if the settings say so (`whileAsking`): the first answer counts.
/// - Otherwise the caller starts a query. It runs in a task of its own, so the cancellation of one caller
///   does not end it for the others. When the last caller is cancelled, it is cancelled, unless it is a
///   refresh, or a caller that had no more time wants the answer for its next question.
///
/// Each call of ``forgetAll()`` begins a new generation. The answer of a query from an earlier generation
/// goes to its waiters and is never kept. No code of the resolver runs while the lock is held.
///
/// Copies of a client, and several clients, may share a cache; it is a class for that reason.
public final class CachingResolver: Resolver, PublishingResolver {
    /// The answer for a name of which the cache has no address.
    public enum WhileAsking: Sendable {
        /// The caller waits for the resolver's answer.
        case wait
        /// Another resolver answers the caller, and the resolver behind the cache is asked in the background,
        /// for the next time. What the HTTPDNS documents call `resolveHostSyncNonBlocking`.
        ///
        /// The other resolver also answers if the resolver behind the cache has no address for the name,
        /// fails, or named endpoints that cannot be reached. Its answers are not cached here. As soon as the
        /// resolver behind the cache answers, its endpoints are tried as well: the other one may be slow or
        /// fail, or name endpoints that are dead, silent, or have a certificate that does not fit.
        case use(any Resolver)

        var other: (any Resolver)? {
            if case .use(let other) = self { other } else { nil }
        }
    }

    /// The configuration of a cache. It cannot be changed once the cache is created.
    public struct Settings: Sendable {
        /// The lower limit for an answer's time to live, whatever the resolver says.
        public var minimumTimeToLive: Duration = .seconds(5)
        /// The upper limit for an answer's time to live.
        public var maximumTimeToLive: Duration = .seconds(86_400)
        /// The time to live of answers from resolvers that do not name one, such as the system's.
        public var unknownTimeToLive: Duration = .seconds(30)
        /// The time to live of a negative answer: no such name, or no address. The failure of a resolver to
        /// answer is never cached.
        public var negativeTimeToLive: Duration = .seconds(5)
        /// The time for which an expired answer may still be used while the next one is being asked for. The
        /// transaction marks such an answer as stale.
        public var staleTime: Duration = .zero
        /// Whether to ask for the next answer in the background when a caller uses an answer in the last
        /// tenth of its time to live.
        public var refreshesAhead = true
        /// The time limit for a query to the resolver. A caller with an earlier deadline stops waiting at its
        /// own.
        public var queryTimeout: Duration = .seconds(10)
        /// The answers while the cache has no address for a name.
        public var whileAsking = WhileAsking.wait
        /// The maximum number of cached names.
        public var capacity = 100_000
        /// The path of a file that keeps the answers from one run to the next. It is read when the first name
        /// is asked for, and written by ``save()`` and a few seconds after a change. Answers with HTTPS
        /// records are not in it, because the keys in those change often. Several processes may have the same
        /// file: each adds its answers, and reads those of the others when it starts. Answers of a resolver
        /// of another name are not used, nor are the system's if this resolver does not ask the system. `nil`
        /// keeps all in memory only.
        public var file: String?

        /// Creates the default settings.
        public init() {}
    }

    /// The state that the cache's lock guards.
    struct Contents {
        private(set) var table: AnswerTable
        /// The queries in flight.
        var queries: [AnswerKey: InFlightQuery] = [:]
        /// The number of calls to `forgetAll`.
        private(set) var generation = 0
        /// Whether a write of the file is scheduled.
        var isSaving = false
        /// The file until its answers are in the table, `nil` afterwards.
        var unread: UnreadFile?
        /// The changes that the file does not have yet.
        private(set) var news = FileNews()
        /// The size of the file without what does not count any more, as far as it is known.
        var liveSize = 0

        init(table: AnswerTable, unread: String?) {
            self.table = table
            self.unread = unread.map { .untouched($0) }
        }

        /// Forgets all answers, and the queries in flight, so that later callers do not join them. Returns
        /// the callers that wait for the file, whose answers are not wanted any more.
        mutating func forgetAll() -> [Reply<SystemError?>] {
            table.forgetAll()
            generation += 1
            (queries, news) = ([:], FileNews(forgetsAll: true))
            return endReading()
        }

        /// Ends the reading of the file, and returns the callers that wait for it.
        mutating func endReading() -> [Reply<SystemError?>] {
            defer { unread = nil }
            return unread?.waiting ?? []
        }

        /// Keeps an answer if its query began in the current generation; returns whether the table has
        /// changed. An answer to a question that was asked in another network is not kept, however late it
        /// comes.
        ///
        /// - Parameter answer: Gets the HTTPS records that it lacks, if the table has them.
        mutating func keep(
            _ answer: inout InFlightQuery.Outcome,
            for key: AnswerKey,
            of generation: Int,
            at now: Instant
        )
            -> Bool
        {
            guard generation == self.generation else { return false }
            switch answer {
            case .success(let given):
                answer = .success(table.keep(given, for: key, at: now))
                news.keys.insert(key)
                return true
            case .failure(let error as ResolverError):
                if table.entries[key]?.isPositive == true, error.denial != nil { news.keys.insert(key) }
                table.keep(error, for: key, at: now)
                if error.denial == nil, !error.reason.isOurs { table.pause(key, at: now) }
                return error.denial != nil
            case .failure: return false
            }
        }

        /// Takes what is to be written to the file.
        mutating func takeNews() -> FileNews {
            defer { news = FileNews() }
            return news
        }

        /// Takes back what could not be written, as much of it as the table has room for.
        mutating func takeBack(_ unwritten: FileNews) {
            news.forgetsAll = news.forgetsAll || unwritten.forgetsAll
            news.keys.formUnion(unwritten.keys.prefix(max(0, table.rules.capacity - news.keys.count)))
        }

        mutating func demote(_ endpoint: Endpoint, for key: AnswerKey, port: UInt16) {
            table.demote(endpoint, for: key, port: port)
        }

        /// Notes an answer that does not take the place of the table's.
        mutating func note(_ answer: Resolution, after query: InFlightQuery, at now: Instant) {
            guard query.generation == generation else { return }
            guard query.want.isForCallerAlone else { return table.pause(query.key, at: now) }
            table.keep(answer, after: query.key, at: now)
        }

        mutating func forgetDead(at now: Instant) { table.forgetDead(at: now) }

        /// Takes the answers of the file.
        mutating func adopt(_ restored: AnswerTable) { table = restored }
    }

    /// What is to be written to the file.
    struct FileNews {
        /// The names whose answers have changed.
        var keys: Set<AnswerKey> = []
        /// Whether all that the file has is forgotten.
        var forgetsAll = false
    }

    /// The file of the answers, while they are not in the table.
    enum UnreadFile {
        case untouched(String)
        /// It is being read, until the time at which it is given up, for these callers.
        case reading(String, until: Instant, [Reply<SystemError?>])

        /// The callers that wait for it.
        var waiting: [Reply<SystemError?>] {
            if case .reading(_, _, let waiting) = self { waiting } else { [] }
        }
    }

    let upstream: any Resolver
    let settings: Settings
    let state: Locked<Contents>
    let saves = StateSaves()
    /// The loop whose clock decides when answers expire. A caller waits on the loop of its own context.
    let loop: EventLoop
    /// The threads on which the file is read.
    let threads: BlockingWork

    /// Creates a cache in front of a resolver.
    ///
    /// - Parameters:
    ///   - upstream: The resolver whose answers are cached.
    ///   - settings: The configuration of the cache.
    public convenience init(_ upstream: any Resolver, _ settings: Settings = Settings()) {
        self.init(upstream, settings, loop: .shared)
    }

    /// Creates a cache in front of a resolver, with the default settings as changed by `configure`.
    public convenience init(_ upstream: any Resolver, _ configure: (inout Settings) -> Void) {
        var settings = Settings()
        configure(&settings)
        self.init(upstream, settings)
    }

    /// Creates a cache on a loop whose clock a test can control.
    package init(
        _ upstream: any Resolver,
        _ settings: Settings = Settings(),
        loop: EventLoop,
        threads: BlockingWork? = nil
    ) {
        self.upstream = upstream
        self.threads = threads ?? settings.file.map { .forFile($0) } ?? .shared
        dependsOnPort = upstream.dependsOnPort
        self.settings = settings
        self.loop = loop
        let rules = AnswerTable.Rules(
            shortest: settings.minimumTimeToLive.clampedNanoseconds,
            longest: settings.maximumTimeToLive.clampedNanoseconds,
            otherwise: settings.unknownTimeToLive.clampedNanoseconds,
            negative: settings.negativeTimeToLive.clampedNanoseconds,
            stale: settings.staleTime.clampedNanoseconds,
            refreshesAhead: settings.refreshesAhead,
            capacity: max(16, settings.capacity)
        )
        state = Locked(Contents(table: AnswerTable(rules), unread: settings.file))
    }

    /// The name of the resolver behind the cache.
    public var name: String { upstream.name }
    /// The value of the resolver behind the cache when the cache was created.
    public let dependsOnPort: Bool
    /// Whether the resolver behind the cache, or the one that is used meanwhile, may ask the system's
    /// resolver.
    public var mayAskSystem: Bool {
        upstream.mayAskSystem || settings.whileAsking.other?.mayAskSystem == true
    }

    /// The time of the loop's clock as the table counts it: from long before the machine was started, because
    /// an answer of the file may have expired before that.
    var now: Instant { loop.now.advanced(byNanoseconds: Self.pastBeforeClock) }

    /// 73 years, in nanoseconds. A quarter of what an `Int64` can hold, for differences.
    private static let pastBeforeClock: UInt64 = 1 << 61

    /// The number of cached names, including those with a negative answer.
    public var count: Int { state.withLock { $0.table.entries.count } }

    /// Forgets all answers, and makes the resolver behind the cache forget its own. Call it when the machine
    /// has moved to another network.
    ///
    /// Queries in flight are answered, but their answers are not cached.
    public func forgetAll() {
        // The others first: what they answer until then is forgotten here.
        upstream.forgetAll()
        settings.whileAsking.other?.forgetAll()
        let waiting = state.withLock { $0.forgetAll() }
        for reply in waiting { reply.give(nil) }
        saveSoon()
    }

    /// Returns the cached answer, or asks the resolver.
    ///
    /// - Throws: The resolver's error; a `ResolverError` with `ResolverError.Reason.timedOut(after:)` if
    ///   the deadline passes first; `CancellationError` if the task was cancelled.
    public func resolve(
        _ host: DomainName,
        port: UInt16,
        context: ResolveContext
    ) async throws -> Resolution {
        try await wholeAnswer(host, port: port, context: context)
    }

    /// Returns the cached answer, or the first part of the resolver's.
    package func publish(
        _ host: DomainName,
        port: UInt16,
        context: ResolveContext
    ) async throws -> Resolution {
        try await readFile(context)
        if let known = try knownAnswer(for: host, port: port, context: context) { return known }
        if let other = settings.whileAsking.other {
            refresh(host, port: port, as: context)
            return try await answer(of: other, host, port: port, context: context)
        }
        return try await ask(host, port: port, context: context)
    }

    /// Returns the cached answer, or the answer that the resolver behind the cache has at hand; `nil` if
    /// there is neither.
    ///
    /// - Throws: The cached negative answer.
    public func knownAnswer(
        for host: DomainName,
        port: UInt16,
        context: ResolveContext
    ) throws(ResolverError) -> Resolution? {
        let key = key(host, port: port, context)
        let now = now
        let finding = state.withLock { state -> AnswerTable.Finding? in
            state.unread == nil ? state.table.find(key, at: now) : nil
        }
        switch finding {
        case nil: return nil
        case .answer(let answer, let wantsRefresh):
            if wantsRefresh { refresh(host, port: port, as: context) }
            let known = wantsRefresh ? withRest(answer, host: host, port: port, as: context) : answer
            return withFallback(known, host: host, port: port)
        case .denial(let reason):
            if let other = settings.whileAsking.other {
                return try other.knownAnswer(for: host, port: port, context: context)
            }
            throw ResolverError(upstream.name, reason)
        case .nothing: return try upstream.knownAnswer(for: host, port: port, context: context)
        }
    }

    /// Moves an endpoint that could not be reached behind the others, and passes the outcome on.
    public func report(
        _ outcome: Result<Duration, any Error>,
        of endpoint: Endpoint,
        for host: DomainName,
        port: UInt16
    ) {
        if case .failure = outcome {
            let keys = Set(
                [(.https, false), (.https, true), (.http, false), (.http, true)].map {
                    key(host, port: port, scheme: $0, isComplete: $1)
                }
            )
            state.withLock { state in
                for key in keys { state.demote(endpoint, for: key, port: port) }
            }
        }
        upstream.report(outcome, of: endpoint, for: host, port: port)
        settings.whileAsking.other?.report(outcome, of: endpoint, for: host, port: port)
    }

    /// Returns the key of a name's answer.
    func key(_ host: DomainName, port: UInt16, _ context: ResolveContext) -> AnswerKey {
        key(host, port: port, scheme: context.scheme, isComplete: context.isComplete)
    }

    private func key(_ host: DomainName, port: UInt16, scheme: HTTPURL.Scheme, isComplete: Bool) -> AnswerKey
    {
        AnswerKey(
            host: host,
            port: dependsOnPort ? port : 0,
            isPlain: dependsOnPort && scheme == .http,
            isComplete: isComplete && upstream.mayAskSystem
        )
    }
}
