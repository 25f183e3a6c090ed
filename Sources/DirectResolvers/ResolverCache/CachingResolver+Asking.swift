internal import DirectCore
internal import DirectHTTP
internal import DirectIO

extension CachingResolver {
    /// Asks for the answer that comes after another one.
    typealias Ask = @Sendable (ResolveContext) async throws -> Resolution?

    /// A reason for a question, other than a table with no answer or a worn one. The table is looked at again
    /// when the question is about to begin: the answer to another one may have arrived since.
    struct Want: Sendable {
        /// The endpoints to none of which a connection could be made, however fresh the answer is.
        var useless: Set<Endpoint> = []
        /// The fallback of the answer that has them; `nil` if the resolver is asked.
        var next: Ask?
        /// Whether all who ask refuse some of the endpoints, which are of use to others: what comes after
        /// them does not take their place.
        var isForCallerAlone = false
    }

    /// Asks the resolver, or joins a question for the same name that is already under way, and waits for the
    /// answer.
    func ask(
        _ host: DomainName,
        port: UInt16,
        context: ResolveContext,
        for want: Want = Want()
    ) async throws -> Resolution {
        let waiter = InFlightQuery.Waiter(loop: context.loop)
        if want.isForCallerAlone, let next = next(after: key(host, port: port, context)),
            want.isMet(by: next)
        {
            return next
        }
        guard let query = join(host, port: port, waiter: waiter, context: context, for: want) else {
            // Between the caller's look-up and this one, the answer has arrived. Or there is no other one
            // now.
            if let reason = denial(host, port: port, context) {
                throw ResolverError(upstream.name, reason)
            }
            var known = try await publish(host, port: port, context: context)
            if !want.isMet(by: known) { known.fallback = nil }
            return known
        }
        return try await answer(of: query, after: 0, as: waiter, within: context)
    }

    private func next(after key: AnswerKey) -> Resolution? {
        let now = now
        return state.withLock { $0.table.next(after: key, at: now) }
    }

    private func denial(_ host: DomainName, port: UInt16, _ context: ResolveContext) -> ResolverError.Reason?
    {
        let (key, now) = (key(host, port: port, context), now)
        guard case .denial(let reason) = state.withLock({ $0.table.find(key, at: now) }) else { return nil }
        return reason
    }

    /// Returns the answer of the other resolver, or of the one behind the cache, whichever comes first. That
    /// of the latter comes after the other's, and is its fallback.
    func answer(
        of other: any Resolver,
        _ host: DomainName,
        port: UInt16,
        context: ResolveContext
    ) async throws -> Resolution {
        let (publication, answers) = (Publication(on: context.loop), Locked(TwoAnswers()))
        let note = { @Sendable (change: (inout TwoAnswers) -> Void) in
            let known = answers.withLock { answers in
                change(&answers)
                return answers
            }
            if let joined = known.joined { publication.publish(joined, isComplete: known.areComplete) }
        }
        let asking = Asking([
            Task(executorPreference: context.threads) { [self] in
                do {
                    let own = try await ask(host, port: port, context: context).mapped { answer in
                        var answer = answer
                        answer.fallback = { [next = answer.fallback] context in
                            if let more = try? await next?(context) { return more }
                            return try await other.firstAnswer(host, port: port, context: context)
                        }
                        return answer
                    }
                    note { $0.own = .success(own) }
                } catch {
                    note { $0.own = .failure(error) }
                }
            },
            Task(executorPreference: context.threads) {
                guard var answer = try? await other.answer(to: host, port: port, within: context) else {
                    return
                }
                note { [answer] in $0.other = answer }
                while case .success(var part) = answer, let rest = part.rest {
                    // At its end nothing more comes.
                    part.rest = nil
                    answer = .success(await rest() ?? part)
                    note { [answer] in $0.other = answer }
                }
            },
        ])
        return try await publication.outcome(of: asking)
    }

    /// The answers of the resolver behind the cache, and of the one that answers meanwhile.
    private struct TwoAnswers {
        var own: InFlightQuery.Outcome?
        var other: Result<Resolution, ResolverError>?

