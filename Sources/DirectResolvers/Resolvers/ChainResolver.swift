internal import DirectCore
public import DirectHTTP
internal import DirectIO

/// Asks one resolver, and the next ones when that one has failed.
///
/// ``Fallback`` alone decides whether and when the next resolver is asked. The system's resolver is a step
/// like any other: unless `SystemResolver` is part of the chain, no name ever reaches it.
public struct ChainResolver: Resolver, PublishingResolver {
    /// The condition on which the next resolver is asked.
    public enum Fallback: Hashable, Sendable {
        /// Never: the first resolver's answer is final.
        case never
        /// When the previous resolver says that the name has no address, or fails.
        case onResolveFailure
        /// Also when the previous resolver has addresses, and no connection to any of them succeeds.
        case onConnectFailure
    }

    /// The names of all steps, such as `dns.example, then system`.
    public let name: String
    private let steps: [any Resolver]
    private let fallback: Fallback
    private let stepTimeout: Duration

    /// Creates a chain of resolvers, in order of preference.
    ///
    /// - Parameters:
    ///   - first: The resolver that is asked first.
    ///   - others: The resolvers that are asked after it, in this order.
    ///   - fallback: The condition on which the next resolver is asked.
    ///   - stepTimeout: The time limit for each resolver but the last one, so that time is left for those
    ///     after it. It begins when the question is sent: one that waits on this side, for a connection, a
    ///     thread or a descriptor, goes to no other resolver for that. A caller may have less time: then each
    ///     has an equal share of it, but at least a second, because a resolver is not silent for a caller's
    ///     haste. It does not apply if `fallback` is ``Fallback/never``.
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

    /// Whether the answer of any step may differ from port to port.
    public var dependsOnPort: Bool { steps.contains { $0.dependsOnPort } }
    /// Whether any step may ask the system's resolver.
    public var mayAskSystem: Bool { steps.contains { $0.mayAskSystem } }

    /// Asks the steps in order, and returns the first answer that has addresses.
    ///
    /// - Throws: The `ResolverError` of the last step that was asked, with those of the steps before it in
    ///   `ResolverError.earlier`; `CancellationError` if the task was cancelled.
    public func resolve(
        _ host: DomainName,
        port: UInt16,
        context: ResolveContext
    ) async throws -> Resolution {
        try await wholeAnswer(host, port: port, context: context)
    }

    /// Asks the steps in order, and returns the first addresses.
    package func publish(
        _ host: DomainName,
        port: UInt16,
        context: ResolveContext
    ) async throws -> Resolution {
        try await resolve(Question(host: host, port: port), from: 0, context: context)
    }

    /// Asks the first step for all names, and the next ones for those that it could not answer.
    public func resolve(_ hosts: [DomainName], port: UInt16, context: ResolveContext) async
        -> [DomainName: Result<Resolution, any Error>]
    {
        let answers = Locked<[DomainName: Result<Resolution, any Error>]>([:])
        let failures = Locked<[DomainName: [ResolverError]]>([:])
        let give: ResolveContext.Delivery = { host, answer in
            answers.withLock { $0[host] = answer }
            context.delivery?(host, answer)
        }
        var rest = hosts
        for (index, step) in steps.enumerated() where !rest.isEmpty {
            do throws(CancellationError) {
                let own = limited(context, at: index)
                try await step.answers(to: rest, port: port, within: own) { host, answer in
                    switch answer {
                    case .success(let answer):
                        let earlier = failures.withLock { $0[host] } ?? []
                        let question = Question(host: host, port: port)
                        give(host, .success(extended(answer, after: earlier, question, by: index + 1)))
                    case .failure(let error):
                        let all = failures.withLock { failures in
                            failures[host, default: []].append(error)
                            return failures[host] ?? []
                        }
                        if error.reason.isOurs { give(host, .failure(ResolverError(allOf: all))) }
                    }
                }
            } catch {
                for host in rest where answers.withLock({ $0[host] == nil }) { give(host, .failure(error)) }
            }
            rest = rest.filter { host in answers.withLock { $0[host] == nil } }
            if fallback == .never || context.loop.now >= context.deadline { break }
        }
        for host in rest {
            give(host, .failure(ResolverError(allOf: failures.withLock { $0[host] } ?? [])))
        }
        return answers.withLock { $0 }
    }

