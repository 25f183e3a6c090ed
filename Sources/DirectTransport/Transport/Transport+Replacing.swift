internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTLS

/// The end of a failed exchange, for its connection and for the request.
extension Transport {
    /// Ends the lease of a failed exchange, and returns a permit to dial if the request is to be sent again.
    ///
    /// That is the case if an idle connection was dead before the request reached it and the request may be
    /// sent twice. The call keeps its place among the open connections and may dial in it: it does not queue,
    /// so that it gets no other idle connection, which may be dead as well.
    ///
    /// - Throws: the failure, if the request must not be sent again.
    private func replace(
        _ leased: LeasedConnection,
        after failure: TransportError,
        of request: borrowing OutgoingRequest
    ) throws(DialFailure) -> ConnectionPool.Permit {
        let (connection, lease, wasIdle) = (leased.connection, leased.lease, leased.wasIdle)
        guard wasIdle, failure.showsStale(connection), request.message.mayBeSentAgain else {
            if wasIdle, failure.showsFrozen(connection) { pool.dismissSiblings(of: connection, lease) }
            end(connection, lease: lease, after: failure)
            throw DialFailure(
                cause: failure,
                endpoint: connection.facts.dialledEndpoint,
                attempts: wasIdle ? [] : connection.facts.search.failedAttempts
            )
        }
        request.limits.observer?.note(.foundDead(connection.facts.endpoint))
        return pool.replace(connection, lease: lease)
    }

    /// Dials a connection in place of one that was dead.
    ///
    /// - Throws: the failure, if the request must not be sent again.
    // Not inlined: few requests come here, and each would need the room.
    @inline(never)
    func replacement(
        of leased: LeasedConnection,
        after failure: TransportError,
        of request: borrowing OutgoingRequest,
        around detour: Detour?
    ) async throws(DialFailure) -> LeasedConnection {
        let permit = try replace(leased, after: failure, of: request)
        let target = request.target.around(detour)
        var fresh = try await dial(target, permit: permit, within: request.limits)
        fresh.queued = leased.queued
        return fresh
    }

    /// Ends the lease of a failed exchange.
    private func end(
        _ connection: Connection,
        lease: ConnectionPool.Lease,
        after failure: TransportError
    ) {
        if case .failed(.request, _) = failure {
            // The client itself refused the request: no byte of it was sent.
            pool.checkIn(connection, lease: lease, at: loop.now)
        } else {
            pool.discard(connection, lease: lease)
        }
    }
}

extension TransportError {
    /// Whether the connection was dead before the request reached it.
    fileprivate func showsStale(_ connection: Connection) -> Bool {
        guard case .failed(let phase, let reason) = self else { return false }
        // A message without a request, such as a 408, or a late line end of the previous response does not
        // begin this one.
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
