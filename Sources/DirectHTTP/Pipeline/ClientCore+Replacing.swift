internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// The end of a failed exchange, for its connection and for the request.
extension ClientCore {
    /// Ends the lease of a failed exchange, and returns a permit to dial if the request is to be sent again.
    ///
    /// That is the case if the connection was dead before the request reached it and the request may be sent twice.
    /// The call keeps its place among the open connections and may dial in it: it does not queue, so that it gets
    /// no other idle connection, which may be dead as well.
    ///
    /// - Throws: the failure, if the request must not be sent again.
    func replace(
        _ connection: Connection,
        lease: ConnectionPool.Lease,
        isReused: Bool,
        after failure: TransportError,
        of request: Request,
        context: ExchangeContext
    ) throws(DialFailure) -> ConnectionPool.Permit {
        guard isReused, failure.showsStale(connection), request.mayBeSentTwice else {
            if isReused, failure.showsFrozen(connection) { pool.dismissSiblings(of: connection, lease) }
            end(connection, lease: lease, after: failure)
            throw DialFailure(
                cause: failure,
                endpoint: connection.facts.endpoint,
                attempts: isReused ? [] : connection.facts.failedAttempts
            )
        }
        context.log?.report(.foundDead(connection.facts.endpoint))
        return pool.replace(connection, lease: lease)
    }

    /// Sends the request on a connection that is dialled for it. A failure there is final: a request is replayed
    /// once.
    func send(
        _ request: Request,
        context: ExchangeContext,
        dialling permit: ConnectionPool.Permit
    ) async throws(DialFailure) -> Response {
        let (connection, lease) = try await dial(context, permit: permit)
        do throws(TransportError) {
            return try await exchange(
                request,
                context: context,
                connection: connection,
                lease: lease,
                isReused: false
            )
        } catch {
            end(connection, lease: lease, after: error)
            let facts = connection.facts
            throw DialFailure(cause: error, endpoint: facts.endpoint, attempts: facts.failedAttempts)
        }
    }

    /// Dials a connection for the call. The permit becomes the lease, or is released.
    func dial(
        _ context: ExchangeContext,
        permit: ConnectionPool.Permit
    ) async throws(DialFailure) -> (Connection, ConnectionPool.Lease) {
        do throws(DialFailure) {
            let connection = try await connect(context)
            return (connection, pool.admit(connection, permit: permit, since: context.start))
        } catch {
            pool.release(permit)
            throw error
        }
    }

    /// Dials a connection that is not in the pool yet.
    func connect(_ context: ExchangeContext) async throws(DialFailure) -> Connection {
        try await dialler.dial(
            context.url,
            route: context.route,
            over: context.proxy,
            anonymously: context.isAnonymous,
            timeouts: context.timeouts,
            end: context.end,
            log: context.log,
            detour: context.detour
        )
    }

    /// Ends the lease of a failed exchange.
    private func end(
        _ connection: Connection,
        lease: ConnectionPool.Lease,
        after failure: TransportError
    ) {
        if case .failed(.request, _) = failure {
            // The client itself refused the request: no byte of it was sent.
            pool.checkIn(connection, lease: lease, at: configuration.loop.now)
        } else {
            pool.discard(connection, lease: lease)
        }
    }
}

extension TransportError {
    /// Whether the connection was dead before the request reached it.
    fileprivate func showsStale(_ connection: Connection) -> Bool {
        guard case .failed(let phase, let reason) = self else { return false }
        // A message without a request, such as a 408, or a late line end of the previous response does not begin
        // this one.
        if case .http(let fault) = reason, phase == .response {
            if fault == .responseBeforeRequest || connection.beginsWithLineEnd { return true }
        }
        guard !connection.hasResponseBegun else { return false }
        guard phase == .write || phase == .response else { return false }
        switch reason {
        case .http(.closedBeforeResponse), .connectionClosed, .system: return true
        case .tls(.connectionLost), .tls(.truncated): return true
        default: return false
        }
    }
}

extension TransportError {
    /// Whether the peer sent no byte within the time limit.
    fileprivate func showsFrozen(_ connection: Connection) -> Bool {
        guard isTimeout, case .failed(let phase, _) = self else { return false }
        return !connection.hasResponseBegun && (phase == .write || phase == .response)
    }
}

extension Request {
    /// Whether the request may be sent twice (RFC 9110, section 9.2.2; RFC 9112, section 9.3.1).
    var mayBeSentTwice: Bool { method.isIdempotent && body.isReplayable }
}