    /// Returns the answer that the steps have at hand; `nil` as soon as a step would have to be asked.
    public func knownAnswer(
        for host: DomainName,
        port: UInt16,
        context: ResolveContext
    ) throws(ResolverError) -> Resolution? {
        var failures: [ResolverError] = []
        for (index, step) in steps.enumerated() {
            do throws(ResolverError) {
                guard let answer = try step.knownAnswer(for: host, port: port, context: context) else {
                    return nil
                }
                return extended(answer, after: failures, Question(host: host, port: port), by: index + 1)
            } catch {
                failures.append(error)
                if fallback == .never { break }
            }
        }
        throw ResolverError(allOf: failures)
    }

    /// Passes the outcome to every step: each knows which endpoints it named.
    public func report(
        _ outcome: Result<Duration, any Error>,
        of endpoint: Endpoint,
        for host: DomainName,
        port: UInt16
    ) {
        for step in steps { step.report(outcome, of: endpoint, for: host, port: port) }
    }

    /// Makes every step forget its answers.
    public func forgetAll() {
        for step in steps { step.forgetAll() }
    }

    private struct Question: Sendable {
        var host: DomainName
        var port: UInt16
    }

    /// Asks the steps from `first` on until one has addresses.
    private func resolve(
        _ question: Question,
        from first: Int,
        context: ResolveContext
    ) async throws -> Resolution {
        var failures: [ResolverError] = []
        for index in first..<steps.count {
            switch try await answer(of: index, to: question, within: context) {
            case .success(let answer): return extended(answer, after: failures, question, by: index + 1)
            case .failure(let error): failures.append(error)
            }
            let isOurs = failures.last?.reason.isOurs == true
            if fallback == .never || isOurs || context.loop.now >= context.deadline { break }
        }
        throw ResolverError(allOf: failures)
    }

    /// Asks one step.
    private func answer(
        of index: Int,
        to question: Question,
        within context: ResolveContext
    ) async throws(CancellationError) -> Result<Resolution, ResolverError> {
        let (step, own) = (steps[index], limited(context, at: index))
        do throws(ForeignFailure) {
            let answer = try await own.ask(whileBefore: { own.patience.atMost(context.deadline) }) {
                try await step.firstAnswer(question.host, port: question.port, context: own)
            }
            return answer.endpoints.isEmpty
                ? .failure(ResolverError(step.name, .noAddresses)) : .success(answer)
        } catch {
            return .failure(try ResolverError(error, of: step.name))
        }
    }

    /// Returns the context of a step: one that is not the last has to leave time for the others. Its time
    /// ends earlier than its limit if all callers have too little, and later again when one comes that has
    /// more.
    private func limited(_ context: ResolveContext, at index: Int) -> ResolveContext {
        var own = context
        own.delivery = nil
        guard index < steps.count - 1, fallback != .never else { return own }
        own.limit = QuestionLimit(
            on: context.loop,
            within: context.limit,
            endAfter: { [stepTimeout, rest = steps.count - index] start in
                context.shareEnd(from: start, of: stepTimeout, among: rest)
            },
            whileWaiting: { context.deadline }
        )
        return own
    }

    /// Returns the answer of a step, and what comes later of it, with the failures of the steps before it,
    /// and with a fallback: if no endpoint of it can be reached, the steps from `next` on are asked.
    private func extended(
        _ answer: Resolution,
        after failures: [ResolverError],
        _ question: Question,
        by next: Int
    ) -> Resolution {
        answer.mapped { answer in
            var extended = answer
            extended.failures = failures + answer.failures
            return withFallback(extended, question, by: next)
        }
    }

    private func withFallback(_ answer: Resolution, _ question: Question, by next: Int) -> Resolution {
        var extended = answer
        guard fallback == .onConnectFailure, next < steps.count else { return extended }
        extended.fallback = { [other = answer.fallback] context in
            var failures: [ResolverError] = []
            if let other {
                let own = self.limited(context, at: next - 1)
                switch try await self.steps[next - 1].fallback(other, within: own) {
                case .success(let answer?): return self.extended(answer, after: [], question, by: next)
                case .success(nil): break
                case .failure(let error): failures = [error]
                }
            }
            var answer = try await self.resolve(question, from: next, context: context)
            answer.failures = failures + answer.failures
            return answer
        }
        return extended
    }
}

extension ResolverError {
    /// The last of the failures, with the others as its earlier ones.
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
