public import DirectCore
public import DirectIO

/// Resolves names to addresses: a service, a table, or a combination of other resolvers.
///
/// A resolver only decides where to connect. It has no influence on what the server must prove (SNI, the
/// certificate check) or on anything else that depends on the name.
public protocol Resolver: Sendable {
    /// The name that errors and transactions use for this resolver.
    var name: String { get }

    /// Whether the answer for a name may differ from port to port, or between `http` and `https`. If not, a
    /// cache keeps one answer for all origins.
    var dependsOnPort: Bool { get }

    /// Whether a question to this resolver may lead to a question to the system's resolver.
    ///
    /// If not, the client never asks the system's resolver for anything, not even for the translators from
    /// IPv6 to IPv4 (RFC 7050).
    var mayAskSystem: Bool { get }

    /// Returns the addresses of a name. The answer is never empty.
    ///
    /// The caller stops waiting at the deadline of the context, and then cancels the task.
    ///
    /// - Parameters:
    ///   - host: The name, in lower case and without trailing dot. The resolver learns nothing else of the
    ///     URL but the port, the scheme and whether the name had that dot.
    ///   - port: The port of the URL.
    ///   - context: The scheme of the URL, and the limits within which the answer has to come.
    /// - Throws: The reason why there are no addresses: a ``ResolverError``, or any other error, which the
    ///   client wraps in one.
    func resolve(
        _ host: DomainName,
        port: UInt16,
        context: ResolveContext
    ) async throws -> Resolution

    /// Returns the addresses of several names, for example to fill a cache. A service that can be asked for
    /// several names at a time needs fewer requests for that.
    ///
    /// - Parameters:
    ///   - hosts: The names, each once.
    ///   - port: The port of the URLs.
    ///   - context: The limits within which all answers have to come.
    /// - Returns: The answer of each name, or the reason why it has no addresses.
    func resolve(_ hosts: [DomainName], port: UInt16, context: ResolveContext) async
        -> [DomainName: Result<Resolution, any Error>]

    /// Returns the answer if it is at hand; `nil` if ``resolve(_:port:context:)->Resolution`` has to be
    /// called. Must not block.
    func knownAnswer(
        for host: DomainName,
        port: UInt16,
        context: ResolveContext
    ) throws(ResolverError) -> Resolution?

    /// Reports the outcome of dialling an endpoint that the resolver named: the time until the connection was
    /// established, including the TLS handshake if there was one, or the error, which is an `HTTPError` if a
    /// client has dialled. Must not block.
    func report(
        _ outcome: Result<Duration, any Error>,
        of endpoint: Endpoint,
        for host: DomainName,
        port: UInt16
    )

    /// Forgets all answers: they may be wrong in another network. Must not block.
    func forgetAll()
}

extension Resolver {
    /// `true`, the assumption that is always safe.
    public var dependsOnPort: Bool { true }

    /// `false`: the resolver has its own ways to find an answer.
    public var mayAskSystem: Bool { false }

    /// Asks for each name by itself, a few at a time.
    public func resolve(_ hosts: [DomainName], port: UInt16, context: ResolveContext) async
        -> [DomainName: Result<Resolution, any Error>]
    {
        var own = context
        own.delivery = nil
        let single = own
        return await withTaskGroup(of: (DomainName, Result<Resolution, any Error>).self) { group in
            var answers: [DomainName: Result<Resolution, any Error>] = [:]
            func take(_ host: DomainName, _ answer: Result<Resolution, any Error>) {
                answers[host] = answer
                context.delivery?(host, answer)
            }
            for (index, host) in hosts.enumerated() {
                if index >= manyAtATime, let (host, answer) = await group.next() { take(host, answer) }
                group.addTask {
                    do {
                        // In the tuple itself the optimizer of Swift 6.3.1 ruins the memory of this task.
                        let answer = try await resolve(host, port: port, context: single)
                        return (host, .success(answer))
                    } catch {
                        return (host, .failure(error))
                    }
                }
            }
            for await (host, answer) in group { take(host, answer) }
            return answers
        }
    }

