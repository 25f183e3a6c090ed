package import DirectCore
internal import DirectIO

/// Directs a retry of a request away from the endpoints where earlier attempts failed, among those that the request
/// may be sent to.
///
/// It changes the order of attempts and no resolver's answer, and other requests' connections to these endpoints
/// stay open. A class, so that a request without retries carries only a `nil`.
package final class Detour: Sendable {
    /// The endpoints that this attempt may use, if they are known.
    package let selection: EndpointSelection?
    private let failed: [Endpoint]
    private let misdirected: [Endpoint]
    private let wantsNewConnection: Bool

    package init(
        failed: [Endpoint],
        misdirected: [Endpoint],
        wantsNewConnection: Bool,
        _ selection: EndpointSelection? = nil
    ) {
        self.failed = failed
        self.misdirected = misdirected
        self.wantsNewConnection = wantsNewConnection
        self.selection = selection
    }

    /// Returns the same detour for the endpoints that it may use, now that they are known.
    package func among(_ selection: EndpointSelection) -> Detour {
        Detour(failed: failed, misdirected: misdirected, wantsNewConnection: wantsNewConnection, selection)
    }

    /// Which existing connections may be reused. As long as the other endpoints are not known, none to an endpoint
    /// of an earlier attempt.
    package var kept: KeptConnections {
        if wantsNewConnection { return .none }
        guard let selection else { return .except(failed + misdirected) }
        let candidates = candidates(selection.endpoints)
        // An endpoint of a fallback is not among the candidates: its connection may stand in for the answer.
        let others = misdirected.filter { !candidates.contains($0) }
        return .except(avoided(among: candidates) + others)
    }

    /// Returns the order in which to dial: `late` only if no endpoint of `first` has connected.
    package func order(_ endpoints: [Endpoint]) -> (first: [Endpoint], late: [Endpoint]) {
        let candidates = candidates(endpoints)
        let avoided = avoided(among: candidates)
        return (candidates.filter { !avoided.contains($0) }, avoided.filter(candidates.contains))
    }

    /// Returns the endpoints without the servers that do not serve the name (they answered 421), unless no other
    /// one is left.
    private func candidates(_ endpoints: [Endpoint]) -> [Endpoint] {
        let others = endpoints.filter { !misdirected.contains($0) }
        return others.isEmpty ? endpoints : others
    }

    /// Returns the endpoints to try last. If the request has failed at all candidates, the earliest of these is as
    /// good as any and is not among them.
    private func avoided(among candidates: [Endpoint]) -> [Endpoint] {
        guard candidates.allSatisfy(failed.contains), let earliest = failed.first(where: candidates.contains)
        else { return failed }
        return failed.filter { $0 != earliest }
    }
}
