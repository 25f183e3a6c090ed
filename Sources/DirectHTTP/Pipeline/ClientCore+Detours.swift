internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// Further attempts at a request, at other endpoints than those where it failed.
extension ClientCore {
    /// Sends the request to another endpoint than the earlier attempts, if there is one.
    func send(_ request: Request, context: ExchangeContext, around detour: Detour) async throws(DialFailure)
        -> Response
    {
        var context = context
        context.detour = detour
        if let kept = takeKept(request, context: context) {
            return try await send(request, context: context, on: kept)
        }
        // If there is no other endpoint, a connection to the endpoint of an earlier attempt may serve. The
        // endpoints are determined here and not when dialling, so that a server with one address costs no handshake
        // for each attempt.
        context.detour = detour.among(try await selection(context))
        if let kept = takeKept(request, context: context) {
            return try await send(request, context: context, on: kept)
        }
        return try await sendOnNewConnection(request, context: context)
    }

    /// Returns an idle connection that the detour allows; `nil` if there is none.
    private func takeKept(_ request: Request, context: ExchangeContext) -> Acquired? {
        pool.takeIdle(
            context.poolKey,
            route: context.route,
            kept: context.kept,
            asksKernel: !request.mayBeSentTwice,
            at: configuration.loop.now
        ).map { ($0, $1, isReused: true) }
    }

    /// Returns the endpoints that the request may be sent to: those of the server, or those of the proxy that
    /// resolves the name.
    private func selection(_ context: ExchangeContext) async throws(DialFailure) -> EndpointSelection {
        let limits = DialLimits(
            timeouts: context.timeouts,
            end: context.end,
            loop: configuration.loop,
            log: context.log
        )
        if let proxy = context.proxy?.proxy, case .byProxy = context.route {
            return try await dialler.selection(of: proxy, limits)
        }
        return try await dialler.selection(Destination(context.url), route: context.route, limits: limits)
    }
}
