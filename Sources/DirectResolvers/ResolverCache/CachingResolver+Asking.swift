internal import DirectCore
internal import DirectHTTP
internal import DirectIO

extension CachingResolver {
    /// What is wrong with the table's answer. The table is looked at again when a question is about to begin:
    /// the answer to another one may have arrived since.
    enum Want {
        /// There is no valid answer.
        case missing
        /// The answer is stale, or in the last tenth of its time, or lacks a part.
        case outdated
        /// No connection could be made to any of these endpoints, however fresh the answer is.
        case useless([Endpoint])
    }

    /// Asks the resolver, or joins a question for the same name that is already under way, and waits for the
    /// answer.
    func ask(
        _ host: DomainName,
        port: UInt16,
        context: ResolveContext,
        for want: Want
    ) async throws -> Resolution {
        let waiter = InFlightQuery.Waiter(loop: context.loop)
        guard let query = join(host, port: port, waiter: waiter, context: context, for: want) else {
            // Between the caller's look-up and this one, the answer has arrived. Or there is no other one
            // now.
            if let reason = denial(host, port: port, context.scheme) {
                throw ResolverError(upstream.name, reason)
            }
            var known = try await publish(host, port: port, context: context)
            if case .useless(let tried) = want, !known.hasOthers(than: tried) { known.fallback = nil }
            return known
        }
        return try await answer(of: query, after: 0, as: waiter, within: context)
    }

    private func denial(_ host: DomainName, port: UInt16, _ scheme: HTTPURL.Scheme) -> ResolverError.Reason? {
        let (key, now) = (key(host, port: port, scheme), now)
        guard case .denial(let reason) = state.withLock({ $0.find(key, at: now) }) else { return nil }
        return reason
    }

