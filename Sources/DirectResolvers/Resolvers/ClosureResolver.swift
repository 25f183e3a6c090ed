public import DirectCore
public import DirectHTTP
internal import DirectIO

/// A resolver made of a closure, for an HTTPDNS SDK or a service of the caller's own.
///
///     let sdk = ClosureResolver("HTTPDNS SDK", blocking: { host in service.resolve(host.text) })
///     let client = HTTPClient { $0.resolver = CachingResolver(ChainResolver(sdk, SystemResolver())) }
public struct ClosureResolver: Resolver {
    /// The name that errors and transactions use for this resolver.
    public let name: String
    /// Whether the closure is given the port and its answer may depend on it.
    public let dependsOnPort: Bool
    private let answer: @Sendable (DomainName, UInt16, ResolveContext) async throws -> Resolution

    /// Creates a resolver of a closure that returns IP addresses as text, the preferred one first.
    ///
    /// An empty list means that the name has no address. Text that is not an IP address is an error.
    ///
    /// - Parameters:
    ///   - name: The name for errors and transactions.
    ///   - timeToLive: The time for which an answer is valid; `nil` if it is unknown.
    ///   - addresses: Returns the addresses of a name. Its task is cancelled at the deadline.
    public init(
        _ name: String,
        timeToLive: Duration? = nil,
        addresses: @escaping @Sendable (DomainName) async throws -> [String]
    ) {
        self.init(name, dependsOnPort: false) { host, _, _ in
            try Self.resolution(name, try await addresses(host), timeToLive: timeToLive)
        }
    }

    /// Creates a resolver of a function that blocks its thread, such as an SDK's synchronous call.
    ///
    /// It is called on threads of its own, so a function that hangs does not delay other resolvers: at most 8
    /// for calls that are waited for and have not taken half a second. A caller stops waiting at its
    /// deadline; the call itself cannot be interrupted. When 64 calls hang, the next ones fail. In a chain
    /// its time begins with the call.
    ///
    /// - Parameters:
    ///   - name: The name for errors and transactions.
    ///   - timeToLive: The time for which an answer is valid; `nil` if it is unknown.
    ///   - blocking: Returns the addresses of a name as text, the preferred one first.
    public init(
        _ name: String,
        timeToLive: Duration? = nil,
        blocking: @escaping @Sendable (DomainName) throws -> [String]
    ) {
        // 64 calls hang after four seconds then: before most callers give up.
        let threads = BlockingWork(threadLimit: 8, most: 64, patience: 500_000_000)
        self.init(name, timeToLive: timeToLive, on: threads, blocking: blocking)
    }

    /// Creates the same on given threads.
    init(
        _ name: String,
        timeToLive: Duration? = nil,
        on threads: BlockingWork,
        blocking: @escaping @Sendable (DomainName) throws -> [String]
    ) {
        self.init(name, dependsOnPort: false) { host, _, context in
            let (loop, hasBegun) = (context.loop, Locked(false))
            let (start, wait) = (loop.now, context.limit?.wait())
            let result: Result<[String], any Error>
            do throws(BlockingWork.Abandoned) {
                result = try await threads.run(until: context.deadline, on: loop) {
                    hasBegun.withLock { $0 = true }
                    wait?.end()
                    return Result { try blocking(host) }
                }
            } catch {
                if case .refused(let refusal) = error { throw refusal }
                guard error == .expired else { throw CancellationError() }
                let time = loop.now.since(start)
                throw ResolverError(
                    name,
                    hasBegun.withLock { $0 } ? .timedOut(after: time) : .waited(for: time)
                )
            }
            return try Self.resolution(name, try result.get(), timeToLive: timeToLive)
        }
    }

    /// Creates a resolver of a closure that makes the whole answer: with ports, a time to live, an order.
    ///
    /// - Parameters:
    ///   - name: The name for errors and transactions.
    ///   - dependsOnPort: Whether the answer for a name may differ from port to port.
    ///   - answer: Returns the answer, or throws the reason why there is none.
    public init(
        _ name: String,
        dependsOnPort: Bool = true,
        answer: @escaping @Sendable (DomainName, UInt16, ResolveContext) async throws -> Resolution
    ) {
        self.name = name
        self.dependsOnPort = dependsOnPort
        self.answer = answer
    }

    /// Calls the closure.
    ///
    /// - Throws: A `ResolverError`, or any error of the closure.
    public func resolve(_ host: DomainName, port: UInt16, context: ResolveContext) async throws -> Resolution
    {
        try await answer(host, port, context)
    }

    private static func resolution(_ name: String, _ texts: [String], timeToLive: Duration?)
        throws(ResolverError)
        -> Resolution
    {
        guard !texts.isEmpty else { throw ResolverError(name, .noAddresses) }
        var endpoints: [Endpoint] = []
        for (number, text) in texts.enumerated() {
            guard let address = IPAddress(text) else {
                throw ResolverError(name, .malformed("address \(number + 1) is not an IP address"))
            }
            endpoints.append(Endpoint(address))
        }
        return Resolution(endpoints, timeToLive: timeToLive, source: .resolver(name))
    }
}

extension ClosureResolver: CustomStringConvertible, CustomReflectable {
    /// The name.
    public var description: String { name }
    /// An empty mirror: the closure may have captured secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