    /// `nil`: every question goes to ``resolve(_:port:context:)``.
    public func knownAnswer(
        for host: DomainName,
        port: UInt16,
        context: ResolveContext
    ) throws(ResolverError) -> Resolution? { nil }

    /// Does nothing: the resolver keeps no answers.
    public func forgetAll() {}

    /// Ignores the outcome.
    public func report(
        _ outcome: Result<Duration, any Error>,
        of endpoint: Endpoint,
        for host: DomainName,
        port: UInt16
    ) {}
}

/// The number of names that a resolver is asked for at a time.
private let manyAtATime = 16

/// A resolver's answer: the endpoints to connect to for a name.
public struct Resolution: Sendable {
    /// The endpoints, in order of preference. Never empty.
    public var endpoints: [Endpoint]
    /// The time for which the answer is valid; `nil` if the resolver does not know.
    public var timeToLive: Duration?
    /// The author of the answer, and its age.
    public var source: AddressSource
    /// The name at the end of the chain of aliases; `nil` if the resolver does not know it or it is the same
    /// name.
    public var canonicalName: DomainName?
    /// The HTTPS records of the origin; `nil` if they were not asked for, or are not known.
    public var https: HTTPSRecords?
    /// Whether the endpoints are tried strictly one after the other, and never raced.
    public var isStrictlyOrdered = false
    /// Returns another resolution when no endpoint of this one could be reached; `nil` if there is no
    /// fallback.
    public var fallback: (@Sendable (ResolveContext) async throws -> Resolution?)?
    /// The failures of those that were asked before: other resolvers of a chain, or other servers of a
    /// service.
    package var failures: [ResolverError] = []
    /// The service that has answered, beside its name in `source`; `nil` if it was none.
    package var service: ObjectIdentifier?
    /// Whether it stands in for the answer of the resolver in charge, which is its fallback. It is also asked
    /// for when a server's certificate does not fit.
    package var isProvisional = false
    /// The missing parts of the answer: they have not come yet, or no server could be asked for them.
    package var lacks: Lack = []
    /// The reason for an answer without HTTPS records; `nil` if the name has none.
    package var recordsDefect: RecordsDefect?
    /// Waits until more of the answer is known, and returns all of it; `nil` if nothing more comes. `nil`
    /// itself if this is all. Only ``PublishingResolver`` gives answers with more to come.
    package var rest: (@Sendable () async -> Resolution?)?

    /// A reason why the HTTPS records of a name do not count.
    package enum RecordsDefect: Sendable {
        /// The question for them has failed.
        case failed(ResolverError)
        /// One of them is malformed, so that none counts (RFC 9460, section 2.2).
        case malformed
        /// None is for this client; the protocols that they name.
        case unusable(protocols: [String])
    }

    /// Parts of an answer.
    package struct Lack: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The addresses of one family.
        package static let family = Lack(rawValue: 1)
        /// The HTTPS records, which were asked for.
        package static let records = Lack(rawValue: 2)
    }

    /// Creates an answer without a strict order and without a fallback.
    public init(
        _ endpoints: [Endpoint],
        timeToLive: Duration? = nil,
        source: AddressSource,
        canonicalName: DomainName? = nil
    ) {
        self.endpoints = endpoints
        self.timeToLive = timeToLive
        self.source = source
        self.canonicalName = canonicalName
    }
}

/// The scheme that a resolver is asked for, and the limits within which it has to find its answer.
public struct ResolveContext: Sendable {
    /// Takes the answer of one of several names as soon as it has come.
    package typealias Delivery = @Sendable (DomainName, Result<Resolution, any Error>) -> Void

