internal import DirectCore
internal import DirectHTTP
internal import DirectIO

/// Queries the servers of a service, one after the other, until one gives an answer.
///
/// - A server that fails is moved to the end of the order for `badServerTime`. At most `maximumAttempts`
///   servers are tried for one query, and none after the deadline.
/// - "No such name" and "no addresses" are answers. They are not verified with another server.
/// - The requests for A and AAAA are sent at the same time. If one has addresses, the wait for the other is
///   limited.
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
            $0.headers = ["User-Agent": "direct-http/0.1"]
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
    func resolve(_ host: DomainName, context: ResolveContext) async throws -> Resolution {
        var (answer, failures) = try await firstAnswer(within: context) { server, limit in
            try await self.ask(server, host: host, within: limit, on: context.loop)
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
    private func ask(
        _ server: Endpoint,
        host: DomainName,
        within limit: Duration,
        on loop: EventLoop
    ) async throws -> Resolution {
        let questions = try format.questions(host, families: settings.families, at: loop.date)
        let answers = await answers(to: questions, on: loop) { question in
            do {
                return .success(try await self.send(question, server, host, limit, loop))
            } catch {
                return .failure(error)
            }
        }
        var resolution = try merge(answers)
        if answers.count < questions.count || answers.contains(where: \.isFailure) {
            let told = resolution.timeToLive ?? Self.partialTimeToLive
            resolution.timeToLive = min(told, Self.partialTimeToLive)
        }
        return resolution
    }

    private typealias Answer = Result<ServiceAnswer, any Error>

    /// Asks all questions at the same time and returns their answers in the order of the questions.
    ///
    /// As soon as one family has addresses, the other is awaited for as long again (at least
    /// `otherFamilyTime`), then cancelled: a service that does not answer for one family must not delay the
    /// addresses of the other (RFC 8305, section 3). So does "no such name" for A, because it holds for every
    /// type (RFC 8020, section 2). For AAAA it does not: some servers say that of names that have IPv4
    /// addresses only (RFC 4074, section 4.2).
    private func answers(
        to questions: [ServiceQuestion],
        on loop: EventLoop,
        _ ask: @escaping @Sendable (ServiceQuestion) async -> Answer
    ) async -> [Answer] {
        let count = questions.count
        let start = loop.now
        return await withTaskGroup(of: (number: Int, answer: Answer)?.self) { group in
            for (number, question) in questions.enumerated() {
                group.addTask { (number, await ask(question)) }
            }
            var answers: [(number: Int, answer: Answer)] = []
            var isHurrying = false
            // The task that sleeps returns `nil` when the time for the other family is over.
            while answers.count < count, let outcome = await group.next(), let answer = outcome {
                answers.append(answer)
                let isEnough =
                    answer.answer.hasAddresses
                    || answer.answer.isNoSuchName && questions[answer.number].type == DNSType.a
                guard !isHurrying, answers.count < count, isEnough else { continue }
                isHurrying = true
                let pause = max(settings.otherFamilyTime, loop.now.since(start)).clampedNanoseconds
                let end = loop.now.advanced(byNanoseconds: pause)
                group.addTask {
                    try? await loop.sleep(until: end)
                    return nil
                }
            }
            group.cancelAll()
            return answers.sorted { $0.number < $1.number }.map(\.answer)
        }
    }

    private func send(
        _ question: ServiceQuestion,
        _ server: Endpoint,
        _ host: DomainName,
        _ limit: Duration,
        _ loop: EventLoop
    ) async throws -> ServiceAnswer {
        if let format = format as? any SocketFormat {
            let end = loop.now.advanced(byNanoseconds: limit.clampedNanoseconds)
            return try await format.answer(question, for: host, from: server, until: end, on: loop)
        }
        let response = try await fetch(question, from: server, limit: limit)
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
    func merge(_ answers: [Result<ServiceAnswer, any Error>]) throws -> Resolution {
        var addresses: [IPAddress] = []
        var seconds: Int64?
        var canonicalName: DomainName?
        var failure: (any Error)?
        var isNoSuchName = false
        for answer in answers {
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
    fileprivate var isFinal: Bool {
        switch self {
        case .noSuchName, .noAddresses: true
        default: false
        }
    }
}
