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
        for request: inout OutgoingRequest
    ) async throws(DialFailure) -> (LeasedConnection, Detour?) {
        // On an idle connection the writer finds an invalid request; here one would be dialled for nothing.
        try await check(&request)
        guard let detour = request.target.detour else {
            return (try await firstFree(request.target, for: request), nil)
        }
        return try await connection(for: request, around: detour)
    }

    /// Leases a connection to another endpoint than the earlier attempts, if there is one.
    ///
    /// If it has to determine the endpoints, it leaves them in the detour, so that they hold for a connection
    /// that replaces this one, too.
    // Not inlined, as `dial`: a request that waits for another one's connection would need the room.
    @inline(never)
    private func connection(
        for request: borrowing OutgoingRequest,
        around detour: Detour
    ) async throws(DialFailure) -> (LeasedConnection, Detour?) {
        if let kept = takeKept(request.target, for: request) { return (kept, detour) }
        // If there is no other endpoint, a connection to the endpoint of an earlier attempt may serve. The
        // endpoints are determined here and not when dialling, so that a server with one address costs no
        // handshake for each attempt.
        guard let selection = try await dialler.selection(for: request.target, within: request.limit)
        else {
            return (try await firstFree(request.target, for: request), detour)
        }
        if detour.isHedge {
            return try await connectionForHedge(request, around: detour, among: selection)
        }
        let narrowed = request.target.around(detour.among(selection))
        if let kept = takeKept(narrowed, for: request) { return (kept, narrowed.detour) }
        return (try await firstFree(narrowed, for: request), narrowed.detour)
    }

    /// Dials another endpoint at once: a hedge does not queue, because it would hold up other requests.
    private func connectionForHedge(
        _ request: borrowing OutgoingRequest,
        around detour: Detour,
        among selection: EndpointSelection
    ) async throws(DialFailure) -> (LeasedConnection, Detour?) {
        let others = detour.others(among: selection.endpoints)
        guard !others.isEmpty else { throw DialFailure(cause: .failed(.connect, .overtaken)) }
        let narrowed = detour.among(selection.limited(to: others))
        guard let permit = pool.permitAtOnce(request.target.poolKey, route: request.target.route) else {
            throw DialFailure(cause: .failed(.queue, .overtaken))
        }
        return (try await dial(request.target.around(narrowed), permit: permit, for: request), narrowed)
    }

    /// Leases an idle connection or dials one, whichever is possible first.
    ///
    /// - Parameter target: that of the request, or one around the endpoints of earlier attempts.
    // Inlined, because each further function that waits takes at least 1 KiB.
    @inline(__always)
    private func firstFree(
        _ target: borrowing ConnectionTarget,
        for request: borrowing OutgoingRequest
    ) async throws(DialFailure) -> LeasedConnection {
        let acquisition: ConnectionPool.Acquisition
        let start = loop.now
        do throws(TransportError) {
            acquisition = try await pool.checkOut(
                target,
                asksKernel: !request.message.mayBeSentTwice,
                deadline: request.limit.deadline(.queue, from: start)
            )
        } catch {
            throw DialFailure(cause: error)
        }
        let queued = loop.now.since(start).clampedNanoseconds
        switch acquisition {
        case .reuse(let connection, let lease):
            return LeasedConnection(connection: connection, lease: lease, wasIdle: true, queued: queued)
        case .dial(let permit):
            var leased = try await dial(target, permit: permit, for: request)
            leased.queued = queued
            return leased
        }
    }

    /// Returns an idle connection that the detour allows; `nil` if there is none.
    private func takeKept(
        _ target: borrowing ConnectionTarget,
        for request: borrowing OutgoingRequest
    ) -> LeasedConnection? {
        pool.takeIdle(target, asksKernel: !request.message.mayBeSentTwice, at: loop.now)
            .map { LeasedConnection(connection: $0, lease: $1, wasIdle: true) }
    }

    /// Dials a connection. The permit becomes the lease, or is released.
    @inline(never)
    func dial(
        _ target: borrowing ConnectionTarget,
        permit: ConnectionPool.Permit,
        for request: borrowing OutgoingRequest
    ) async throws(DialFailure) -> LeasedConnection {
        do throws(DialFailure) {
            let connection = try await dialler.dial(target, within: request.limit, noting: request.observer)
            let lease = pool.admit(connection, permit: permit, since: request.start)
            return LeasedConnection(connection: connection, lease: lease, wasIdle: false)
        } catch {
            pool.release(permit)
            throw error
        }
    }
}

/// Connections ahead of any request.
extension Transport {
    /// Dials connections until `count` of them are idle or being made, as far as the limits have room.
    ///
    /// - Throws: the first failure, when all attempts have ended.
    package func warm(
        _ target: borrowing ConnectionTarget,
        from start: Instant,
        within limit: CallLimit,
        count: Int
    ) async throws(DialFailure) {
        let permits = pool.warm(target.poolKey, route: target.route, count: count, at: loop.now)
        let failure = await withTaskGroup(of: DialFailure?.self) { group in
            for permit in permits {
                let copy = target.around(nil)
                group.addTask { await self.warm(copy, permit: permit, from: start, within: limit) }
            }
            return await group.reduce(nil) { $0 ?? $1 }
        }
        if let failure { throw failure }
    }

    private func warm(
        _ target: borrowing ConnectionTarget,
        permit: ConnectionPool.WarmingPermit,
        from start: Instant,
        within limit: CallLimit
    ) async -> DialFailure? {
        do throws(DialFailure) {
            let connection = try await dialler.dial(target, within: limit)
            pool.deliver(connection, permit: permit, since: start, at: loop.now)
            return nil
        } catch {
            pool.release(permit)
            return error
        }
    }
}

/// The steps that need no connection, made before anything is resolved or dialled for a request.
extension Transport {
    /// Writes the head of the request. Throws if it is invalid, if its body cannot be framed, or if its
    /// method permits none.
    package func check(_ request: inout OutgoingRequest) async throws(DialFailure) {
        guard request.written == nil else { return }
        do throws(TransportError) {
            let framing = try await request.message.body.framing(on: loop, within: request.limit)
            let head = request.message.head(
                to: request.target.url,
                isProxied: request.target.proxy != nil,
                as: try request.target.forwarding
            )
            request.written = try WrittenHead(
                head,
                framing: framing,
                announcing: request.message.announcements
            )
        } catch {
            throw DialFailure(cause: error)
        }
    }
}
