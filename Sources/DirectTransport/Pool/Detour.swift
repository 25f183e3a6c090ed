package import DirectCore
internal import DirectIO

/// Directs a retry of a request away from the endpoints where earlier attempts failed, among those that the
/// request may be sent to.
///
/// It changes the order of attempts and no resolver's answer, and other requests' connections to these
/// endpoints stay open. A class, so that a request without retries carries only a `nil`.
package final class Detour: Sendable {
    /// The endpoints that this attempt may use, if they are known.
    let selection: EndpointSelection?
    /// Whether the request is sent beside another one, and only to another endpoint.
    package let isHedge: Bool
    /// Called when the request is sent, with the endpoint; `nil` if no code waits for that.
    package let onSending: (@Sendable (Endpoint) -> Void)?
    private let failed: [Endpoint]
    private let misdirected: [Endpoint]
    private let wantsNewConnection: Bool

    package convenience init(failed: [Endpoint], misdirected: [Endpoint], wantsNewConnection: Bool) {
        self.init(failed, misdirected, wantsNewConnection, nil, isHedge: false, onSending: nil)
    }

    private init(
        _ failed: [Endpoint],
        _ misdirected: [Endpoint],
        _ wantsNewConnection: Bool,
        _ selection: EndpointSelection?,
        isHedge: Bool,
        onSending: (@Sendable (Endpoint) -> Void)?
    ) {
        self.failed = failed
        self.misdirected = misdirected
        self.wantsNewConnection = wantsNewConnection
        self.selection = selection
        self.isHedge = isHedge
        self.onSending = onSending
    }

    /// Returns the detour, or one that avoids no endpoint, and tells where the request is sent.
    package static func watching(
        _ detour: Detour?,
        onSending: @escaping @Sendable (Endpoint) -> Void
    ) -> Detour {
        let new = detour?.wantsNewConnection ?? false
        let (failed, misdirected) = (detour?.failed ?? [], detour?.misdirected ?? [])
        return Detour(failed, misdirected, new, detour?.selection, isHedge: false, onSending: onSending)
    }

    /// Returns a detour to another endpoint than those of the given one and than `endpoint`, at which another
    /// request is in progress.
    package static func hedging(_ detour: Detour?, beside endpoint: Endpoint) -> Detour {
        let new = detour?.wantsNewConnection ?? false
        let (failed, misdirected) = (detour?.failed ?? [], detour?.misdirected ?? [])
        return Detour(failed + [endpoint], misdirected, new, nil, isHedge: true, onSending: nil)
    }

    /// Returns the same detour for the endpoints that it may use, now that they are known.
    package func among(_ selection: EndpointSelection) -> Detour {
        Detour(failed, misdirected, wantsNewConnection, selection, isHedge: isHedge, onSending: onSending)
    }

    /// Returns those of the endpoints at which no attempt has failed and no other request is in progress.
    func others(among endpoints: [Endpoint]) -> [Endpoint] {
        endpoints.filter { !failed.contains($0) && !misdirected.contains($0) }
    }

    /// Which existing connections may be reused. As long as the other endpoints are not known, none to an
    /// endpoint of an earlier attempt.
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

    /// Returns the endpoints without the servers that do not serve the name (they answered 421), unless no
    /// other one is left.
    private func candidates(_ endpoints: [Endpoint]) -> [Endpoint] {
        let others = endpoints.filter { !misdirected.contains($0) }
        return others.isEmpty ? endpoints : others
    }

    /// Returns the endpoints to try last. If the request has failed at all candidates, the earliest of these
    /// is as good as any and is not among them.
    private func avoided(among candidates: [Endpoint]) -> [Endpoint] {
        guard candidates.allSatisfy(failed.contains), let earliest = failed.first(where: candidates.contains)
        else { return failed }
        return failed.filter { $0 != earliest }
    }
}
