package import DirectCore
package import DirectHTTP1
internal import DirectIO

/// Sends requests over the connections of one client, and keeps those connections.
///
/// `send` takes an idle connection or dials one, runs the exchange on it and returns the response as soon as its
/// head has arrived. The rules on the way:
/// - No connection is dialled for an invalid request; on an idle connection the writer refuses it.
/// - A request goes only to an address that its route allows, on an idle connection or on a new one.
/// - Each lease ends exactly once. It stays with `send` until the response is complete, or passes with the
///   response's body to its reader.
/// - A request is replayed once at most. If an idle connection turns out to be dead, the call dials one in its
///   place (`replace`); a failure there is final.
package final class Transport: Sendable {
    package let pool: ConnectionPool
    package let dialler: Dialler

    /// Makes a transport without connections.
    package init(limits: PoolLimits, dialling: DialConfiguration, network: Network = Network()) {
        pool = ConnectionPool(limits: limits, loop: dialling.loop)
        dialler = Dialler(dialling, network: network)
    }

    var loop: EventLoop { pool.loop }

    /// Sends one request and returns the response, whatever its status. An idle connection that turns out to be
    /// dead is replaced without the caller's notice.
    ///
    /// - Parameters:
    ///   - headers: the request's own fields, without those that the writer derives from the URL and the body.
    ///   - defaults: fields that are sent unless `headers` has fields of these names.
    ///   - options: options that few requests set; `nil` for none.
    ///   - route: the addresses that the request may be sent to.
    ///   - isAnonymous: whether the client certificate is withheld from the server.
    ///   - detour: the endpoints that failed before, which are avoided if there are others.
    ///   - start: when the request began.
    ///   - end: the deadline of the whole call.
    ///   - isChecked: whether `check` has accepted the request.
    package func send(
        method: HTTPMethod,
        url: HTTPURL,
        headers: HTTPHeaders,
        defaults: HTTPHeaders,
        body: BodyContent,
        options: ExchangeOptions.Box?,
        route: Route,
        over proxy: ProxyEntry?,
        anonymously isAnonymous: Bool,
        around detour: Detour?,
        from start: Instant,
        until end: Instant,
        timeouts: Timeouts.Nanoseconds,
        observer: (any TransportObserver)?,
        isChecked: Bool
    ) async throws(DialFailure) -> IncomingResponse {
        func outgoing(around detour: Detour?) -> OutgoingRequest {
            OutgoingRequest(
                method: method,
                url: url,
                headers: headers,
                defaults: defaults,
                body: body,
                options: options,
                route: route,
                proxy: proxy,
                isAnonymous: isAnonymous,
                detour: detour,
                start: start,
                end: end,
                timeouts: timeouts,
                observer: observer
            )
        }
        var detour = detour
        var leased: LeasedConnection
        if detour == nil,
            let (connection, lease) = pool.takeIdle(
                PoolKey(origin: url.origin, proxy: proxy, isAnonymous: isAnonymous),
                route: route,
                asksKernel: !method.mayBeSentTwice(with: body),
                at: start
            )
        {
            leased = LeasedConnection(connection: connection, lease: lease, isReused: true)
        } else {
            // On an idle connection the writer finds an invalid request; here one would be dialled for nothing.
            if !isChecked {
                try await check(
                    method: method,
                    url: url,
                    headers: headers,
                    defaults: defaults,
                    body: body,
                    options: options,
                    over: proxy,
                    within: CallLimit(end: end, total: timeouts.total)
                )
            }
            var request = outgoing(around: detour)
            leased = try await connection(for: &request)
            detour = request.detour
        }
        while true {
            let failure: TransportError
            do throws(TransportError) {
                return try await roundTrip(
                    method: method,
                    url: url,
                    headers: headers,
                    defaults: defaults,
                    body: body,
                    options: options,
                    from: start,
                    until: end,
                    timeouts: timeouts,
                    observer: observer,
                    on: leased.connection,
                    lease: leased.lease,
                    isReused: leased.isReused
                )
            } catch {
                failure = error
            }
            let request = outgoing(around: detour)
            let permit = try replace(leased, after: failure, of: request)
            leased = try await dial(request, permit: permit)
        }
    }
}
