public import DirectCore
public import DirectHTTP
internal import DirectIO

/// Receives the outcome of each question to an observed resolver. It runs on the thread where the question
/// ended, for several questions at the same time, and must not block.
public typealias ResolverObserver = @Sendable (ResolverEvent) -> Void

/// The end of one question to a resolver.
public struct ResolverEvent: Sendable, CustomStringConvertible {
    /// The end of a question.
    public enum Outcome: Sendable {
        /// The resolver named so many endpoints to begin with. The source says which resolver did, and
        /// whether a cache had the answer.
        case answered(endpoints: Int, source: AddressSource)
        /// The resolver has no address for the name, or failed.
        case failed(ResolverError)
        /// The question was cancelled: its caller stopped waiting, or another resolver was faster.
        case cancelled
    }

    /// The name of the resolver that was asked.
    public let resolver: String
    /// The host that it was asked for.
    public let host: DomainName
    /// The time until the question ended.
    public let duration: Duration
    /// Its outcome.
    public let outcome: Outcome

    /// The resolver, the host, the outcome and the time.
    public var description: String { "\(resolver): \(host): \(outcome) (\(duration.text))" }
}

extension ResolverEvent.Outcome: CustomStringConvertible {
    /// The outcome in words.
    public var description: String {
        switch self {
        case .answered(let count, let source): "\(count) endpoints (\(source))"
        case .failed(let error): "\(error.reason)"
        case .cancelled: "cancelled"
        }
    }
}

/// A resolver whose questions are reported to an observer.
///
/// Put it around each resolver that you want to measure: around a service to see what is asked there, around
/// a cache to see what is asked at all.
public struct ObservedResolver: Resolver, PublishingResolver {
    private let resolver: any Resolver
    private let observer: ResolverObserver

    /// Creates a resolver that asks another one, and reports the outcomes.
    public init(_ resolver: any Resolver, observer: @escaping ResolverObserver) {
        self.resolver = resolver
        self.observer = observer
    }

    /// The name of the observed resolver.
    public var name: String { resolver.name }
    /// The value of the observed resolver.
    public var dependsOnPort: Bool { resolver.dependsOnPort }
    /// The value of the observed resolver.
    public var mayAskSystem: Bool { resolver.mayAskSystem }

    /// Asks the observed resolver.
    ///
    /// - Throws: The error of the observed resolver.
    public func resolve(_ host: DomainName, port: UInt16, context: ResolveContext) async throws -> Resolution
    {
        try await wholeAnswer(host, port: port, context: context)
    }

    /// Asks the observed resolver, and reports the first addresses.
    package func publish(
        _ host: DomainName,
        port: UInt16,
        context: ResolveContext
    ) async throws -> Resolution {
        let start = context.loop.now
        do {
            let answer = try await resolver.firstAnswer(host, port: port, context: context)
            report(.success(answer), for: host, after: context.loop.now.since(start))
            return answer
        } catch {
            report(.failure(error), for: host, after: context.loop.now.since(start))
            throw error
        }
    }

    /// Asks the observed resolver for several names, and reports each of them with the time that all took.
    public func resolve(_ hosts: [DomainName], port: UInt16, context: ResolveContext) async -> [DomainName:
        Result<
            Resolution, any Error
        >]
    {
        let start = context.loop.now
        let answers = await resolver.resolve(hosts, port: port, context: context)
        let time = context.loop.now.since(start)
        for host in hosts { if let answer = answers[host] { report(answer, for: host, after: time) } }
        return answers
    }

    /// Returns the answer that the observed resolver has at hand, and reports it; `nil` if it has none.
    ///
    /// Also `nil` for a negative answer: the observed resolver is asked for that, and each question is
    /// reported once, however often a cache and a client look whether there is an answer.
    public func knownAnswer(
        for host: DomainName,
        port: UInt16,
        context: ResolveContext
    ) throws(ResolverError) -> Resolution? {
        let start = context.loop.now
        guard let answer = try? resolver.knownAnswer(for: host, port: port, context: context) else {
            return nil
        }
        report(.success(answer), for: host, after: context.loop.now.since(start))
        return answer
    }

    /// Passes the outcome on.
    public func report(
        _ outcome: Result<Duration, any Error>,
        of endpoint: Endpoint,
        for host: DomainName,
        port: UInt16
    ) {
        resolver.report(outcome, of: endpoint, for: host, port: port)
    }

    /// Makes the observed resolver forget its answers.
    public func forgetAll() {
        resolver.forgetAll()
    }

    private func report(_ result: Result<Resolution, any Error>, for host: DomainName, after time: Duration) {
        let outcome: ResolverEvent.Outcome =
            switch result {
            case .success(let answer): .answered(endpoints: answer.endpoints.count, source: answer.source)
            case .failure(is CancellationError) where Task.isCancelled: .cancelled
            case .failure(let error): .failed(ResolverError(error, of: name))
            }
        observer(ResolverEvent(resolver: name, host: host, duration: time, outcome: outcome))
    }
}

extension ObservedResolver: CustomReflectable {
    /// Shows the observed resolver only.
    public var customMirror: Mirror { Mirror(self, children: ["resolver": resolver]) }
}
