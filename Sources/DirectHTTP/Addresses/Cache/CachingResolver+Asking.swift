internal import DirectIO

extension CachingResolver {
    /// The resolver's answer, together with all others who ask for it now; `anew` even if one has just come.
    func ask(
        _ host: DomainName,
        _ port: UInt16,
        _ context: ResolveContext,
        anew: Bool
    ) async throws -> Resolution {
        let start = context.loop.now
        let waiter = Flight.Waiter(loop: context.loop)
        context.loop.add(waiter.turn)
        defer { context.loop.remove(waiter.turn) }
        guard let flight = board(host, port, waiter, context.loop, anew: anew) else {
            // Between our look and our question the answer has come.
            return try await resolve(host, port: port, context)
        }
        while true {
            let wake = await waiter.turn.input.wait(until: context.deadline, on: context.loop)
            waiter.turn.input.clear()
            if let answer = state.withLock({ _ in waiter.answer }) { return try answer.get() }
            guard wake != .ready else { continue }
            leave(flight, waiter)
            guard wake == .expired else { throw CancellationError() }
            throw ResolverError(name, .timedOut(after: context.loop.now.since(start)))
        }
    }

    /// Asks for the next answer while the last one is still in use.
    func refresh(_ host: DomainName, _ port: UInt16, _ loop: EventLoop) {
        _ = board(host, port, nil, loop, anew: true)
    }

    /// What was remembered may have become wrong: when none of its endpoints can be reached, the resolver is
    /// asked anew, and what lies behind that answer comes next.
    func withFallback(_ answer: Resolution, _ host: DomainName, _ port: UInt16) -> Resolution {
        var answer = answer
        let tried = answer.endpoints
        answer.fallback = { [self] context in
            let fresh = try await ask(host, port, context, anew: true)
            if fresh.endpoints.contains(where: { !tried.contains($0) }) { return fresh }
            return try await fresh.fallback?(context)
        }
        return answer
    }

    /// Joins the question that is on its way, or puts it; nothing if the answer is there and will do.
    private func board(
        _ host: DomainName,
        _ port: UInt16,
        _ waiter: Flight.Waiter?,
        _ loop: EventLoop,
        anew: Bool
    ) -> Flight? {
        let key = key(host, port)
        let now = now
        return state.withLock { state in
            if !anew, state.table.holds(key, at: now) { return nil }
            if let flight = state.flights[key] {
                if let waiter { flight.join(waiter) }
                return flight
            }
            let flight = Flight(key, generation: state.generation, isWanted: waiter == nil)
            if let waiter { flight.join(waiter) }
            state.flights[key] = flight
            flight.task = Task { await fly(flight, host, port, loop) }
            return flight
        }
    }

    private func leave(_ flight: Flight, _ waiter: Flight.Waiter) {
        let task = state.withLock { state -> Task<Void, Never>? in
            guard flight.leave(waiter) else { return nil }
            // Broken off: who asks from now on puts a question of his own.
            if state.flights[flight.key] === flight { state.flights[flight.key] = nil }
            return flight.task
        }
        task?.cancel()
    }

    private func fly(_ flight: Flight, _ host: DomainName, _ port: UInt16, _ loop: EventLoop) async {
        let limit = settings.queryTimeout
        let context = ResolveContext(within: limit, on: loop)
        let answer: Flight.Answer
        do throws(BlockingWork.Abandoned) {
            answer = try await supervised(until: context.deadline, on: loop) { [upstream] in
                do {
                    let answer = try await upstream.resolve(host, port: port, context)
                    return answer.endpoints.isEmpty
                        ? .failure(ResolverError(upstream.name, .noAddresses)) : .success(answer)
                } catch {
                    return .failure(error)
                }
            }
        } catch {
            answer =
                error == .cancelled
                ? .failure(CancellationError())
                : .failure(ResolverError(upstream.name, .timedOut(after: limit)))
        }
        land(flight, answer, host, port)
    }

    private func land(_ flight: Flight, _ answer: Flight.Answer, _ host: DomainName, _ port: UInt16) {
        let now = now
        let (waiters, hasChanged) = state.withLock { state -> ([Flight.Waiter], Bool) in
            if state.flights[flight.key] === flight { state.flights[flight.key] = nil }
            let isKept = state.keep(answer, for: flight.key, of: flight.generation, at: now)
            return (
                flight.land(answer.map { remembering($0, for: flight.key, of: flight.generation) }), isKept
            )
        }
        for waiter in waiters { waiter.turn.input.signal() }
        if hasChanged { saveSoon() }
    }

    /// The answer, whose fallback is remembered in its place if it comes to that: the next request need not
    /// find out once more that nothing answers there.
    private func remembering(_ answer: Resolution, for key: AnswerKey, of generation: Int) -> Resolution {
        guard let ask = answer.fallback else { return answer }
        var answer = answer
        answer.fallback = { [self] context in
            guard let next = try await ask(context) else { return nil }
            let now = now
            let hasChanged = state.withLock { $0.keep(.success(next), for: key, of: generation, at: now) }
            if hasChanged { saveSoon() }
            return remembering(next, for: key, of: generation)
        }
        return answer
    }
}
