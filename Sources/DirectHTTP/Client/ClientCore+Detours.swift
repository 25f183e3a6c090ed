internal import DirectHTTP1
internal import DirectIO

/// Further attempts at a request, at other endpoints than those where it failed.
extension ClientCore {
    /// Sends the request to another endpoint than the earlier attempts, if there is one.
    func send(_ request: Request, _ leg: Leg, around detour: Detour) async throws(DialFailure) -> Response {
        var leg = leg
        leg.detour = detour
        if let kept = takeKept(request, leg) { return try await send(request, leg, on: kept) }
        // If there is no other endpoint, a connection to the endpoint of an earlier attempt may serve. The
        // endpoints are determined here and not when dialling, so that a server with one address costs no handshake
        // for each attempt.
        leg.detour = detour.among(try await choice(leg))
        if let kept = takeKept(request, leg) { return try await send(request, leg, on: kept) }
        return try await sendAnew(request, leg)
    }

    private typealias Kept = (connection: Connection, lease: ConnectionPool.Lease)

    /// Returns an idle connection that the detour allows; `nil` if there is none.
    private func takeKept(_ request: Request, _ leg: Leg) -> Kept? {
        pool.takeIdle(
            leg.poolKey,
            leg.route,
            leg.kept,
            asksKernel: !request.mayBeSentTwice,
            at: settings.loop.now
        )
    }

    /// Sends the request on an idle connection, and on a new one if that turns out to be dead.
    private func send(_ request: Request, _ leg: Leg, on kept: Kept) async throws(DialFailure) -> Response {
        let (connection, lease) = kept
        let permit: ConnectionPool.Permit
        do throws(CallFailure) {
            return try await exchange(request, leg, connection, lease, isReused: true)
        } catch {
            permit = try replace(connection, lease, isReused: true, after: error, of: request, leg)
        }
        return try await send(request, leg, dialling: permit)
    }

    /// Returns the endpoints that the request may be sent to: those of the server, or those of the proxy that
    /// resolves the name.
    private func choice(_ leg: Leg) async throws(DialFailure) -> Choice {
        let limits = DialLimits(timeouts: leg.timeouts, end: leg.end, loop: settings.loop, log: leg.log)
        if let proxy = leg.proxy?.proxy, case .byProxy = leg.route {
            return try await dialler.choice(of: proxy, limits)
        }
        return try await dialler.choice(Destination(leg.url), leg.route, limits)
    }
}