        /// What the caller gets; `nil` while there is nothing.
        var joined: InFlightQuery.Outcome? {
            switch (own, other) {
            case (.success(var answer)?, _):
                if case .failure(let failure)? = other { answer.failures.append(failure) }
                return .success(answer)
            case (_, .success(var answer)?):
                answer.isProvisional = true
                guard case .failure(let error as ResolverError)? = own else { return .success(answer) }
                answer.fallback = { [next = answer.fallback] context in
                    guard var last = try await next?(context) else { throw error }
                    last.failures.append(error)
                    return last
                }
                return .success(answer)
            case (.failure(let error as ResolverError)?, .failure(let failure)?):
                return .failure(ResolverError(allOf: [error, failure]))
            case (.failure(let error)?, .failure?): return .failure(error)
            case (nil, _), (_, nil): return nil
            }
        }

        /// Whether nothing more will come.
        var areComplete: Bool {
            guard case .failure? = own, case .success(let part)? = other else { return own != nil }
            return part.rest == nil
        }
    }

    /// Waits for the answer, or for more of it than the first parts.
    private func answer(
        of query: InFlightQuery,
        after parts: Int,
        as waiter: InFlightQuery.Waiter,
        within context: ResolveContext
    ) async throws -> Resolution {
        let start = context.loop.now
        context.loop.add(waiter.turn)
        defer { context.loop.remove(waiter.turn) }
        context.limit?.onBegin { waiter.turn.input.signal() }
        var wake = WaitPoint.Wake.ready
        while true {
            let answer = state.withLock { _ -> InFlightQuery.Outcome? in
                if let answer = waiter.answer { return answer }
                guard query.parts > parts, let part = query.part else { return nil }
                _ = query.leave(waiter)
                return .success(withMore(part, of: query))
            }
            if let answer { return try answer.get() }
            switch wake {
            case .expired where context.loop.now < context.deadline: wake = .ready
            case .ready: wake = await waiter.turn.waitForSignal(until: context.deadline)
            case .cancelled:
                leave(query, waiter: waiter, wantsAnswer: false)
                throw CancellationError()
            case .expired:
                leave(query, waiter: waiter, wantsAnswer: true)
                throw ResolverError(name, .timedOut(after: context.loop.now.since(start)))
            }
        }
    }

    /// Returns a part of an answer, with the wait for more.
    private func withMore(_ part: Resolution, of query: InFlightQuery) -> Resolution {
        var answer = part
        answer.rest = { [self, parts = query.parts] in
            let waiter = InFlightQuery.Waiter(loop: loop)
            let known = state.withLock { _ in
                if query.outcome == nil { query.join(waiter) }
                return query.outcome
            }
            if let known { return try? known.get() }
            let context = ResolveContext(.https, deadline: .never, loop: loop)
            return try? await self.answer(of: query, after: parts, as: waiter, within: context)
        }
        return answer
    }

    /// Asks for the next answer in the background, if there is none or while the current one is still in use.
    ///
    /// - Parameter caller: The context of the caller that has shown the need.
    func refresh(_ host: DomainName, port: UInt16, as caller: ResolveContext, for want: Want = Want()) {
        _ = join(host, port: port, waiter: nil, context: caller.unlimited, for: want)
    }

    /// Returns a cached answer that lacks a family with the wait for it, which is being asked for.
    func withRest(_ answer: Resolution, host: DomainName, port: UInt16, as caller: ResolveContext)
        -> Resolution
    {
        guard answer.lacks.contains(.family) else { return answer }
        var answer = answer
        answer.rest = { [self] in try? await ask(host, port: port, context: caller.unlimited) }
        return answer
    }

    /// Returns an answer with a fallback: when none of its endpoints can be reached, all callers share one
    /// question for the answer that comes after it, which takes its place in the table. A cached answer may
    /// be outdated, so the resolver is asked again then.
    ///
    func withFallback(_ answer: Resolution, host: DomainName, port: UInt16) -> Resolution {
        var answer = answer
        // A set, made where it is needed: a service may name thousands of endpoints.
        let tried = answer.endpoints
        if let other = settings.whileAsking.other {
            answer.fallback = { [self] context in
                if !context.isForCallerAlone {
                    refresh(host, port: port, as: context, for: Want(useless: Set(tried)))
                }
                return try await other.firstAnswer(host, port: port, context: context)
            }
        } else {
            answer.fallback = { [self] in
                try await next(host, port: port, context: $0, for: Want(useless: Set(tried)))
            }
        }
        return answer
    }

