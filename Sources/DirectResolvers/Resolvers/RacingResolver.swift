internal import DirectCore
public import DirectHTTP
internal import DirectIO

/// Asks several resolvers at the same time, and returns the first answer that has addresses.
///
/// Each of them learns every name that is asked for: that is the price of not waiting for the slowest one.
/// The race fails only when every resolver has said that there is no address, or has failed.
public struct RacingResolver: Resolver {
    /// The names of all resolvers, such as `dns.example or system`.
    public let name: String
    private let runners: [any Resolver]

    /// Creates a race of these resolvers.
    public init(_ first: any Resolver, _ others: any Resolver...) {
        runners = [first] + others
        name = runners.map(\.name).joined(separator: " or ")
    }

    /// Whether the answer of any of the resolvers may differ from port to port.
    public var dependsOnPort: Bool { runners.contains { $0.dependsOnPort } }
    /// Whether any of the resolvers may ask the system's resolver.
    public var mayAskSystem: Bool { runners.contains { $0.mayAskSystem } }

    /// Asks all resolvers at once, and returns the first answer that has addresses.
    ///
    /// - Throws: The `ResolverError` of the resolver that failed last, with the others in
    ///   `ResolverError.earlier`; `CancellationError` if the task was cancelled.
    public func resolve(
        _ host: DomainName,
        port: UInt16,
        context: ResolveContext
    ) async throws -> Resolution {
        try await withThrowingTaskGroup(of: Result<Resolution, ResolverError>.self) { group in
            for runner in runners {
                group.addTask { try await runner.answer(to: host, port: port, within: context) }
            }
            // On return the group cancels the resolvers that are still running, and no longer waits for them.
            defer { group.cancelAll() }
            var failures: [ResolverError] = []
            while let result = try await group.next() {
                switch result {
                case .success(var answer):
                    answer.failures = failures + answer.failures
                    return answer
                case .failure(let failure): failures.append(failure)
                }
            }
            throw ResolverError(allOf: failures)
        }
    }

    /// Returns the first answer that one of the resolvers has at hand; `nil` if at least one would have to be
    /// asked.
    public func knownAnswer(
        for host: DomainName,
        port: UInt16,
        context: ResolveContext
    ) throws(ResolverError) -> Resolution? {
        var failures: [ResolverError] = []
        for runner in runners {
            do throws(ResolverError) {
                if let answer = try runner.knownAnswer(for: host, port: port, context: context) {
                    return answer
                }
            } catch {
                failures.append(error)
            }
        }
        guard failures.count < runners.count else { throw ResolverError(allOf: failures) }
        return nil
    }

    /// Passes the outcome to every resolver: each knows which endpoints it named.
    public func report(_ outcome: DialOutcome, of endpoint: Endpoint, for host: DomainName, port: UInt16) {
        for runner in runners { runner.report(outcome, of: endpoint, for: host, port: port) }
    }

    /// Makes every resolver forget its answers.
    public func forgetAll() {
        for runner in runners { runner.forgetAll() }
    }
}
