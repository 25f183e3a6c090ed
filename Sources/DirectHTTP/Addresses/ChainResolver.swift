internal import DirectIO

/// Asks one resolver, and others when that one has failed.
///
/// Whether others are asked at all, and when, is said once, by `Fallback`. The system's resolver is one like
/// any other: unless it stands in the chain, no name ever reaches it.
public struct ChainResolver: Resolver {
    /// When the next resolver is asked.
    public enum Fallback: Hashable, Sendable {
        /// Never: the first one's word is final.
        case never
        /// When the one before has no address for the name, be it that it says so or that it fails.
        case onResolveFailure
        /// Also when it has, and none of its addresses could be connected to.
        case onConnectFailure
    }

    public let name: String
    private let steps: [any Resolver]
    private let fallback: Fallback
    private let stepTimeout: Duration

    /// A chain in order of preference. One that is not the last has `stepTimeout` to answer, so that time is
    /// left for those behind it.
    public init(
        _ first: any Resolver,
        _ others: any Resolver...,
        fallback: Fallback = .onConnectFailure,
        stepTimeout: Duration = .seconds(3)
    ) {
        steps = [first] + others
        name = steps.map(\.name).joined(separator: ", then ")
        self.fallback = fallback
        self.stepTimeout = stepTimeout
    }

    public var dependsOnPort: Bool { steps.contains { $0.dependsOnPort } }
    public var mayAskSystem: Bool { steps.contains { $0.mayAskSystem } }

    public func resolve(
        _ host: DomainName,
        port: UInt16,
        _ context: ResolveContext
    ) async throws -> Resolution {
        try await resolve(Question(host: host, port: port), from: 0, context)
    }

    public func knownAnswer(
        for host: DomainName,
        port: UInt16,
        _ context: ResolveContext
    ) throws(ResolverError) -> Resolution? {
        var failures: [ResolverError] = []
        for (index, step) in steps.enumerated() {
            do throws(ResolverError) {
                guard let answer = try step.knownAnswer(for: host, port: port, context) else { return nil }
                return extended(answer, Question(host: host, port: port), by: index + 1)
            } catch {
                failures.append(error)
                if fallback == .never { break }
            }
        }
        throw ResolverError(allOf: failures)
    }

    /// Goes to all: each knows which endpoints it has named.
    public func report(_ outcome: DialOutcome, of endpoint: Endpoint, for host: DomainName, port: UInt16) {
        for step in steps { step.report(outcome, of: endpoint, for: host, port: port) }
    }

    /// All of them do.
    public func forgetAll() {
        for step in steps { step.forgetAll() }
    }

    private struct Question: Sendable {
        var host: DomainName
        var port: UInt16
    }

    private func resolve(
        _ question: Question,
        from first: Int,
        _ context: ResolveContext
    ) async throws -> Resolution {
        var failures: [ResolverError] = []
        for index in first..<steps.count {
            do {
                let answer = try await ask(index, question, context)
                return extended(answer, question, by: index + 1)
            } catch let error as ResolverError {
                failures.append(error)
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                failures.append(ResolverError(steps[index].name, .other(error)))
            }
            if fallback == .never || context.loop.now >= context.deadline { break }
        }
        throw ResolverError(allOf: failures)
    }

    private func ask(
        _ index: Int,
        _ question: Question,
        _ context: ResolveContext
    ) async throws -> Resolution {
        let step = steps[index]
        var own = context
        if index < steps.count - 1, fallback != .never {
            let limit = context.loop.now.advanced(byNanoseconds: stepTimeout.clampedNanoseconds)
            own.deadline = min(limit, context.deadline)
        }
        let start = context.loop.now
        let answer: Result<Resolution, any Error>
        do throws(BlockingWork.Abandoned) {
            answer = try await supervised(until: own.deadline, on: own.loop) { [own] in
                do {
                    let answer = try await step.resolve(question.host, port: question.port, own)
                    guard !answer.endpoints.isEmpty else { throw ResolverError(step.name, .noAddresses) }
                    return .success(answer)
                } catch {
                    return .failure(error)
                }
            }
        } catch {
            guard error == .expired else { throw CancellationError() }
            throw ResolverError(step.name, .timedOut(after: context.loop.now.since(start)))
        }
        return try answer.get()
    }

    /// The answer, behind which the steps from `next` on are asked if its endpoints are all out of reach.
    private func extended(_ answer: Resolution, _ question: Question, by next: Int) -> Resolution {
        guard fallback == .onConnectFailure, next < steps.count else { return answer }
        var extended = answer
        let own = answer.fallback
        extended.fallback = { context in
            if let own, let answer = try? await own(context) {
                return self.extended(answer, question, by: next)
            }
            if Task.isCancelled { throw CancellationError() }
            return try await self.resolve(question, from: next, context)
        }
        return extended
    }
}

extension ResolverError {
    /// The last of them, with the others before it.
    init(allOf failures: [ResolverError]) {
        var earlier = failures
        guard var last = earlier.popLast() else {
            self.init("chain", .notListed)
            return
        }
        last.earlier = earlier + last.earlier
        self = last
    }
}