    /// Returns the answer of the other resolver. The resolver behind the cache, which is being asked, is its
    /// fallback, and its substitute if it fails.
    func answer(
        of other: any Resolver,
        _ host: DomainName,
        port: UInt16,
        context: ResolveContext
    ) async throws -> Resolution {
        switch try await other.answer(to: host, port: port, within: context) {
        case .success(let answer):
            return answer.mapped { [self] answer in
                var answer = answer
                answer.isProvisional = true
                answer.fallback = { [self, next = answer.fallback] context in
                    do {
                        return try await ask(host, port: port, context: context, for: .missing)
                    } catch let error as ResolverError {
                        guard var last = try await next?(context) else { throw error }
                        last.failures.append(error)
                        return last
                    }
                }
                return answer
            }
        case .failure(let failure):
            do {
                var answer = try await ask(host, port: port, context: context, for: .missing)
                answer.failures.append(failure)
                return answer
            } catch let error as ResolverError {
                throw ResolverError(allOf: [error, failure])
            }
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

    /// Asks for the next answer in the background while the current one is still in use.
    ///
    /// - Parameter caller: The context of the caller that has shown the need.
    func refresh(_ host: DomainName, port: UInt16, as caller: ResolveContext, for want: Want) {
        let context = ResolveContext(
            caller.scheme,
            deadline: .never,
            loop: caller.loop,
            threads: caller.threads
        )
        _ = join(host, port: port, waiter: nil, context: context, for: want)
    }

    /// Asks in the background, unless the table has an answer, positive or negative, that has not expired.
    func askForNextTime(_ host: DomainName, port: UInt16, as caller: ResolveContext) {
        refresh(host, port: port, as: caller, for: .missing)
    }

    /// Returns a cached answer that lacks a family with the wait for it, which is being asked for.
    func withRest(_ answer: Resolution, host: DomainName, port: UInt16, as caller: ResolveContext)
        -> Resolution
    {
        guard answer.lacks.contains(.family) else { return answer }
        var answer = answer
        answer.rest = { [self] in
            let context = ResolveContext(
                caller.scheme,
                deadline: .never,
                loop: caller.loop,
                threads: caller.threads
            )
            return try? await ask(host, port: port, context: context, for: .outdated)
        }
        return answer
    }

    /// Returns a cached answer with a fallback. A cached answer may be outdated: when none of its endpoints
    /// can be reached, the resolver is asked again, and the fallback of that answer comes next.
    func withFallback(_ answer: Resolution, host: DomainName, port: UInt16) -> Resolution {
        var answer = answer
        let tried = answer.endpoints
        if let other = settings.whileAsking.other {
            answer.fallback = { [self] context in
                refresh(host, port: port, as: context, for: .useless(tried))
                return try await other.firstAnswer(host, port: port, context: context)
            }
            return answer
        }
        answer.fallback = { [self] context in
            let other = try await ask(host, port: port, context: context, for: .useless(tried))
            return other.hasOthers(than: tried) ? other : try await other.fallback?(context)
        }
        return answer
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
        let key = key(host, port: port, context.scheme)
        let now = now
        return state.withLock { state in
            guard state.lacks(want, key, at: now) else { return nil }
            if let query = state.queries[key] {
                query.awaitedUntil = max(query.awaitedUntil, context.deadline)
                if let waiter { query.join(waiter) } else { query.isWanted = true }
                return query
            }
            let query = InFlightQuery(key, generation: state.generation, isWanted: waiter == nil, want)
            query.awaitedUntil = context.deadline
            if let waiter { query.join(waiter) }
            state.queries[key] = query
            // Not on the first caller's executor: others wait for the answer as well.
            query.task = Task(executorPreference: context.threads) {
                await self.run(query, host: host, port: port, for: context)
            }
            return query
        }
    }

    /// Removes a waiter that stopped waiting, and cancels the query if that was the last one.
    ///
    /// - Parameter wantsAnswer: Whether the waiter only had no more time. The query goes on for its next
    ///   question then, within its own limit: it might need longer than any caller has.
    private func leave(_ query: InFlightQuery, waiter: InFlightQuery.Waiter, wantsAnswer: Bool) {
        let task = state.withLock { state -> Task<Void, Never>? in
            if wantsAnswer { query.isWanted = true }
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
        var context = ResolveContext(first.scheme, within: settings.queryTimeout, on: first.loop)
        context.threads = first.threads
        context.awaited = { [state] in state.withLock { _ in query.awaitedUntil } }
        let answer: InFlightQuery.Outcome
        var failure: ResolverError?
        do throws(CancellationError) {
            var given = try await upstream.answer(to: host, port: port, within: context)
            while case .success(let part) = given, let rest = part.rest {
                if query.want.isMet(by: part) { publish(part, for: query) }
                guard let more = await more(rest, within: context) else { break }
                given = .success(more)
            }
            answer = try await other(instead: given, failure: &failure, for: query, within: context).mapError
            { $0 }
        } catch {
            answer = .failure(error)
        }
        complete(query, answer: answer, failure: failure)
    }

    /// Returns the fallback of an answer that names only useless endpoints, or else that answer. So all
    /// callers for whom the old answer was useless share one question to each resolver of a chain.
    ///
    /// - Parameter failure: Set to the reason why the fallback gave no answer.
    private func other(
        instead given: Result<Resolution, ResolverError>,
        failure: inout ResolverError?,
        for query: InFlightQuery,
        within context: ResolveContext
    ) async throws(CancellationError) -> Result<Resolution, ResolverError> {
        guard case .useless(let tried) = query.want, case .success(var answer) = given,
            !answer.hasOthers(than: tried), let next = answer.fallback
        else { return given }
        switch try await upstream.fallback(next, within: context) {
        case .success(let other?): return .success(other)
        case .success(nil): break
        case .failure(let error): failure = error
        }
        answer.fallback = nil
        return .success(answer)
    }

    /// Waits for more of an answer, within the limit of the query.
    private func more(
        _ rest: @escaping @Sendable () async -> Resolution?,
        within context: ResolveContext
    ) async -> Resolution? {
        try? await askForeignCode(
            until: context.deadline,
            on: context.loop,
            executor: context.threads
        ) { await rest() }
    }

    /// Gives a part of the answer to all waiters.
    private func publish(_ part: Resolution, for query: InFlightQuery) {
        let waiters = state.withLock { _ in
            var part = part
            part.rest = nil
            return query.publish(remembering(part, for: query.key, of: query.generation))
        }
        for waiter in waiters { waiter.turn.input.signal() }
    }

    /// Ends a query: keeps its result in the table and wakes all waiters, outside the lock.
    ///
    /// - Parameter failure: What the waiters get from the answer's fallback, which was asked and has failed.
    private func complete(_ query: InFlightQuery, answer: InFlightQuery.Outcome, failure: ResolverError?) {
        let now = now
        let (waiters, hasChanged) = state.withLock { state -> ([InFlightQuery.Waiter], Bool) in
            if state.queries[query.key] === query { state.queries[query.key] = nil }
            var answer = answer
            if case .success(var whole) = answer {
                whole.rest = nil
                answer = .success(whole)
            }
            let isKept = state.keep(&answer, for: query.key, of: query.generation, at: now)
            let given = answer.map { answer in
                var answer = remembering(answer, for: query.key, of: query.generation)
                if let failure { answer.fallback = { _ in throw failure } }
                return answer
            }
            return (query.complete(given), isKept)
        }
        for waiter in waiters { waiter.turn.input.signal() }
        if hasChanged { saveSoon() }
    }

    /// Returns the answer with a fallback whose result replaces it in the table, so that the next request
    /// need not find out again that the endpoints cannot be reached.
    private func remembering(_ answer: Resolution, for key: AnswerKey, of generation: Int) -> Resolution {
        guard let ask = answer.fallback else { return answer }
        var answer = answer
        answer.fallback = { [self] context in
            guard let next = try await ask(context) else { return nil }
            var answer = InFlightQuery.Outcome.success(next)
            let now = now
            let hasChanged = state.withLock { $0.keep(&answer, for: key, of: generation, at: now) }
            if hasChanged { saveSoon() }
            return remembering(try answer.get(), for: key, of: generation)
        }
        return answer
    }
}

extension CachingResolver.Contents {
    /// Whether the answer for this key is wanted.
    fileprivate func lacks(_ want: CachingResolver.Want, _ key: AnswerKey, at now: Instant) -> Bool {
        switch want {
        case .missing: return !table.holds(key, at: now)
        case .outdated:
            switch table.find(key, at: now) {
            case .answer(_, let wantsRefresh): return wantsRefresh
            case .denial: return false
            case .nothing: return true
            }
        case .useless(let tried):
            if case .answer(let answer, _) = table.find(key, at: now) {
                if answer.hasOthers(than: tried) { return false }
                if answer.lacks.contains(.family) { return true }
            }
            return !isPaused(key, at: now) && !table.isNewAndLast(key, at: now)
        }
    }
}

extension CachingResolver.Want {
    /// Whether a part of an answer is worth giving.
    fileprivate func isMet(by part: Resolution) -> Bool {
        if case .useless(let tried) = self { part.hasOthers(than: tried) } else { true }
    }
}

extension Resolution {
    /// Whether there is an endpoint that is not one of these.
    fileprivate func hasOthers(than tried: [Endpoint]) -> Bool {
        endpoints.contains { !tried.contains($0) }
    }
}
