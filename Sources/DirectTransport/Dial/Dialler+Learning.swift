internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTLS

/// What the outcome of a race says: for the address history, for the resolver that named the addresses, and
/// for the caller's error.
extension Dialler {
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
