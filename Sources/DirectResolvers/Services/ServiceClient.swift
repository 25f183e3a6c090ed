internal import DirectCore
internal import DirectHTTP
internal import DirectIO

/// Queries the servers of a service, one after the other, until one gives an answer.
///
/// - A server that fails is moved to the end of the order for `badServerTime`. At most `maximumAttempts`
///   servers are tried for one query, and none after the deadline.
/// - "No such name" and "no addresses" are answers. They are not verified with another server.
/// - The requests for A, AAAA and HTTPS records are sent at the same time, and each is followed to the next
///   server by itself. An `Inquiry` decides what their answers make together, and a `Publication` gives it to
///   those who wait as it comes.
/// - It has an ``HTTPClient`` of its own, which reaches the servers by address only. Whatever a server
///   sends, for example a redirect, no name is resolved.
final class ServiceClient: Sendable {
    let format: any ServiceFormat
    private let servers: ServiceServers
    let settings: ServiceSettings
    let client: HTTPClient
    let list: Locked<ServerList>
    /// Those for questions under way: the others wait here, where no server's time runs.
    private let permits: Permits
    /// What is added to this machine's time in signatures, in seconds.
    private let clockError = Locked<Int64>(0)

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
            $0.maximumConnectionsPerOrigin = Self.mostConnections
            $0.maximumBufferedBody = Self.largestBody
            $0.headers = ["User-Agent": PackageVersion.userAgent]
        }
        // A datagram needs no handshake, so many of them cost a server little.
        permits =
            format is any SocketFormat
            ? Permits(128, most: 1024) : Permits(64, most: Self.mostConnections)
        list = Locked(
            ServerList(
                servers.endpoints,
                badTime: settings.badServerTime.clampedNanoseconds,
                updatedEvery: updateInterval?.clampedNanoseconds
            )
        )
    }

    var name: String { format.name }

    /// Returns addresses of a name to begin with. Each question goes to the next server only after a failure:
    /// one server's answer that the name does not exist is final.
    ///
    /// The questions go on as long as the answer, which has the rest, is held.
    func publish(_ host: DomainName, port: UInt16, context: ResolveContext) async throws -> Resolution {
        let publication = Publication(on: context.loop)
        let asking = Asking([
            Task(executorPreference: context.threads) {
                await self.ask(about: host, port: port, within: context, for: publication)
            }
        ])
        return try await publication.outcome(of: asking)
    }

    /// Returns all addresses of a name.
    func resolve(_ host: DomainName, port: UInt16 = 443, context: ResolveContext) async throws -> Resolution {
        try await publish(host, port: port, context: context).whole(within: context)
    }

    /// Asks all questions about a name at the same time, and publishes what is known.
    private func ask(
        about host: DomainName,
        port: UInt16,
        within context: ResolveContext,
        for publication: Publication
    ) async {
        let loop = context.loop
        let handle = LoopHandle(loop: loop)
        loop.add(handle)
        defer { loop.remove(handle) }
        let arrived = Locked<[(query: Inquiry.Query, reply: Inquiry.Verdict)]>([])
        var inquiry = inquiry(about: host, port: port, within: context)
        await withDiscardingTaskGroup { group in
            while true {
                for arrival in arrived.withLock({ $0.takeAll() }) {
                    inquiry.note(arrival.reply, to: arrival.query, at: loop.now)
                }
                switch inquiry.next(at: loop.now) {
                case .ask(let topic):
                    let types = (try? questions(about: topic, at: loop.date).map(\.type)) ?? [0]
                    for query in inquiry.begin(topic, types: types) {
                        group.addTask {
                            let reply = await self.reply(to: query, within: context)
                            arrived.withLock { $0.append((query, reply)) }
                            handle.input.signal()
                        }
                    }
                case .give(let outcome, let isComplete):
                    publication.publish(outcome.map(asOwn), isComplete: isComplete)
                    guard !isComplete else { return group.cancelAll() }
                case .wait(let end):
                    if await handle.waitForSignal(until: end) == .cancelled { return group.cancelAll() }
                }
            }
        }
    }

    /// Returns an answer that says which service gave it: two in a chain may have one name.
    func asOwn(_ answer: Resolution) -> Resolution {
        var answer = answer
        answer.service = ObjectIdentifier(self)
        return answer
    }

    private func inquiry(about host: DomainName, port: UInt16, within context: ResolveContext) -> Inquiry {
        let now = context.loop.now
        let limit = context.share(
            of: settings.attemptTimeout,
            among: mostAttempts,
            least: Self.leastAttempt
        )
        return Inquiry(
            host,
            records: context.scheme == .https ? recordName(of: host, port: port) : nil,
            by: name,
            settings,
            from: now,
            recordsEnd: now.advanced(byNanoseconds: limit.clampedNanoseconds)
        )
    }

    /// Returns the name of the records of an `https` origin (RFC 9460, section 9.1); `nil` if they are not
    /// asked for.
    private func recordName(of host: DomainName, port: UInt16) -> DomainName? {
        guard settings.httpsRecords != .off, format is any RecordFormat else { return nil }
        return port == 443 ? host : try? DomainName("_\(port)._https.\(host)")
    }

    /// Returns the questions about a topic, as they are asked at this moment: some are signed.
    private func questions(about topic: Inquiry.Topic, at date: UnixTime) throws(ResolverError.Reason)
        -> [ServiceQuestion]
    {
        switch topic {
        case .addresses(let host):
            return try format.questions(host, families: settings.families, at: date)
        case .records(let host):
            guard let format = format as? any RecordFormat else { return [] }
            return [try format.question(host, type: DNSType.https, at: date)]
        }
    }

    /// Asks one question until a server answers.
    private func reply(to query: Inquiry.Query, within context: ResolveContext) async -> Inquiry.Verdict {
        do {
            let (given, failures) = try await firstAnswer(within: context) { server, limit in
                (
                    answer: try await self.send(query, to: server, limit: limit, within: context),
                    server: server
                )
            }
            return Inquiry.Verdict(answer: .success(given.answer), failures: failures, server: given.server)
        } catch {
            return Inquiry.Verdict(answer: .failure(ResolverError(error, of: name)))
        }
    }

    /// Returns what the first server answers that does not fail, and the failures of those before it. Each
    /// server has its share of the time that is left.
    ///
    /// - Throws: `ResolverError`, or `CancellationError`.
    func firstAnswer<Answer>(
        within context: ResolveContext,
        ask: (Endpoint, _ limit: @escaping @Sendable () -> Duration) async throws -> Answer
    ) async throws -> (answer: Answer, failures: [ResolverError]) {
        guard !servers.endpoints.isEmpty else {
            throw ResolverError(name, .refused("there is no server to ask"))
        }
        let loop = context.loop
        updateServers(on: loop)
        let (permit, first) = try await takePermit(within: context)
        defer { permits.give(permit) }
        var wait = first
        var (tried, failures): ([Endpoint], [ResolverError]) = ([], [])
        var shortage: ResolverError?
        let most = mostAttempts
        // Those that were asked meanwhile may have been silent: the order is that of the moment.
        while tried.count < most, loop.now < context.deadline,
            let server = list.withLock({
                $0.next(at: loop.now, after: tried, attempts: most - tried.count)
            })
        {
            let (asked, left) = (Locked(Instant.never), most - tried.count)
            let noteSilence = { @Sendable [list] in
                let start = asked.withLock { $0 }
                list.withLock { $0.noteSilence(of: server, since: start, at: loop.now) }
            }
            let limit = { @Sendable [settings, permits, permit, wait] in
                asked.withLock { $0 = loop.now }
                wait?.end()
                permits.begin(permit, on: loop, noteSilence: noteSilence)
                return context.share(
                    of: settings.attemptTimeout,
                    among: left,
                    least: Self.leastAttempt
                )
            }
            do {
                let answer = try await ask(server.endpoint, limit)
                list.withLock { $0.noteSuccess(of: server) }
                return (answer, failures)
            } catch let error as CancellationError {
                // The caller stopped waiting at the deadline, until which the server was silent.
                if loop.now >= context.deadline { noteSilence() }
                throw error
            } catch let reason as ResolverError.Reason {
                let failure = ResolverError(name, reason, server: server.endpoint)
                // Without a descriptor it was not asked: the question waits again.
                let isOurs = reason.isOurs
                shortage = isOurs ? failure : nil
                wait = isOurs ? context.limit?.wait(since: asked.withLock { min($0, loop.now) }) : nil
                if isOurs { continue }
                failures.append(failure)
                tried.append(server.endpoint)
                if reason.isFinal {
                    list.withLock { $0.noteSuccess(of: server) }
                    break
                }
                if reason.isTimeout {
                    noteSilence()
                } else {
                    list.withLock { $0.recordFailure(of: server, at: loop.now) }
                }
            }
        }
        guard var last = shortage ?? failures.popLast() else {
            throw ResolverError(name, .timedOut(after: .zero))
        }
        last.earlier = failures
        if !last.reason.isFinal { list.withLock { $0.recordFailureOfAll(at: loop.now) } }
        throw last
    }

    /// Resets the list of the servers and their order, and never uses the existing connections again.
    func forgetAll() {
        list.withLock { $0.forgetAll() }
        clockError.withLock { $0 = 0 }
        client.forgetNetwork()
    }

    /// The servers, in the order of the list.
    var endpoints: [Endpoint] { list.withLock { $0.endpoints } }

    /// The number of servers that may be tried for one question.
    private var mostAttempts: Int { min(endpoints.count, max(1, settings.maximumAttempts)) }

    /// Waits until a question may be sent. Its limit stands still until the value that is returned says that
    /// it was sent, or until silence alone makes it wait.
    private func takePermit(within context: ResolveContext) async throws
        -> (Permits.Permit, QuestionLimit.Wait?)
    {
        let (start, wait) = (context.loop.now, context.limit?.wait())
        do throws(BlockingWork.Abandoned) {
            let permit = try await permits.take(on: context.loop, whileBefore: { context.deadline }) {
                wait?.end()
            }
            return (permit, wait)
        } catch {
            guard error == .expired else { throw CancellationError() }
            let time = context.loop.now.since(start)
            throw ResolverError(name, wait?.hasEnded == true ? .timedOut(after: time) : .waited(for: time))
        }
    }

    /// Sends one request and parses the answer.
    ///
    /// - Throws: A `ResolverError.Reason`, or a `CancellationError`.
    private func send(
        _ query: Inquiry.Query,
        to server: Endpoint,
        limit: @escaping @Sendable () -> Duration,
        within context: ResolveContext
    ) async throws -> ServiceAnswer {
        let (host, date) = (query.topic.host, { self.date(on: context.loop) })
        if let format = format as? any SocketFormat {
            let question = try questions(about: query.topic, at: date())[query.number]
            return try await format.answer(question, for: host, from: server, limit: limit, within: context)
        }
        let (response, question) = try await fetch(from: server, limit: limit(), within: context) {
            try self.questions(about: query.topic, at: date())[query.number]
        }
        return try format.answer(response, host: host, question: question)
    }

    /// Sends a question that is made of the time. It is asked again, made anew, if the connection has died:
    /// the server may have closed it while the question was on its way, and by POST as well a question may be
    /// asked twice. And if it was refused because this machine's clock is wrong.
    func fetch(
        from server: Endpoint,
        limit: Duration,
        within context: ResolveContext,
        making make: () throws -> ServiceQuestion
    ) async throws -> (BufferedResponse, ServiceQuestion) {
        var question = try make()
        var response: BufferedResponse
        do {
            response = try await fetch(question, from: server, limit: limit, within: context)
        } catch ResolverError.Reason.request(let error as HTTPError) where error.showsDeadConnection {
            question = try make()
            response = try await fetch(question, from: server, limit: limit, within: context)
        }
        if learnTime(from: response, on: context.loop) {
            question = try make()
            response = try await fetch(question, from: server, limit: limit, within: context)
        }
        return (response, question)
    }

    /// The time for signatures.
    func date(on loop: EventLoop) -> UnixTime { loop.date.advanced(bySeconds: clockError.withLock { $0 }) }

    /// Learns the time from a server that has refused a signature and has proved who it is. Returns whether
    /// the signatures differ now.
    ///
    /// The server's time counts for signatures alone, and within a day of this machine's: what is signed
    /// could be used at that time if it became known.
    private func learnTime(from response: BufferedResponse, on loop: EventLoop) -> Bool {
        guard format.isSigned, response.status == .forbidden, servers.scheme == .https,
            let time = response.headers["Date"].flatMap({ HTTPDate.parse($0, now: loop.date) })
        else { return false }
        let difference = time.seconds.subtractingReportingOverflow(loop.date.seconds)
        guard !difference.overflow, difference.partialValue.magnitude <= Self.largestClockError else {
            return false
        }
        return clockError.withLock { error in
            guard (difference.partialValue - error).magnitude >= Self.smallestClockError else { return false }
            error = difference.partialValue
            return true
        }
    }

    /// Sends one request to one server.
    ///
    /// - Throws: A `ResolverError.Reason`, or a `CancellationError`.
    func fetch(
        _ question: ServiceQuestion,
        from server: Endpoint,
        limit: Duration,
        within context: ResolveContext
    ) async throws -> BufferedResponse {
        var request = Request(
            question.method,
            try servers.url(question.target, at: server),
            headers: question.headers,
            body: question.body.map { .bytes($0) } ?? .none
        )
        request.addresses = [server]
        let each = RequestTimeouts.Limit.after(limit)
        // There are as many connections as permits, so this is the wait for a descriptor. It ends long before
        // the rest, and then says so.
        let queue = RequestTimeouts.Limit.after(limit / 4)
        request.timeouts = RequestTimeouts(queue: queue, connect: each, tls: each, response: each)
        (request.timeouts.write, request.timeouts.read) = (each, each)
        // A server that is never silent for long, and never done, has no more time than another.
        request.timeouts.total = .after(min(limit * 5 / 4, context.timeLeft ?? limit * 5 / 4))
        do {
            return try await client.fetch(request)
        } catch let error as HTTPError {
            // The error's history would contain the URL, which may contain a token.
            throw ResolverError.Reason.request(error.withoutURLs)
        }
    }

    private static let mostConnections = 256
    private static let largestClockError: UInt64 = 86_400
    /// A signature is valid for minutes.
    private static let smallestClockError: UInt64 = 60
    private static let largestBody = 256 * 1024
    /// The shortest time for a server, if the deadline leaves as much: a question takes four round trips,
    /// most of them for the handshakes, and a server that is only far away must not seem silent.
    private static let leastAttempt = Duration.seconds(1)
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

extension ResolverError.Reason {
    /// A question waited on this side for this time, and was not sent.
    static func waited(for time: Duration) -> ResolverError.Reason {
        .request(HTTPError(.queue, .timedOut(after: time)))
    }

    /// Whether there was no answer in time.
    var isTimeout: Bool {
        switch self {
        case .timedOut: true
        case .request(let error as HTTPError): if case .timedOut = error.reason { true } else { false }
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
