internal import DirectIO

/// Leads another try of a request away from the endpoints where earlier tries have failed, within those that the
/// request may be sent to.
///
/// It changes the order of the tries and no answer: connections of other requests to these endpoints stay. A class, so
/// that a request that is sent once carries nothing but a `nil` about.
final class Detour: Sendable {
    /// Where this try may go, if that is known.
    let choice: Choice?
    private let failed: [Endpoint]
    private let misdirected: [Endpoint]
    private let wantsNewConnection: Bool

    init(failed: [Endpoint], misdirected: [Endpoint], wantsNewConnection: Bool, _ choice: Choice? = nil) {
        self.failed = failed
        self.misdirected = misdirected
        self.wantsNewConnection = wantsNewConnection
        self.choice = choice
    }

    /// The same detour, now that it is known where it may lead.
    func among(_ choice: Choice) -> Detour {
        Detour(failed: failed, misdirected: misdirected, wantsNewConnection: wantsNewConnection, choice)
    }

    /// Which kept connections may be taken. As long as it is not known what else there is, none that leads to an endpoint
    /// of an earlier try.
    var kept: KeptConnections {
        if wantsNewConnection { return .none }
        guard let choice else { return .except(failed + misdirected) }
        let candidates = candidates(choice.endpoints)
        // An endpoint of a fallback is not among them: its connection may stand in for the answer.
        let others = misdirected.filter { !candidates.contains($0) }
        return .except(avoided(among: candidates) + others)
    }

    /// The order in which to dial: `late` only when none of `first` has connected.
    func order(_ endpoints: [Endpoint]) -> (first: [Endpoint], late: [Endpoint]) {
        let candidates = candidates(endpoints)
        let avoided = avoided(among: candidates)
        return (candidates.filter { !avoided.contains($0) }, avoided.filter(candidates.contains))
    }

    /// Without the servers that do not serve the name, as long as another one is left.
    private func candidates(_ endpoints: [Endpoint]) -> [Endpoint] {
        let others = endpoints.filter { !misdirected.contains($0) }
        return others.isEmpty ? endpoints : others
    }

    /// Where the request has failed in all of them, the earliest of these is as good as another one.
    private func avoided(among candidates: [Endpoint]) -> [Endpoint] {
        guard candidates.allSatisfy(failed.contains), let earliest = failed.first(where: candidates.contains)
        else { return failed }
        return failed.filter { $0 != earliest }
    }
}