    /// The same for the answer of a query, whose own fallback comes next.
    private func withFallback(_ answer: Resolution, of query: InFlightQuery, port: UInt16) -> Resolution {
        guard let own = answer.fallback else { return answer }
        var answer = answer
        let tried = answer.endpoints
        // Not the query, which holds the answer.
        answer.fallback = { [self, known = query.generation, host = query.key.host] context in
            // An answer from another network is not kept.
            guard known == generation else { return try await own(context) }
            let want = Want(useless: Set(tried), next: own)
            return try await next(host, port: port, context: context, for: want)
        }
        return answer
    }

    private func next(_ host: DomainName, port: UInt16, context: ResolveContext, for want: Want) async throws
        -> Resolution?
    {
        var want = want
        want.isForCallerAlone = context.isForCallerAlone
        let answer = try await ask(host, port: port, context: context, for: want)
        return want.isMet(by: answer) ? answer : try await answer.fallback?(context)
    }

    /// The number of calls of ``forgetAll()`` so far.
    var generation: Int { state.withLock { $0.generation } }

    /// Keeps an answer that was not asked for by a query of the cache.
    func keep(_ answer: InFlightQuery.Outcome, for key: AnswerKey, of generation: Int) {
        var answer = answer
        let now = now
        if state.withLock({ $0.keep(&answer, for: key, of: generation, at: now) }) { saveSoon() }
    }

    /// Joins the query for this key that is in flight, or starts one. Without a waiter the answer is wanted
    /// for the cache alone.
    ///
    /// Returns `nil` if the table's answer is not what is wrong.
    private func join(
        _ host: DomainName,
        port: UInt16,
        waiter: InFlightQuery.Waiter?,
        context: ResolveContext,
        for want: Want
    ) -> InFlightQuery? {
        let key = key(host, port: port, context)
        let (now, deadline, latest) = (now, context.deadline, context.latestEnd)
        return state.withLock { state in
            guard state.table.wantsQuestion(for: key, besides: want.useless, at: now) else { return nil }
            // A caller that refuses nothing joins no query of those that do: its answer is the one after
            // theirs. Its own query takes that place.
            let known = state.queries[key].flatMap {
                $0.want.isForCallerAlone && !want.isForCallerAlone ? nil : $0
            }
            let query =
                known ?? InFlightQuery(key, generation: state.generation, isWanted: waiter == nil, want)
            query.awaited.withLock { $0 = (max($0.deadline, deadline), max($0.latest, latest)) }
            if let waiter { query.join(waiter) } else { query.isWanted = true }
            if known == nil { query.limit = limit(of: query, on: context.loop) }
            if let own = context.limit { query.limit?.lead(own) }
            guard known == nil else { return query }
            state.queries[key] = query
            // Not on the first caller's executor: others wait for the answer as well.
            query.task = Task(executorPreference: context.threads) {
                await self.run(query, host: host, port: port, for: context)
            }
            return query
        }
    }

    private func limit(of query: InFlightQuery, on loop: EventLoop) -> QuestionLimit {
        let time = settings.queryTimeout
        let (usual, awaited) = (loop.now.advanced(byNanoseconds: time.clampedNanoseconds), query.awaited)
        return QuestionLimit(time, on: loop) { max(usual, awaited.withLock { $0.latest }) }
    }

    /// Removes a waiter that stopped waiting, and cancels the query if that was the last one.
    ///
    /// - Parameter wantsAnswer: Whether the waiter only had no more time. The query goes on for its next
    ///   question then, within its own limit: it might need longer than any caller has. One that was not sent
    ///   yet makes room for those that are awaited.
    private func leave(_ query: InFlightQuery, waiter: InFlightQuery.Waiter, wantsAnswer: Bool) {
        let task = state.withLock { state -> Task<Void, Never>? in
            if wantsAnswer, query.limit.map({ $0.start != nil }) ?? true { query.isWanted = true }
            guard query.leave(waiter) else { return nil }
            // The query is cancelled, so later callers have to start one of their own.
            if state.queries[query.key] === query { state.queries[query.key] = nil }
            return query.task
        }
        task?.cancel()
    }

