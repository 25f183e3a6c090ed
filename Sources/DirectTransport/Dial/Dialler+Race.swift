internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTLS

/// The race between addresses, and what its outcome says: for the address history, for the resolver that
/// named the addresses, and for the caller's error.
extension Dialler {
    /// Returns a race between the addresses, in the order in which to try them.
    ///
    /// - Parameters:
    ///   - latest: The addresses to begin with. It gets those that come during the race.
    ///   - end: The end of the call.
    func race(
        _ destination: Destination,
        selection latest: Locked<EndpointSelection>,
        end: Instant,
        detour: Detour?,
        connect: @escaping Connect
    ) -> HappyEyeballs {
        let selection = latest.withLock { $0 }
        let (memory, hasRanks, loop) = (memory, hasRanks(selection), loop)
        let order: @Sendable ([Endpoint]) -> HappyEyeballs.Candidates = { endpoints in
            let some = Array(endpoints.prefix(Self.mostAddresses))
            let ranked = hasRanks ? memory.order(some, for: destination, at: loop.now) : some
            guard let order = detour?.order(ranked) else { return .init(endpoints: ranked) }
            return .init(endpoints: order.first + order.late, late: order.late.count)
        }
        var race = HappyEyeballs(
            candidates: order(selection.endpoints),
            stagger: isOrdered(selection) ? nil : settings.dialling.staggerNanoseconds,
            passesOverWrongServers: settings.dialling.onCertificateMismatch == .tryNext,
            provisional: selection.isProvisional ? Set(selection.endpoints) : [],
            end: end.atMost(loop.now.advanced(byNanoseconds: Self.longestRace)),
            loop: loop,
            connect: connect
        )
        if selection.rest != nil {
            race.rest = {
                guard var next = await latest.withLock({ $0.rest })?() else { return nil }
                next.resolveTime = selection.resolveTime
                latest.withLock { $0 = next }
                return order(next.endpoints)
            }
        }
        return race
    }

    /// The highest number of addresses of an answer that are tried.
    private static let mostAddresses = 64
    /// The time after which no further address of an answer is tried.
    private static let longestRace: UInt64 = 30_000_000_000

    /// Whether the addresses are tried strictly in the given order.
    private func isOrdered(_ selection: EndpointSelection) -> Bool {
        selection.isStrictlyOrdered || settings.dialling.keepsOrder
    }

    /// Whether earlier results decide the order of the addresses. A single address needs no order, so nothing
    /// is remembered of it or looked up.
    func hasRanks(_ selection: EndpointSelection) -> Bool {
        (selection.endpoints.count > 1 || selection.rest != nil) && !isOrdered(selection)
    }

    /// Remembers, and reports to the resolver that named the addresses, which of them work.
    func learn(
        _ outcome: HappyEyeballs.RaceOutcome,
        destination: Destination,
        selection: EndpointSelection
    ) {
        let hasRanks = hasRanks(selection)
        guard hasRanks || selection.report != nil else { return }
        for (index, attempt) in outcome.attempts.enumerated() {
            switch attempt.result {
            case .success:
                if hasRanks { memory.noteSuccess(attempt.endpoint, for: destination, at: attempt.end) }
                selection.report?(attempt.endpoint, .connected(after: attempt.elapsed))
            case .failure(let failure):
                guard let reason = outcome.reason(at: index), outcome.isTelling(index) else { continue }
                // A wrong certificate that ends the race must not be avoided the next time either.
                if hasRanks, index != outcome.decisive {
                    memory.recordFailure(
                        attempt.endpoint,
                        in: failure.phase,
                        for: destination,
                        at: attempt.end
                    )
                }
                selection.report?(attempt.endpoint, .failed(failure.phase, reason))
            }
        }
    }

    /// Returns the failed attempts of a race, for errors and logs.
    func failedAttempts(_ outcome: HappyEyeballs.RaceOutcome, source: (Endpoint) -> AddressSource)
        -> [FailedAttempt]
    {
        outcome.attempts.enumerated().flatMap { index, attempt -> [FailedAttempt] in
            guard let failure = attempt.failure, !failure.isDescriptorShortage,
                let reason = outcome.reason(at: index)
            else { return [] }
            // Each attempt has dialled the proxy, and has failed there alike.
            if let atProxy = failure.atProxy { return index == outcome.decisive ? atProxy.attempts : [] }
            return [
                FailedAttempt(
                    endpoint: attempt.endpoint,
                    source: source(attempt.endpoint),
                    phase: failure.phase,
                    reason: reason,
                    certificates: failure.certificates,
                    elapsed: attempt.elapsed
                )
            ]
        }
    }
}
