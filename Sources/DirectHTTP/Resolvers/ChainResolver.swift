internal import DirectCore
internal import DirectIO

/// Asks one resolver, and the next ones when that one has failed.
///
/// ``Fallback`` alone decides whether and when the next resolver is asked. The system's resolver is a step like any
/// other: unless ``SystemResolver`` is part of the chain, no name ever reaches it.
public struct ChainResolver: Resolver {
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
    ///   - stepTimeout: The time limit for each resolver but the last one, so that time is left for those after it.
    ///     It does not apply if `fallback` is ``Fallback/never``.
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
    /// - Throws: The ``ResolverError`` of the last step that was asked, with those of the steps before it in
    ///   ``ResolverError/earlier``; `CancellationError` if the task was cancelled.
    public func resolve(
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
        var answers: [DomainName: Result<Resolution, any Error>] = [:]
        var failures: [DomainName: [ResolverError]] = [:]
        var rest = hosts
        for (index, step) in steps.enumerated() where !rest.isEmpty {
            let given = await ask(index, hosts: rest, port: port, context: context)
            for host in rest {
                let question = Question(host: host, port: port)
                switch given[host] {
                case .success(let answer) where !answer.endpoints.isEmpty:
                    answers[host] = .success(extended(answer, question: question, by: index + 1))
                case .failure(let error as ResolverError): failures[host, default: []].append(error)
                case .failure(let error) where error is CancellationError: answers[host] = .failure(error)
                case .failure(let error):
                    failures[host, default: []].append(ResolverError(step.name, .other(error)))
                default: failures[host, default: []].append(ResolverError(step.name, .noAddresses))
                }
            }
            rest = rest.filter { answers[$0] == nil }
            if fallback == .never || context.loop.now >= context.deadline { break }
        }
        for host in rest { answers[host] = .failure(ResolverError(allOf: failures[host] ?? [])) }
        return answers
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
                return extended(answer, question: Question(host: host, port: port), by: index + 1)
            } catch {
                failures.append(error)
                if fallback == .never { break }
            }
        }
        throw ResolverError(allOf: failures)
    }

    /// Passes the outcome to every step: each knows which endpoints it named.
    public func report(_ outcome: DialOutcome, of endpoint: Endpoint, for host: DomainName, port: UInt16) {
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
            do {
                let answer = try await ask(index, question: question, context: context)
                return extended(answer, question: question, by: index + 1)
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

    /// Returns the context of a step: one that is not the last has to leave time for the others.
    private func limited(_ context: ResolveContext, at index: Int) -> ResolveContext {
        guard index < steps.count - 1, fallback != .never else { return context }
        var own = context
        let limit = context.loop.now.advanced(byNanoseconds: stepTimeout.clampedNanoseconds)
        own.deadline = min(limit, context.deadline)
        return own
    }

    /// Asks one step.
    private func ask(
        _ index: Int,
        question: Question,
        context: ResolveContext
    ) async throws -> Resolution {
        let step = steps[index]
        return try await inTime(ofStep: index, context: context) { own in
            let answer = try await step.resolve(question.host, port: question.port, context: own)
            guard !answer.endpoints.isEmpty else { throw ResolverError(step.name, .noAddresses) }
            return answer
        }
    }

    /// Asks one step for several names.
    private func ask(
        _ index: Int,
        hosts: [DomainName],
        port: UInt16,
        context: ResolveContext
    ) async -> [DomainName: Result<Resolution, any Error>] {
        let step = steps[index]
        do {
            return try await inTime(ofStep: index, context: context) { own in
                await step.resolve(hosts, port: port, context: own)
            }
        } catch {
            return Dictionary(hosts.map { ($0, .failure(error)) }) { first, _ in first }
        }
    }

    /// Runs an operation of a step. A step that is not the last one has to end it within `stepTimeout`.
    private func inTime<Value: Sendable>(
        ofStep index: Int,
        context: ResolveContext,
        _ operation: @escaping @Sendable (ResolveContext) async throws -> Value
    ) async throws -> Value {
        let own = limited(context, at: index)
        let start = context.loop.now
        let outcome: Result<Value, any Error>
        do throws(BlockingWork.Abandoned) {
            outcome = try await supervised(until: own.deadline, on: own.loop) {
                do { return .success(try await operation(own)) } catch { return .failure(error) }
            }
        } catch {
            guard error == .expired else { throw CancellationError() }
            throw ResolverError(steps[index].name, .timedOut(after: context.loop.now.since(start)))
        }
        return try outcome.get()
    }

    /// Returns the answer with a fallback: if no endpoint of it can be reached, the steps from `next` on are asked.
    private func extended(_ answer: Resolution, question: Question, by next: Int) -> Resolution {
        guard fallback == .onConnectFailure, next < steps.count else { return answer }
        var extended = answer
        let own = answer.fallback
        extended.fallback = { context in
            if let own, let answer = try? await self.inTime(ofStep: next - 1, context: context, own) {
                return self.extended(answer, question: question, by: next)
            }
            if Task.isCancelled { throw CancellationError() }
            return try await self.resolve(question, from: next, context: context)
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