    /// The scheme of the URL. The HTTPS records of a name are those of `https` alone: an `http` URL that
    /// followed them would send its request in the clear to a port for TLS.
    public let scheme: HTTPURL.Scheme
    /// Whether the name ends with a dot in the URL. The system's resolver then appends none of the domains of
    /// its search list.
    public let isComplete: Bool
    /// The moment at which the caller stops waiting. It may be a later one by and by.
    package var deadline: Instant {
        get { limit.map { $0.end.atMost(callersEnd) } ?? callersEnd }
        set { callersEnd = newValue }
    }
    /// The deadline of a question that is sent now, while others may wait on this side.
    package var questionsEnd: Instant { limit.map { $0.endFromNow.atMost(callersEnd) } ?? callersEnd }
    /// The moment until which a question may wait on this side.
    package var latestEnd: Instant { limit.map { $0.whileWaiting().atMost(callersEnd) } ?? callersEnd }
    private var callersEnd: Instant
    /// Whether the answer is for this caller alone: it refuses addresses that others may use.
    package var isForCallerAlone = false
    /// The limit of the resolver that is asked; `nil` if it has all of the caller's time.
    package var limit: QuestionLimit?
    /// The loop whose clock the deadline refers to.
    package var loop: EventLoop
    /// The threads of the client that asks: the executor of resolvers and of what they share among callers.
    package var threads: BlockingWork
    /// Returns the moment until which someone waits for the answer, as it is now; `nil` if that is the
    /// deadline. After it the answer is still wanted, for a cache.
    package var awaited: (@Sendable () -> Instant)?
    /// Takes the answers of a question for several names as they come; `nil` if they are wanted together.
    package var delivery: Delivery?

    /// Creates a context from a deadline and the loop whose clock it refers to.
    package init(
        _ scheme: HTTPURL.Scheme,
        isComplete: Bool = false,
        deadline: Instant,
        loop: EventLoop,
        threads: BlockingWork = .code
    ) {
        self.scheme = scheme
        self.isComplete = isComplete
        callersEnd = deadline
        self.loop = loop
        self.threads = threads
    }

    /// Creates the context of a request to a URL, without a deadline.
    package init(of url: HTTPURL, as scheme: HTTPURL.Scheme, loop: EventLoop, threads: BlockingWork) {
        self.init(scheme, isComplete: url.hasTrailingDot, deadline: .never, loop: loop, threads: threads)
    }

    /// Creates a context for a question that does not belong to a request.
    ///
    /// - Parameters:
    ///   - scheme: The scheme of the URLs that the answer is for.
    ///   - limit: The time limit for the answer.
    ///   - loop: The event loop whose clock counts.
    public init(
        _ scheme: HTTPURL.Scheme = .https,
        within limit: Duration = .seconds(10),
        on loop: EventLoop = .shared
    ) {
        self.init(scheme, deadline: loop.now.advanced(byNanoseconds: limit.clampedNanoseconds), loop: loop)
    }

    /// The time that is left for the answer; `nil` if there is no limit.
    public var timeLeft: Duration? {
        deadline == .never ? nil : deadline.since(loop.now)
    }
}

