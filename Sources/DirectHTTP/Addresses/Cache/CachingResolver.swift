public import DirectIO

/// Remembers what a resolver has said, and asks it once for everybody who wants to know.
///
/// Copies of a client, and several clients, may share one; it is a class for that reason.
public final class CachingResolver: Resolver {
    /// How a cache works; fixed once it is made.
    public struct Settings: Sendable {
        /// An answer holds at least this long, whatever the resolver says.
        public var minimumTimeToLive: Duration = .seconds(5)
        /// And at most this long.
        public var maximumTimeToLive: Duration = .seconds(86_400)
        /// For resolvers that do not say how long an answer holds, such as the system's.
        public var unknownTimeToLive: Duration = .seconds(30)
        /// How long "there is none" is believed. That a resolver cannot answer is never remembered.
        public var negativeTimeToLive: Duration = .seconds(5)
        /// How long an answer may still be used once its time is over, while the next one is on its way; such
        /// an answer is called stale in the transaction.
        public var staleTime: Duration = .zero
        /// Whether the next answer is asked for, by the way, when the last tenth of an answer's time has begun.
        public var refreshesAhead = true
        /// How long the resolver may take. Whoever asks may have less patience, which is his own affair.
        public var queryTimeout: Duration = .seconds(10)
        /// How many names are remembered.
        public var capacity = 100_000
        /// A file that keeps the answers from one run to the next: read when the first question comes, written
        /// a few seconds after something has changed, and by `save()`.
        public var file: String?

        /// The defaults.
        public init() {}
    }

    struct State {
        private(set) var table: AnswerTable
        var flights: [AnswerKey: Flight] = [:]
        private(set) var generation = 0
        var isSaving = false
        /// The file, until it is read.
        var unread: String?

        init(table: AnswerTable, unread: String?) {
            self.table = table
            self.unread = unread
        }

        /// Forgets everything; also questions that are on their way, for later ones shall not join them.
        mutating func forgetAll() {
            table.forgetAll()
            generation += 1
            flights = [:]
            unread = nil
        }

        /// Keeps an answer of a question that was put in this generation; says whether the table has changed. What was
        /// asked in another network is not kept, however late its answer comes.
        mutating func keep(_ answer: Flight.Answer, for key: AnswerKey, of generation: Int, at now: Instant)
            -> Bool
        {
            guard generation == self.generation else { return false }
            switch answer {
            case .success(let answer):
                table.keep(answer, for: key, at: now)
                return true
            case .failure(let error as ResolverError):
                table.keep(error, for: key, at: now)
                return error.denial != nil
            case .failure: return false
            }
        }

        mutating func demote(_ endpoint: Endpoint, for key: AnswerKey, port: UInt16) {
            table.demote(endpoint, for: key, port: port)
        }

        mutating func restore(_ answer: Resolution, for key: AnswerKey, expiry: Instant, span: UInt64) {
            table.restore(answer, for: key, expiry: expiry, span: span)
        }
    }

    let upstream: any Resolver
    let settings: Settings
    let state: Locked<State>
    /// By whose clock answers age; questions are waited for on the loop of whoever asks.
    let loop: EventLoop

    /// A cache before this resolver.
    public convenience init(_ upstream: any Resolver, _ settings: Settings = Settings()) {
        self.init(upstream, settings, loop: .shared)
    }

    /// A cache before this resolver, with the default settings, changed in `configure`.
    public convenience init(_ upstream: any Resolver, _ configure: (inout Settings) -> Void) {
        var settings = Settings()
        configure(&settings)
        self.init(upstream, settings)
    }

    /// The same with a loop whose clock a test may hold.
    package init(_ upstream: any Resolver, _ settings: Settings = Settings(), loop: EventLoop) {
        self.upstream = upstream
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
        state = Locked(State(table: AnswerTable(rules), unread: settings.file))
    }

    public var name: String { upstream.name }
    /// As the resolver behind it said when the cache was made.
    public let dependsOnPort: Bool
    public var mayAskSystem: Bool { upstream.mayAskSystem }

    var now: Instant { loop.now }

    /// How many names are remembered, those included of which it is known that there is none.
    public var count: Int { state.withLock { $0.table.entries.count } }

    /// Forgets everything, as does whom it asks: to be called when the machine has come into another network.
    /// What is being asked is answered and not remembered.
    public func forgetAll() {
        state.withLock { $0.forgetAll() }
        upstream.forgetAll()
        saveSoon()
    }

    public func resolve(
        _ host: DomainName,
        port: UInt16,
        _ context: ResolveContext
    ) async throws -> Resolution {
        await readFile()
        if let known = try knownAnswer(for: host, port: port, context) { return known }
        return try await ask(host, port, context, anew: false)
    }

    public func knownAnswer(
        for host: DomainName,
        port: UInt16,
        _ context: ResolveContext
    ) throws(ResolverError) -> Resolution? {
        let key = key(host, port)
        let now = now
        let finding = state.withLock { state -> AnswerTable.Finding? in
            state.unread == nil ? state.table.find(key, at: now) : nil
        }
        switch finding {
        case nil: return nil
        case .answer(let answer, let wantsRefresh):
            if wantsRefresh { refresh(host, port, context.loop) }
            return withFallback(answer, host, port)
        case .denial(let reason): throw ResolverError(upstream.name, reason)
        case .nothing: return try upstream.knownAnswer(for: host, port: port, context)
        }
    }

    /// An endpoint that did not do stands behind the others from now on.
    public func report(_ outcome: DialOutcome, of endpoint: Endpoint, for host: DomainName, port: UInt16) {
        if case .failed = outcome {
            let key = key(host, port)
            state.withLock { $0.demote(endpoint, for: key, port: port) }
        }
        upstream.report(outcome, of: endpoint, for: host, port: port)
    }

    /// Asks for these names now, a few at a time, so that later requests find the answers; says which of them
    /// have none.
    @discardableResult
    public func warmUp(
        _ names: some Sequence<DomainName>,
        port: UInt16 = 443
    ) async -> [DomainName: any Error] {
        var failures: [DomainName: any Error] = [:]
        await withTaskGroup(of: (DomainName, (any Error)?).self) { group in
            var running = 0
            func collect() async {
                guard let (name, error) = await group.next() else { return }
                running -= 1
                if let error { failures[name] = error }
            }
            for name in names {
                if running >= Self.warmUpWidth { await collect() }
                running += 1
                group.addTask {
                    do {
                        _ = try await self.resolve(
                            name,
                            port: port,
                            ResolveContext(within: self.settings.queryTimeout, on: self.loop)
                        )
                        return (name, nil)
                    } catch {
                        return (name, error)
                    }
                }
            }
            while running > 0 { await collect() }
        }
        return failures
    }

    func key(_ host: DomainName, _ port: UInt16) -> AnswerKey {
        AnswerKey(host: host, port: dependsOnPort ? port : 0)
    }

    private static let warmUpWidth = 16
}
