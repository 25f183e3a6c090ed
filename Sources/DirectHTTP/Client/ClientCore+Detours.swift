internal import DirectHTTP1
internal import DirectIO

/// Other tries of a request, away from where it has failed.
extension ClientCore {
    /// Sends the request elsewhere than before, if there is an elsewhere.
    func send(_ request: Request, _ leg: Leg, around detour: Detour) async throws(DialFailure) -> Response {
        var leg = leg
        leg.detour = detour
        if let kept = takeKept(request, leg) { return try await send(request, leg, on: kept) }
        // A connection to the endpoint of an earlier try may serve if the request can go nowhere else. That is asked now,
        // and not when dialling, so that a server with one address costs no handshake for each try.
        leg.detour = detour.among(try await choice(leg))
        if let kept = takeKept(request, leg) { return try await send(request, leg, on: kept) }
        return try await sendAnew(request, leg)
    }

    private typealias Kept = (connection: Connection, lease: ConnectionPool.Lease)

    private func takeKept(_ request: Request, _ leg: Leg) -> Kept? {
        pool.takeIdle(
            leg.poolKey,
            leg.route,
            leg.kept,
            asksKernel: !request.mayBeSentTwice,
            at: settings.loop.now
        )
    }

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

    /// Where the bytes of the request may go from here: to addresses of the server, or of the proxy that finds it.
    private func choice(_ leg: Leg) async throws(DialFailure) -> Choice {
        let limits = DialLimits(timeouts: leg.timeouts, end: leg.end, loop: settings.loop, log: leg.log)
        if let proxy = leg.proxy?.proxy, case .byProxy = leg.route {
            return try await dialler.choice(of: proxy, limits)
        }
        return try await dialler.choice(Destination(leg.url), leg.route, limits)
    }
}
