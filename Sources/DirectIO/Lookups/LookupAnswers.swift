internal import DirectCore

/// The answers of the system's resolver for a name: to one call for both families, and to one call for each
/// of them.
struct LookupAnswers {
    /// The number of addresses that are known.
    enum Extent: Equatable {
        /// None yet.
        case open
        /// Those of one family. The other one has not been answered for.
        case half([IPAddress], IPAddress.Family)
        /// All of them, or the reason why there are none.
        case whole(SystemLookups.Answer)
    }

    /// Whether there are calls for one family.
    let hasFamilies: Bool
    /// The answer to the call for both families.
    var both: SystemLookups.Answer?
    var v4: SystemLookups.Answer?
    var v6: SystemLookups.Answer?

    var extent: Extent {
        if let both, Self.isFinal(both) || !hasFamilies { return .whole(both) }
        switch (v4, v6) {
        case (let v4?, let v6?): return .whole(joined(v4, v6))
        case (.success(let addresses)?, nil): return .half(addresses, .v4)
        case (nil, .success(let addresses)?): return .half(addresses, .v6)
        default: return .open
        }
    }

    /// Whether the call for both families has failed in a way in which a call for one of them may succeed:
    /// musl fails as a whole if a server fails for one family.
    var bothHasFailed: Bool { both.map { !Self.isFinal($0) } ?? false }

    init(hasFamilies: Bool) {
        self.hasFamilies = hasFamilies
    }

    /// Stores an answer.
    mutating func note(_ answer: SystemLookups.Answer, about family: IPAddress.Family?) {
        switch family {
        case nil: both = answer
        case .v4: v4 = answer
        case .v6: v6 = answer
        }
    }

    /// Returns the addresses of two answers, IPv6 first as in the default policy of RFC 6724. If there are
    /// none, a failure to answer counts more than the answer that there are none.
    private func joined(_ v4: SystemLookups.Answer, _ v6: SystemLookups.Answer) -> SystemLookups.Answer {
        let addresses = [v6, v4].flatMap { (try? $0.get()) ?? [] }
        guard addresses.isEmpty else { return .success(addresses) }
        for case .failure(let error)? in [both, v4, v6] where !error.saysNone { return .failure(error) }
        return v4
    }

    /// Whether the answer for both families is the last word. Where descriptors have run out, more calls
    /// would find none either.
    private static func isFinal(_ answer: SystemLookups.Answer) -> Bool {
        switch answer {
        case .success: true
        case .failure(let error): error.saysNone || error.isDescriptorShortage
        }
    }
}
