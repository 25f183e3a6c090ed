public import DirectIO

/// Turns names into addresses: a service, a table, or a way to combine others.
///
/// A resolver says only where to connect. What the server must prove, and all else that hangs on the name,
/// is beyond its reach.
public protocol Resolver: Sendable {
    /// What errors and transactions call it.
    var name: String { get }

    /// Whether the answer for one name may differ from port to port. If not, a cache keeps one for all.
    var dependsOnPort: Bool { get }

    /// Whether the system's resolver may be asked because of a question to this one. Where it may not, it is asked nothing
    /// at all for the requests of a client, not even for the translators from IPv6 to IPv4 (RFC 7050).
    var mayAskSystem: Bool { get }

    /// The addresses for a name, or why there are none; never an answer without any.
    ///
    /// The name is in lower case, without trailing dot, and all that is known of the URL. Whoever asks stops
    /// waiting at the end of the context's time, and then cancels the task.
    func resolve(
        _ host: DomainName,
        port: UInt16,
        _ context: ResolveContext
    ) async throws -> Resolution

    /// The answer if it is at hand: nothing if the question has to be asked. Must not block.
    func knownAnswer(
        for host: DomainName,
        port: UInt16,
        _ context: ResolveContext
    ) throws(ResolverError) -> Resolution?

    /// Takes what came of dialling an endpoint that it had named. Must not block.
    func report(_ outcome: DialOutcome, of endpoint: Endpoint, for host: DomainName, port: UInt16)

    /// Forgets what it has heard: in another network it may be wrong. Must not block.
    func forgetAll()
}

extension Resolver {
    /// Yes, as nothing else is known.
    public var dependsOnPort: Bool { true }

    /// No: it has ways of its own.
    public var mayAskSystem: Bool { false }

    /// Nothing: every question is asked.
    public func knownAnswer(
        for host: DomainName,
        port: UInt16,
        _ context: ResolveContext
    ) throws(ResolverError) -> Resolution? { nil }

    /// Has nothing to forget.
    public func forgetAll() {}

    /// Pays no heed.
    public func report(_ outcome: DialOutcome, of endpoint: Endpoint, for host: DomainName, port: UInt16) {}
}

/// What came of dialling an endpoint.
public enum DialOutcome: Sendable {
    /// A connection, with TLS if there was to be any, after this time.
    case connected(after: Duration)
    /// None.
    case failed(HTTPError.Phase, HTTPError.Reason)
}

/// Where to connect for a name, according to a resolver.
public struct Resolution: Sendable {
    /// In order of preference, and never empty.
    public var endpoints: [Endpoint]
    /// How long that holds; nothing if the resolver does not know.
    public var timeToLive: Duration?
    /// Who says so.
    public var source: AddressSource
    /// The name at the end of the chain of aliases, if the resolver knows it and it is another one.
    public var canonicalName: DomainName?
    /// Whether the order is an order: endpoints are tried one after the other and never raced.
    public var isStrictlyOrdered = false
    /// Asked for another resolution when no endpoint of this one could be reached; nothing if there is none.
    public var fallback: (@Sendable (ResolveContext) async throws -> Resolution?)?

    /// An answer that says all there is to say.
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

/// What a resolver may use to find its answer.
public struct ResolveContext: Sendable {
    /// When nobody waits any longer.
    package var deadline: Instant
    /// The loop whose clock that is.
    package var loop: EventLoop

    package init(deadline: Instant, loop: EventLoop) {
        self.deadline = deadline
        self.loop = loop
    }

    /// A question of one's own, which may take so long.
    public init(within limit: Duration = .seconds(10), on loop: EventLoop = .shared) {
        self.init(deadline: loop.now.advanced(byNanoseconds: limit.clampedNanoseconds), loop: loop)
    }

    /// How long the answer may still take; nothing if there is no limit.
    public var timeLeft: Duration? {
        deadline == .never ? nil : deadline.since(loop.now)
    }
}