    /// Runs a query within the time limit of the settings, and delivers its result.
    ///
    /// - Parameter first: The context of the caller that began it.
    private func run(
        _ query: InFlightQuery,
        host: DomainName,
        port: UInt16,
        for first: ResolveContext
    ) async {
        var context = first.unlimited
        context.awaited = { [awaited = query.awaited] in awaited.withLock { $0.deadline } }
        context.limit = state.withLock { _ in query.limit }
        do throws(CancellationError) {
            var (next, known) = (query.want.next, nil as Resolution?)
            if next == nil {
                let first = try await upstream.answer(to: host, port: port, within: context)
                let answer = await whole(first, for: query, port: port, within: context)
                known = try? answer.get()
                // What is of no use to those who ask is named again: they want what comes after it.
                if let known, !query.want.isMet(by: known) { next = known.fallback }
                guard next != nil else { return complete(query, answer, port: port) }
                keep(answer, for: query.key, of: query.generation)
            }
            guard let next else { return }
            let failure: ResolverError
            switch try await upstream.fallback(next, within: context) {
            case .success(let other?):
                let answer = await whole(.success(other), for: query, port: port, within: context)
                return complete(query, answer, isNext: true, port: port)
            case .success(nil): failure = ResolverError(upstream.name, .noAddresses)
            case .failure(let error): failure = error
            }
            known?.fallback = { _ in throw failure }
            complete(query, known.map { .success($0) } ?? .failure(failure), isKept: false, port: port)
        } catch {
            complete(query, .failure(error), port: port)
        }
    }

    /// Gives the parts of an answer to all waiters as they come, and returns all of it, within the limit of
    /// the query.
    private func whole(
        _ first: Result<Resolution, ResolverError>,
        for query: InFlightQuery,
        port: UInt16,
        within context: ResolveContext
    ) async -> InFlightQuery.Outcome {
        var given = first
        while case .success(var part) = given, let rest = part.rest {
            part.rest = nil
            if query.want.isMet(by: part) {
                let waiters = state.withLock { _ in
                    // For those who refuse some addresses the table does not go on to this answer.
                    query.publish(
                        query.want.isForCallerAlone ? part : withFallback(part, of: query, port: port)
                    )
                }
                for waiter in waiters { waiter.turn.input.signal() }
            }
            given = .success(part)
            guard
                let more = try? await context.ask({ await rest() })
            else { break }
            given = .success(more)
        }
        return given.mapError { $0 }
    }

    /// Ends a query: keeps its result in the table and wakes all waiters, outside the lock.
    ///
    /// - Parameters:
    ///   - isKept: Whether it is an answer of the resolver, and not the failure of a fallback.
    ///   - isNext: Whether it comes after an answer that the table may have.
    private func complete(
        _ query: InFlightQuery,
        _ outcome: InFlightQuery.Outcome,
        isKept: Bool = true,
        isNext: Bool = false,
        port: UInt16
    ) {
        let now = now
        let (waiters, hasChanged) = state.withLock { state -> ([InFlightQuery.Waiter], Bool) in
            if state.queries[query.key] === query { state.queries[query.key] = nil }
            guard isKept, !(isNext && query.want.isForCallerAlone) else {
                if let answer = try? outcome.get() { state.note(answer, after: query, at: now) }
                return (query.complete(outcome), false)
            }
            var answer = outcome
            let hasChanged = state.keep(&answer, for: query.key, of: query.generation, at: now)
            let given = answer.map { withFallback($0, of: query, port: port) }
            return (query.complete(given), hasChanged)
        }
        for waiter in waiters { waiter.turn.input.signal() }
        if hasChanged { saveSoon() }
    }
}

extension CachingResolver.Want {
    /// Whether an answer, or a part of it, is worth giving.
    fileprivate func isMet(by answer: Resolution) -> Bool {
        useless.isEmpty || answer.hasOthers(than: useless)
    }
}

extension ResolveContext {
    /// The same for a question that goes on as long as it is wanted.
    fileprivate var unlimited: ResolveContext {
        var context = self
        (context.deadline, context.limit) = (.never, nil)
        (context.awaited, context.delivery) = (nil, nil)
        return context
    }
}