/// The time limit of a resolver whose questions may have to wait on this side: for a permit, a thread, a
/// descriptor. Its clock stands while one of them waits: a resolver is not silent then, however long that
/// takes.
package final class QuestionLimit: Sendable {
    /// A question that waits, until it is sent or given up.
    package final class Wait: Sendable {
        private let limit: Locked<QuestionLimit?>

        fileprivate init(_ limit: QuestionLimit, since start: Instant?) {
            self.limit = Locked(limit)
            limit.change(by: 1, since: start)
        }

        deinit { end() }

        /// Whether the wait is over.
        package var hasEnded: Bool { limit.withLock { $0 == nil } }

        /// Notes that the question is sent.
        package func end() { limit.withLock { $0.take() }?.change(by: -1) }
    }

    private struct State {
        var start: Instant
        /// When the first of the questions that wait began to.
        var pause = Instant(nanoseconds: 0)
        var waiting = 0
        var hasWaited = false
        var followers: [QuestionLimit] = []
        var wakes: [@Sendable () -> Void] = []
    }

    private let state: Locked<State>
    private let loop: EventLoop
    /// Returns the end of a limit that began at a moment.
    private let endAfter: @Sendable (Instant) -> Instant
    /// Returns the moment until which questions may wait.
    package let whileWaiting: @Sendable () -> Instant

    /// Creates a limit that begins now.
    ///
    /// - Parameters:
    ///   - outer: The limit of the resolver that asks this one: it stands still as well.
    ///   - endAfter: Returns the end of a limit that began at a moment, as it is now.
    ///   - whileWaiting: Returns the moment until which questions may wait.
    package init(
        on loop: EventLoop,
        within outer: QuestionLimit? = nil,
        endAfter: @escaping @Sendable (Instant) -> Instant,
        whileWaiting: @escaping @Sendable () -> Instant
    ) {
        state = Locked(State(start: loop.now, followers: outer.map { [$0] } ?? []))
        (self.loop, self.endAfter, self.whileWaiting) = (loop, endAfter, whileWaiting)
    }

    /// Creates a limit that begins now and has this length.
    package convenience init(
        _ limit: Duration,
        on loop: EventLoop,
        within outer: QuestionLimit? = nil,
        whileWaiting: @escaping @Sendable () -> Instant
    ) {
        let endAfter = { @Sendable (start: Instant) in
            start.advanced(byNanoseconds: limit.clampedNanoseconds)
        }
        self.init(on: loop, within: outer, endAfter: endAfter, whileWaiting: whileWaiting)
    }

    /// The end as it is now.
    package var end: Instant { start.map(endAfter) ?? whileWaiting() }

    /// The end if no question waited any more.
    package var endFromNow: Instant { endAfter(start ?? loop.now) }

    /// The end for the one who asks. A resolver that knows this limit ends by it itself, and says why.
    package var patience: Instant {
        end.advanced(byNanoseconds: state.withLock { $0.hasWaited ? Self.grace : 0 })
    }

    private static let grace: UInt64 = 500_000_000

    /// When the limit began, later by the time in which a question waited; `nil` while one waits.
    package var start: Instant? { state.withLock { $0.waiting > 0 ? nil : $0.start } }

    /// Notes that a question waits on this side.
    ///
    /// - Parameter start: When it began to, if that was earlier.
    package func wait(since start: Instant? = nil) -> Wait { Wait(self, since: start) }

    /// Lets another limit stand still whenever this one does.
    package func lead(_ follower: QuestionLimit) {
        let isWaiting = state.withLock { state in
            state.followers.append(follower)
            return state.waiting > 0
        }
        if isWaiting { follower.change(by: 1) }
    }

    /// Calls `wake` whenever the limit goes on, as the end is an earlier one then.
    package func onBegin(_ wake: @escaping @Sendable () -> Void) {
        state.withLock { $0.wakes.append(wake) }
    }

    private typealias Consequences = (
        followers: [QuestionLimit], wakes: [@Sendable () -> Void], pause: Instant
    )

    private func change(by number: Int, since start: Instant? = nil) {
        let now = loop.now
        let (followers, wakes, pause) = state.withLock { state -> Consequences in
            let (before, after) = (state.waiting > 0, state.waiting + number > 0)
            state.waiting += number
            guard before != after else { return ([], [], now) }
            guard !after else {
                // Before its first question no server has been asked: the process may have been stopped.
                let begin = start ?? (state.hasWaited ? now : state.start)
                (state.pause, state.hasWaited) = (max(begin, state.start), true)
                return (state.followers, [], state.pause)
            }
            state.start = state.start.advanced(
                byNanoseconds: max(now, state.pause).nanoseconds - state.pause.nanoseconds
            )
            return (state.followers, state.wakes, now)
        }
        for follower in followers { follower.change(by: number > 0 ? 1 : -1, since: pause) }
        for wake in wakes { wake() }
    }
}
