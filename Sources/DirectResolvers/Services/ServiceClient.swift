internal import DirectHTTP
internal import DirectIO

/// Asks the servers of a service, one after the other until one gives an answer.
///
/// It has a client of its own, which knows the servers by address only: whatever a server says, a redirect for
/// instance, no name is looked up on the way.
final class ServiceClient: Sendable {
    private let format: any ServiceFormat
    private let servers: ServiceServers
    private let settings: ServiceSettings
    private let client: HTTPClient
    private let rotation: Locked<ServerRotation>

    init(_ format: any ServiceFormat, _ servers: ServiceServers, _ settings: ServiceSettings) {
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
            $0.maximumBufferedBody = Self.largestBody
            $0.headers = ["User-Agent": "direct-http/0.1"]
        }
        rotation = Locked(
            ServerRotation(
                count: servers.endpoints.count,
                badTime: settings.badServerTime.clampedNanoseconds
            )
        )
    }

    var name: String { format.name }

    /// The addresses of a name: whether they exist is one server's word, and only failures lead on to the next.
    func resolve(_ host: DomainName, _ context: ResolveContext) async throws -> Resolution {
        guard !servers.endpoints.isEmpty else {
            throw ResolverError(name, .refused("there is no server to ask"))
        }
        var failures: [ResolverError] = []
        let order = rotation.withLock { $0.order(at: context.loop.now) }
        for index in order.prefix(max(1, settings.maximumAttempts)) {
            if context.loop.now >= context.deadline { break }
            do {
                let answer = try await ask(servers.endpoints[index], host, context)
                rotation.withLock { $0.noteSuccess(of: index) }
                return answer
            } catch let reason as ResolverError.Reason {
                failures.append(ResolverError(name, reason, server: servers.endpoints[index]))
                if reason.isFinal {
                    rotation.withLock { $0.noteSuccess(of: index) }
                    break
                }
                rotation.withLock { $0.noteFailure(of: index, at: context.loop.now) }
            }
        }
        guard var last = failures.popLast() else {
            throw ResolverError(name, .timedOut(after: .zero))
        }
        last.earlier = failures
        throw last
    }

    /// No server is better than another one any more, and no connection to one is used again.
    func forgetAll() {
        rotation.withLock { $0.forgetAll() }
        client.forgetNetwork()
    }

    /// Throws a `ResolverError.Reason`, or a `CancellationError`.
    private func ask(
        _ server: Endpoint,
        _ host: DomainName,
        _ context: ResolveContext
    ) async throws -> Resolution {
        let questions = try format.questions(host, settings.families, at: context.loop.date)
        let limit = min(settings.attemptTimeout, context.timeLeft ?? settings.attemptTimeout)
        let answers = await answers(to: questions.count, on: context.loop) { number in
            do {
                return .success(try await self.send(questions[number], server, host, limit))
            } catch {
                return .failure(error)
            }
        }
        var resolution = try merge(answers)
        if answers.count < questions.count {
            let told = resolution.timeToLive ?? Self.partialTimeToLive
            resolution.timeToLive = min(told, Self.partialTimeToLive)
        }
        return resolution
    }

    private typealias Answer = Result<ServiceAnswer, any Error>

    /// The answers to so many questions at the same time, in their order. Where one family has addresses the other
    /// one is waited for as long again and no longer: a service that does not answer for one of them is no reason
    /// to have none (RFC 8305, section 3).
    private func answers(
        to count: Int,
        on loop: EventLoop,
        _ ask: @escaping @Sendable (Int) async -> Answer
    ) async -> [Answer] {
        let start = loop.now
        return await withTaskGroup(of: (number: Int, answer: Answer)?.self) { group in
            for number in 0..<count { group.addTask { (number, await ask(number)) } }
            var answers: [(number: Int, answer: Answer)] = []
            var isHurrying = false
            // Nothing comes out when the time of waiting is over.
            while answers.count < count, let outcome = await group.next(), let answer = outcome {
                answers.append(answer)
                guard !isHurrying, answers.count < count, answer.answer.hasAddresses else { continue }
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
        _ limit: Duration
    ) async throws -> ServiceAnswer {
        var request = Request(
            question.method,
            try servers.url(question.target, at: server),
            headers: question.headers,
            body: question.body.map { .bytes($0) } ?? .none
        )
        request.addresses = [server]
        request.timeouts.total = .after(limit)
        let response: FullResponse
        do {
            response = try await client.fetch(request)
        } catch let error as HTTPError {
            // The way of the request would show its URL, and that may hold a token.
            throw ResolverError.Reason.request(error.withoutHistory)
        }
        return try format.answer(response, host, question)
    }

    /// One family's failure does not spoil the other one's addresses; without any it is the answer, for then
    /// nobody can say that there is none.
    private func merge(_ answers: [Result<ServiceAnswer, any Error>]) throws -> Resolution {
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
    /// An answer for one family alone is soon asked for again.
    private static let partialTimeToLive = Duration.seconds(10)
}

extension ServiceClient: CustomStringConvertible, CustomReflectable {
    /// The name of the service.
    var description: String { name }
    /// Shows nothing of accounts, paths and settings: all resolvers of services hold one of these and nothing else.
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// Where a client must not ask for names.
private struct NoResolver: Resolver {
    var name: String { "no resolver" }

    func resolve(
        _ host: DomainName,
        port: UInt16,
        _ context: ResolveContext
    ) async throws -> Resolution {
        throw ResolverError(name, .refused("a resolver must not resolve by itself"))
    }
}

extension Result<ServiceAnswer, any Error> {
    fileprivate var hasAddresses: Bool {
        if case .success(let answer) = self { !answer.addresses.isEmpty } else { false }
    }
}

extension ResolverError.Reason {
    /// Whether another server would say the same.
    fileprivate var isFinal: Bool {
        switch self {
        case .noSuchName, .noAddresses: true
        default: false
        }
    }
}
