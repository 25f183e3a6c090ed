internal import DirectCore
internal import DirectIO

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
    func failedAttempts(_ outcome: HappyEyeballs.RaceOutcome, source: AddressSource)
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
                    source: source,
                    phase: failure.phase,
                    reason: reason,
                    certificates: failure.certificates,
                    elapsed: attempt.elapsed
                )
            ]
        }
    }
}

extension HappyEyeballs.RaceOutcome {
    /// The failure that ends all dialling; the caller adds its attempts.
    var decisiveFailure: DialFailure? {
        guard let decisive else { return isCancelled ? DialFailure(cause: .cancelled) : nil }
        return attempts[decisive].failure.map {
            $0.atProxy
                ?? DialFailure(
                    cause: $0.cause,
                    endpoint: attempts[decisive].endpoint,
                    certificates: $0.certificates
                )
        }
    }

    /// The reason why this attempt failed; `nil` if the whole call was cancelled, which is not the address's
    /// fault.
    fileprivate func reason(at index: Int) -> TransportError.Reason? {
        switch attempts[index].failure?.cause {
        case .failed(_, let reason): reason
        case .cancelled: decisive == nil || decisive == index ? nil : .overtaken
        case nil: nil
        }
    }

    /// The failure for lack of descriptors, if there is one: no other address would have done better.
    var shortage: DialFailure? {
        attempts.lazy.compactMap(\.failure).first(where: \.isDescriptorShortage).map {
            DialFailure(cause: $0.cause)
        }
    }

    /// Whether the failure says something about the address. A cancellation does so only if another attempt
    /// that had begun later was faster. A lack of descriptors, a fault on this side and one of the proxy
    /// never do.
    fileprivate func isTelling(_ index: Int) -> Bool {
        guard let failure = attempts[index].failure, !failure.isDescriptorShortage else { return false }
        guard failure.isCancellation else { return failure.concernsAddress }
        guard let decisive, attempts[decisive].established != nil else { return false }
        return index < decisive
    }
}
