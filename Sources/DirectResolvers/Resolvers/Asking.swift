internal import DirectCore
internal import DirectHTTP
internal import DirectIO

extension Resolver {
    /// Asks for one name, and stops waiting at the deadline of the context. A success has at least one
    /// endpoint, and more may come.
    ///
    /// - Throws: If the task was cancelled.
    func answer(
        to host: DomainName,
        port: UInt16,
        within context: ResolveContext
    ) async throws(CancellationError) -> Result<Resolution, ResolverError> {
        let answer = try await fallback(
            { try await firstAnswer(host, port: port, context: $0) },
            within: context
        )
        return answer.flatMap { $0.map { .success($0) } ?? .failure(ResolverError(name, .noAddresses)) }
    }

    /// Asks for several names. `deliver` gets each answer as soon as it has come, and the answer of each name
    /// once: a name without an answer at the deadline of the context has failed then, whatever the others
    /// did.
    ///
    /// - Throws: If the task was cancelled. The names that were not delivered have no answer then.
    func answers(
        to hosts: [DomainName],
        port: UInt16,
        within context: ResolveContext,
        deliver: @escaping @Sendable (DomainName, Result<Resolution, ResolverError>) -> Void
    ) async throws(CancellationError) {
        let open = Locked(Set(hosts))
        let name = name
        let deliverOnce: ResolveContext.Delivery = { host, answer in
            // A name whose wait was cancelled has not failed by that.
            if case .failure(is CancellationError) = answer, Task.isCancelled { return }
            guard open.withLock({ $0.remove(host) }) != nil else { return }
            deliver(host, answer.asResolvers(name))
        }
        var own = context
        own.delivery = deliverOnce
        let rest: ResolverError
        do throws(ForeignFailure) {
            let asked = own
            let all = try await context.ask { await resolve(hosts, port: port, context: asked) }
            for (host, answer) in all { deliverOnce(host, answer) }
            rest = ResolverError(name, .noAddresses)
        } catch {
            if case .cancelled = error { open.withLock { $0 = [] } }
            rest = try ResolverError(error, of: name)
        }
        for host in hosts { deliverOnce(host, .failure(rest)) }
    }
}

extension Result<Resolution, any Error> {
    /// The answer of a resolver to one of several questions.
    fileprivate func asResolvers(_ name: String) -> Result<Resolution, ResolverError> {
        switch self {
        case .success(let answer) where answer.endpoints.isEmpty: .failure(ResolverError(name, .noAddresses))
        case .success(let answer): .success(answer)
        case .failure(let error): .failure(ResolverError(error, of: name))
        }
    }
}

extension ResolveContext {
    /// The end of the wait for a resolver. One that knows its limit ends by it itself, and says why.
    var patience: Instant { limit?.patience ?? deadline }

    /// The moment until which someone waits for the answer as of now, or until which it is wanted.
    private var wantedUntil: Instant {
        let awaited = awaited?() ?? .never
        return loop.now < awaited ? min(awaited, deadline) : deadline
    }

    /// Returns the end of the share of one of `count` resolvers, whose time began at `start`, of the time
    /// that their callers have as of now: at most `limit`. No resolver counts as silent within a second.
    func shareEnd(from start: Instant, of limit: Duration, among count: Int) -> Instant {
        let end = wantedUntil
        let share = end == .never ? limit : min(limit, max(end.since(start) / max(1, count), .seconds(1)))
        return start.advanced(byNanoseconds: share.clampedNanoseconds).atMost(deadline)
    }

    /// Returns the share of one of `count` that are asked one after the other, so that the time that is left
    /// is enough for all of them: at most `limit`, and at least `least`.
    func share(of limit: Duration, among count: Int, least: Duration = .zero) -> Duration {
        let (now, last) = (loop.now, questionsEnd)
        let end = min(wantedUntil, last)
        guard end != .never else { return limit }
        return min(limit, max(end.since(now) / max(1, count), least), last.since(now))
    }
}
