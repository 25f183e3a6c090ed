internal import DirectCore
internal import DirectHTTP
internal import DirectIO

/// Queries the servers of a service, one after the other, until one gives an answer.
///
/// - A server that fails is moved to the end of the order for `badServerTime`. At most `maximumAttempts`
///   servers are tried for one query, and none after the deadline.
/// - "No such name" and "no addresses" are answers. They are not verified with another server.
/// - The requests for A, AAAA and HTTPS records are sent at the same time. If one has addresses, the wait for
///   the others is limited.
/// - It has an ``HTTPClient`` of its own, which reaches the servers by address only. Whatever a server
///   sends, for example a redirect, no name is resolved.
final class ServiceClient: Sendable {
    let format: any ServiceFormat
    private let servers: ServiceServers
    let settings: ServiceSettings
    private let client: HTTPClient
    let list: Locked<ServerList>

    /// - Parameter updateInterval: The time after which a ``ScheduledFormat`` is asked for its servers again;
    ///   `nil` keeps to the given ones.
    init(
        _ format: any ServiceFormat,
        _ servers: ServiceServers,
        _ settings: ServiceSettings,
        updateInterval: Duration? = nil
    ) {
        self.format = format
        self.servers = servers
        self.settings = settings
        client = HTTPClient {
            $0.tls = settings.tls
            $0.resolver = NoResolver()
            $0.redirects = .deliver
            $0.loop = settings.loop
            $0.idleTimeout = .seconds(30)
            $0.maximumIdleConnections = 16
            // A question has little time, which it must not spend in a queue for a connection.
            $0.maximumConnectionsPerOrigin = 64
            $0.maximumBufferedBody = Self.largestBody
            $0.headers = ["User-Agent": PackageVersion.userAgent]
        }
        list = Locked(
            ServerList(
                servers.endpoints,
                badTime: settings.badServerTime.clampedNanoseconds,
                updatedEvery: updateInterval?.clampedNanoseconds
            )
        )
    }

    var name: String { format.name }

    /// Returns the addresses of a name. The next server is tried only after a failure: one server's answer
    /// that the name does not exist is final.
    func resolve(_ host: DomainName, port: UInt16 = 443, context: ResolveContext) async throws -> Resolution {
        var (answer, failures) = try await firstAnswer(within: context) { server, limit in
            let visit = Visit(server, within: limit, on: context.loop)
            return try await self.ask(for: host, port: port, context.scheme, at: visit)
        }
        answer.failures = failures
        return answer
    }

    /// Returns what the first server answers that does not fail, and the failures of those before it. Each
    /// server has its share of the time that is left.
    ///
    /// - Throws: `ResolverError`, or `CancellationError`.
    func firstAnswer<Answer>(
        within context: ResolveContext,
        ask: (Endpoint, _ limit: Duration) async throws -> Answer
    ) async throws -> (answer: Answer, failures: [ResolverError]) {
        guard !servers.endpoints.isEmpty else {
            throw ResolverError(name, .refused("there is no server to ask"))
        }
        updateServers(on: context.loop)
        var failures: [ResolverError] = []
        let order = list.withLock { $0.order(at: context.loop.now) }.prefix(max(1, settings.maximumAttempts))
        for (index, server) in order.enumerated() {
            if context.loop.now >= context.deadline { break }
            let limit = context.share(
                of: settings.attemptTimeout,
                among: order.count - index,
                least: Self.leastAttempt
            )
            do {
                let answer = try await ask(server.endpoint, limit)
                list.withLock { $0.noteSuccess(of: server) }
                return (answer, failures)
            } catch let error as CancellationError {
                // The caller stopped waiting at the deadline, until which the server was silent.
                if context.loop.now >= context.deadline {
                    list.withLock { $0.recordFailure(of: server, at: context.loop.now) }
                }
                throw error
            } catch let reason as ResolverError.Reason {
                failures.append(ResolverError(name, reason, server: server.endpoint))
                if reason.isFinal {
                    list.withLock { $0.noteSuccess(of: server) }
                    break
                }
                if !reason.isLocal {
                    list.withLock { $0.recordFailure(of: server, at: context.loop.now) }
                }
            }
        }
        guard var last = failures.popLast() else {
            throw ResolverError(name, .timedOut(after: .zero))
        }
        if !last.reason.isFinal { list.withLock { $0.recordFailureOfAll(at: context.loop.now) } }
        last.earlier = failures
        throw last
    }

