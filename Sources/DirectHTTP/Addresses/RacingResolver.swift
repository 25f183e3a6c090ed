internal import DirectIO

/// Asks several resolvers at the same time, and takes the first answer that has addresses.
///
/// Each of them learns every name that is asked for: that is the price of not waiting for the slowest. That there
/// is no address is believed only when all have said so, or failed.
public struct RacingResolver: Resolver {
    public let name: String
    private let runners: [any Resolver]

    /// A race of these.
    public init(_ first: any Resolver, _ others: any Resolver...) {
        runners = [first] + others
        name = runners.map(\.name).joined(separator: " or ")
    }

    public var dependsOnPort: Bool { runners.contains { $0.dependsOnPort } }
    public var mayAskSystem: Bool { runners.contains { $0.mayAskSystem } }

    public func resolve(
        _ host: DomainName,
        port: UInt16,
        _ context: ResolveContext
    ) async throws -> Resolution {
        try await withThrowingTaskGroup(of: Result<Resolution, ResolverError>.self) { group in
            for runner in runners { group.addTask { try await ask(runner, host, port, context) } }
            // Who is still running is stopped when the group is left, and waited for no longer.
            defer { group.cancelAll() }
            var failures: [ResolverError] = []
            while let result = try await group.next() {
                switch result {
                case .success(let answer): return answer
                case .failure(let failure): failures.append(failure)
                }
            }
            throw ResolverError(allOf: failures)
        }
    }

    public func knownAnswer(
        for host: DomainName,
        port: UInt16,
        _ context: ResolveContext
    ) throws(ResolverError) -> Resolution? {
        var failures: [ResolverError] = []
        for runner in runners {
            do throws(ResolverError) {
                if let answer = try runner.knownAnswer(for: host, port: port, context) { return answer }
            } catch {
                failures.append(error)
            }
        }
        guard failures.count < runners.count else { throw ResolverError(allOf: failures) }
        return nil
    }

    /// Goes to all: each knows which endpoints it has named.
    public func report(_ outcome: DialOutcome, of endpoint: Endpoint, for host: DomainName, port: UInt16) {
        for runner in runners { runner.report(outcome, of: endpoint, for: host, port: port) }
    }

    /// All of them do.
    public func forgetAll() {
        for runner in runners { runner.forgetAll() }
    }

    /// What one of them says; throws only if nobody wants to know any longer.
    private func ask(
        _ runner: any Resolver,
        _ host: DomainName,
        _ port: UInt16,
        _ context: ResolveContext
    ) async throws(CancellationError) -> Result<Resolution, ResolverError> {
        let start = context.loop.now
        do throws(BlockingWork.Abandoned) {
            return try await supervised(until: context.deadline, on: context.loop) {
                do {
                    let answer = try await runner.resolve(host, port: port, context)
                    return answer.endpoints.isEmpty
                        ? .failure(ResolverError(runner.name, .noAddresses)) : .success(answer)
                } catch let error as ResolverError {
                    return .failure(error)
                } catch {
                    return .failure(ResolverError(runner.name, .other(error)))
                }
            }
        } catch {
            guard error == .expired else { throw CancellationError() }
            return .failure(ResolverError(runner.name, .timedOut(after: context.loop.now.since(start))))
        }
    }
}
