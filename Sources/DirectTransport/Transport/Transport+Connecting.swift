package import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// A connection that a request has for itself.
struct LeasedConnection {
    let connection: Connection
    let lease: ConnectionPool.Lease
    /// Whether it was in the pool, kept after a request or made ahead of any: the server may have closed it
    /// unnoticed.
    let wasIdle: Bool
    /// The nanoseconds in the queue for it.
    var queued: UInt64 = 0
}

/// Connections for a request: from the pool, or dialled.
extension Transport {
    /// Leases a connection for a request that has found no idle one, and returns it with the request's
    /// detour.
    // Not inlined: a request that finds an idle connection would need the room, too.
    @inline(never)
    func connection(
        for request: OutgoingRequest,
        isChecked: Bool
    ) async throws(DialFailure) -> (LeasedConnection, Detour?) {
        // On an idle connection the writer finds an invalid request; here one would be dialled for nothing.
        if !isChecked {
            try await check(
                method: request.method,
                url: request.url,
                headers: request.headers,
                defaults: request.defaults,
                body: request.body,
                options: request.options,
                over: request.proxy,
                within: request.limit
            )
        }
        guard let detour = request.detour else { return (try await firstFree(for: request), nil) }
        return try await connection(around: detour, for: request)
    }

    /// Leases a connection to another endpoint than the earlier attempts, if there is one.
    ///
    /// If it has to determine the endpoints, it leaves them in the detour, so that they hold for a connection
    /// that replaces this one, too.
    private func connection(
        around detour: Detour,
        for request: OutgoingRequest
    ) async throws(DialFailure) -> (LeasedConnection, Detour?) {
        if let kept = takeKept(for: request) { return (kept, detour) }
        // If there is no other endpoint, a connection to the endpoint of an earlier attempt may serve. The
        // endpoints are determined here and not when dialling, so that a server with one address costs no
        // handshake for each attempt.
        let selection = try await selection(for: request)
        if detour.isHedge { return try await connectionForHedge(request, around: detour, among: selection) }
        let narrowed = request.around(detour.among(selection))
        if let kept = takeKept(for: narrowed) { return (kept, narrowed.detour) }
        return (try await firstFree(for: narrowed), narrowed.detour)
    }

    /// Dials another endpoint at once: a hedge does not queue, because it would hold up other requests.
    private func connectionForHedge(
        _ request: OutgoingRequest,
        around detour: Detour,
        among selection: EndpointSelection
    ) async throws(DialFailure) -> (LeasedConnection, Detour?) {
        let others = detour.others(among: selection.endpoints)
        guard !others.isEmpty else { throw DialFailure(cause: .failed(.connect, .overtaken)) }
        let narrowed = detour.among(selection.limited(to: others))
        guard let permit = pool.permitAtOnce(request.poolKey, route: request.route) else {
            throw DialFailure(cause: .failed(.queue, .overtaken))
        }
        return (try await dial(request.around(narrowed), permit: permit), narrowed)
    }

    /// Leases an idle connection or dials one, whichever is possible first.
    private func firstFree(for request: OutgoingRequest) async throws(DialFailure) -> LeasedConnection {
        let acquisition: ConnectionPool.Acquisition
        let start = loop.now
        do throws(TransportError) {
            acquisition = try await pool.checkOut(
                request.poolKey,
                route: request.route,
                kept: request.kept,
                asksKernel: !request.mayBeSentTwice,
                deadline: request.deadline(.queue, stall: request.timeouts.queue, from: loop.now)
            )
        } catch {
            throw DialFailure(cause: error)
        }
        let queued = loop.now.since(start).clampedNanoseconds
        switch acquisition {
        case .reuse(let connection, let lease):
            return LeasedConnection(connection: connection, lease: lease, wasIdle: true, queued: queued)
        case .dial(let permit):
            var leased = try await dial(request, permit: permit)
            leased.queued = queued
            return leased
        }
    }

    /// Returns an idle connection that the detour allows; `nil` if there is none.
    private func takeKept(for request: OutgoingRequest) -> LeasedConnection? {
        pool.takeIdle(
            request.url,
            over: request.proxy,
            with: request.profile,
            route: request.route,
            kept: request.kept,
            asksKernel: !request.mayBeSentTwice,
            at: loop.now
        ).map { LeasedConnection(connection: $0, lease: $1, wasIdle: true) }
    }

    /// Returns the endpoints that the request may be sent to: those of the server, or those of the proxy that
    /// resolves the name.
    private func selection(for request: OutgoingRequest) async throws(DialFailure) -> EndpointSelection {
        let limits = DialLimits(
            timeouts: request.timeouts,
            end: request.end,
            loop: loop,
            log: request.observer
        )
        if let proxy = request.proxy?.proxy, case .byProxy = request.route {
            return try await dialler.selection(of: proxy, limits: limits)
        }
        return try await dialler.selection(Destination(request.url), route: request.route, limits: limits)
    }

    /// Dials a connection for the request. The permit becomes the lease, or is released.
    func dial(
        _ request: OutgoingRequest,
        permit: ConnectionPool.Permit
    ) async throws(DialFailure) -> LeasedConnection {
        do throws(DialFailure) {
            let connection = try await connect(request)
            let lease = pool.admit(connection, permit: permit, since: request.start)
            return LeasedConnection(connection: connection, lease: lease, wasIdle: false)
        } catch {
            pool.release(permit)
            throw error
        }
    }

    /// Dials a connection that is not in the pool yet.
    private func connect(_ request: OutgoingRequest) async throws(DialFailure) -> Connection {
        try await dialler.dial(
            request.url,
            route: request.route,
            over: request.proxy,
            with: request.profile,
            timeouts: request.timeouts,
            end: request.end,
            log: request.observer,
            detour: request.detour
        )
    }
}

/// Connections ahead of any request.
extension Transport {
    /// Dials connections until `count` of them are idle or being made, as far as the limits have room.
    ///
    /// - Throws: the first failure, when all attempts have ended.
    package func warm(
        _ url: HTTPURL,
        route: Route,
        over proxy: ProxyEntry?,
        with profile: ConnectionProfile?,
        from start: Instant,
        until end: Instant,
        timeouts: Timeouts.Nanoseconds,
        count: Int
    ) async throws(DialFailure) {
        let request = OutgoingRequest(
            method: .get,
            url: url,
            headers: [:],
            defaults: [:],
            body: .none,
            options: nil,
            route: route,
            proxy: proxy,
            profile: profile,
            detour: nil,
            start: start,
            end: end,
            timeouts: timeouts,
            observer: nil
        )
        let permits = pool.warm(request.poolKey, route: route, count: count, at: loop.now)
        let failure = await withTaskGroup(of: DialFailure?.self) { group in
            for permit in permits { group.addTask { await self.warm(for: request, permit: permit) } }
            return await group.reduce(nil) { $0 ?? $1 }
        }
        if let failure { throw failure }
    }

    private func warm(
        for request: OutgoingRequest,
        permit: ConnectionPool.WarmingPermit
    ) async -> DialFailure? {
        do throws(DialFailure) {
            let connection = try await connect(request)
            pool.deliver(connection, permit: permit, since: request.start, at: loop.now)
            return nil
        } catch {
            pool.release(permit)
            return error
        }
    }
}