    /// Resets the list of the servers and their order, and never uses the existing connections again.
    func forgetAll() {
        list.withLock { $0.forgetAll() }
        client.forgetNetwork()
    }

    /// The servers, in the order of the list.
    var endpoints: [Endpoint] { list.withLock { $0.endpoints } }

    /// Sends all requests for a name to one server.
    ///
    /// - Throws: A `ResolverError.Reason`, or a `CancellationError`.
    private func ask(for host: DomainName, port: UInt16, _ scheme: HTTPURL.Scheme, at visit: Visit)
        async throws -> Resolution
    {
        var queries = try addressQueries(for: host, at: visit)
        let records = scheme == .https ? try recordQuery(for: host, port: port, at: visit) : nil
        if let records { queries.append(records) }
        let answers = await answers(to: queries, at: visit)
        let found = Result { try merge(answers.prefix(records == nil ? queries.count : queries.count - 1)) }
        var resolution: Resolution
        if let records, case .success(let answer)? = answers.last ?? nil {
            resolution = try await join(found, of: host, with: answer, to: records, at: visit)
        } else {
            // Records might have named other addresses.
            if case .failure(ResolverError.Reason.noAddresses) = found { _ = try answers.last??.get() }
            resolution = try found.get()
        }
        let lacksRecords = records != nil && resolution.https == nil
        if lacksRecords || answers.contains(where: { $0?.isFailure ?? true }) {
            let told = resolution.timeToLive ?? Self.partialTimeToLive
            resolution.timeToLive = min(told, Self.partialTimeToLive)
        }
        return resolution
    }

    /// Returns the requests for the addresses of a name.
    func addressQueries(for host: DomainName, at visit: Visit) throws(ResolverError.Reason) -> [Query] {
        try format.questions(host, families: settings.families, at: visit.loop.date).map { Query(host, $0) }
    }

    typealias Answer = Result<ServiceAnswer, any Error>

    /// What has happened while answers are awaited.
    private enum Event {
        case answer(Answer, number: Int)
        /// No answer of this kind is awaited any longer.
        case isOver(Query.Kind)
    }

    /// Asks all questions at the same time and returns their answers in the order of the questions; `nil` for
    /// those that have not come in time.
    ///
    /// As soon as one family has addresses, the other is awaited for as long again (at least
    /// `otherFamilyTime`), then cancelled: a service that does not answer for one family must not delay the
    /// addresses of the other (RFC 8305, section 3). HTTPS records are awaited for `recordTime` then, if the
    /// settings do not say that they are awaited in any case. So does "no such name" for A, because it holds
    /// for every type (RFC 8020, section 2). For AAAA it does not: some servers say that of names that have
    /// IPv4 addresses only (RFC 4074, section 4.2).
    func answers(to queries: [Query], at visit: Visit) async -> [Answer?] {
        let (start, loop) = (visit.loop.now, visit.loop)
        return await withTaskGroup(of: Event.self) { group in
            for (number, query) in queries.enumerated() {
                group.addTask { .answer(await self.answer(to: query, at: visit), number: number) }
            }
            var answers = [Answer?](repeating: nil, count: queries.count)
            var over: Set<Query.Kind> = []
            var isHurrying = false
            while let event = await group.next() {
                var isEnough = false
                var isDenied = false
                switch event {
                case .isOver(let kind): over.insert(kind)
                case .answer(let answer, let number):
                    answers[number] = answer
                    isDenied = answer.isNoSuchName && queries[number].question.type == DNSType.a
                    isEnough = !isHurrying && (answer.hasAddresses || isDenied)
                }
                let open = queries.indices.filter { answers[$0] == nil }
                if open.allSatisfy({ over.contains(queries[$0].kind) }) { break }
                guard isEnough else { continue }
                isHurrying = true
                var pauses = [(Query.Kind.addresses, max(settings.otherFamilyTime, loop.now.since(start)))]
                if settings.httpsRecords != .awaited || isDenied {
                    pauses.append((.records, settings.recordTime))
                }
                for (kind, pause) in pauses where open.contains(where: { queries[$0].kind == kind }) {
                    let end = loop.now.advanced(byNanoseconds: pause.clampedNanoseconds)
                    group.addTask {
                        try? await loop.sleep(until: end)
                        return .isOver(kind)
                    }
                }
            }
            group.cancelAll()
            return answers
        }
    }

    private func answer(to query: Query, at visit: Visit) async -> Answer {
        do {
            return .success(try await send(query, at: visit))
        } catch {
            return .failure(error)
        }
    }

    /// Sends one request and parses the answer.
    ///
    /// - Throws: A `ResolverError.Reason`, or a `CancellationError`.
    func send(_ query: Query, at visit: Visit) async throws -> ServiceAnswer {
        let (host, question, server) = (query.host, query.question, visit.server)
        if let format = format as? any SocketFormat {
            return try await format.answer(
                question,
                for: host,
                from: server,
                until: visit.end,
                on: visit.loop
            )
        }
        let response = try await fetch(question, from: server, limit: visit.end.since(visit.loop.now))
        return try format.answer(response, host: host, question: question)
    }

    /// Sends one request to one server.
    ///
    /// - Throws: A `ResolverError.Reason`, or a `CancellationError`.
    func fetch(_ question: ServiceQuestion, from server: Endpoint, limit: Duration) async throws
        -> BufferedResponse
    {
        var request = Request(
            question.method,
            try servers.url(question.target, at: server),
            headers: question.headers,
            body: question.body.map { .bytes($0) } ?? .none
        )
        request.addresses = [server]
        request.timeouts.total = .after(limit)
        do {
            return try await client.fetch(request)
        } catch let error as HTTPError {
            // The error's history would contain the URL, which may contain a token.
            throw ResolverError.Reason.request(error.withoutURLs)
        }
    }

    /// Merges the answers for both families.
    ///
    /// One family's failure is ignored if the other has addresses. Otherwise the failure is thrown, rather
    /// than "no addresses": the failed query might have had some.
    func merge(_ answers: some Sequence<Answer?>) throws -> Resolution {
        var addresses: [IPAddress] = []
        var seconds: Int64?
        var canonicalName: DomainName?
        var failure: (any Error)?
        var isNoSuchName = false
        for answer in answers.compactMap({ $0 }) {
            switch answer {
            case .failure(let error):
                if error is CancellationError { throw error }
                failure = failure ?? error
            case .success(let answer):
                let wanted = answer.addresses.filter { settings.families.contains($0.family) }
                if !wanted.isEmpty, let time = answer.seconds { seconds = min(seconds ?? time, time) }
                for address in wanted where !addresses.contains(address) { addresses.append(address) }
                canonicalName = canonicalName ?? answer.canonicalName
                if answer.isNoSuchName { isNoSuchName = true }
            }
        }
        guard !addresses.isEmpty else {
            throw failure ?? (isNoSuchName ? ResolverError.Reason.noSuchName : .noAddresses)
        }
        return Resolution(
            addresses.map { Endpoint($0) },
            timeToLive: seconds.map { .seconds($0) },
            source: .resolver(name),
            canonicalName: canonicalName
        )
    }

    private static let largestBody = 256 * 1024
    /// The shortest time for a server, if the deadline leaves as much: a question takes four round trips,
    /// most of them for the handshakes, and a server that is only far away must not seem silent.
    private static let leastAttempt = Duration.seconds(1)
    /// The longest time to live of an answer that lacks one family, so that it is queried again soon.
    private static let partialTimeToLive = Duration.seconds(10)
}

extension ServiceClient: CustomStringConvertible, CustomReflectable {
    /// The name of the service.
    var description: String { name }
    /// An empty mirror, so that `dump` shows no accounts, paths or settings. Every resolver of this module
    /// stores only a `ServiceClient`.
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// A resolver that always fails, for the client that a resolver uses itself.
private struct NoResolver: Resolver {
    var name: String { "no resolver" }

    func resolve(
        _ host: DomainName,
        port: UInt16,
        context: ResolveContext
    ) async throws -> Resolution {
        throw ResolverError(name, .refused("a resolver must not need a resolver itself"))
    }
}

extension Result<ServiceAnswer, any Error> {
    fileprivate var isFailure: Bool {
        if case .failure = self { true } else { false }
    }

    fileprivate var hasAddresses: Bool {
        if case .success(let answer) = self { !answer.addresses.isEmpty } else { false }
    }

    fileprivate var isNoSuchName: Bool {
        if case .success(let answer) = self { answer.isNoSuchName } else { false }
    }
}

extension ResolverError.Reason {
    /// Whether the server has no part in the failure.
    fileprivate var isLocal: Bool {
        switch self {
        case .request(let error): error.phase == .queue
        case .other(let error as SystemError): error.isDescriptorShortage
        default: false
        }
    }

    /// Whether other servers would give the same answer, so that they need not be tried.
    var isFinal: Bool {
        switch self {
        case .noSuchName, .noAddresses: true
        default: false
        }
    }
}
