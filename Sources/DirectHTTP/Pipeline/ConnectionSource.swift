internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// The pieces of a response's body that is still arriving. It owns the lease on the connection.
///
/// The lease is held until the body has ended, by its end or a failure; then the connection goes back to the
/// pool or is closed, once. While the request is still being sent, the lease is held until that has ended
/// too. Releasing the source before that drains a small rest on the event loop and closes the connection
/// otherwise.
final class ConnectionSource: ResponseBodySource {
    /// Held as long as the lease: a program that keeps a response does not keep the client's connections
    /// open.
    private var pool: ConnectionPool?
    private let lease: ConnectionPool.Lease
    private var reading: BodyReading
    /// Whether the request could not be sent whole although the server had accepted it.
    private var hasLostUpload = false

    init(_ pool: ConnectionPool, _ lease: ConnectionPool.Lease, _ reading: BodyReading) {
        self.pool = pool
        self.lease = lease
        self.reading = reading
    }

    deinit {
        guard let pool else { return }
        guard reading.isWorthDraining else { return pool.abandon(reading, lease: lease) }
        // On the event loop, because the release of a response must not wait for the rest of its body.
        let rest = Rest(pool: pool, lease: lease, reading: reading)
        Task.detached(executorPreference: reading.exchange.connection.loop) { await rest.drain() }
    }

    /// None once all has arrived.
    var limit: CallLimit { pool == nil ? .none : reading.exchange.limit }

    var trailers: HTTPHeaders { reading.trailers }

    var location: BodyLocation { BodyLocation(reading.exchange.connection.facts) }

    var bytesLeft: UInt64? { pool == nil ? 0 : reading.total.map { $0 - reading.received } }

    func next() async throws -> [UInt8]? {
        guard pool != nil else { return nil }
        // Checked here, because a body that arrives faster than it is read never suspends.
        if Task.isCancelled { throw CancellationError() }
        do throws(TransportError) {
            let piece = try await reading.next()
            if let piece { reading.report(piece.count) }
            // The connection is given back with the last piece and not after it: the caller may never ask for
            // more. Only while the request is still being sent does the end wait for that, without a piece.
            if reading.isAtEnd, piece == nil || reading.isRequestOver { try await finish() }
            return piece
        } catch {
            throw HTTPError.from(error, name: location.name, endpoint: location.endpoint)
        }
    }

    func drain() async {
        guard pool != nil else { return }
        end(isComplete: await reading.drain())
    }

    /// Closes the connection. The error has the response if that is complete and the request is not.
    func fail(_ error: any Error, after collected: [UInt8]) -> any Error {
        end(isComplete: false)
        guard hasLostUpload, let head = reading.head, var lost = error as? HTTPError else { return error }
        lost.response = ReceivedResponse(head, body: collected)
        return lost
    }

    /// Waits for the end of the request, then ends the lease.
    private func finish() async throws(TransportError) {
        do throws(TransportError) {
            try await reading.finish()
        } catch {
            hasLostUpload = true
            throw error
        }
        end(isComplete: true)
    }

    /// Ends the lease, the first time it is called.
    private func end(isComplete: Bool) {
        guard let pool else { return }
        self.pool = nil
        pool.end(reading, lease: lease, isComplete: isComplete)
    }

    /// The rest of a body that was released unread.
    private struct Rest: @unchecked Sendable {
        let pool: ConnectionPool
        let lease: ConnectionPool.Lease
        let reading: BodyReading

        func drain() async {
            var reading = reading
            let isComplete = await reading.drain()
            pool.end(reading, lease: lease, isComplete: isComplete)
        }
    }
}

extension ConnectionPool {
    /// Gives the connection of a body back if the body is complete, and closes it otherwise.
    fileprivate func end(_ reading: BodyReading, lease: Lease, isComplete: Bool) {
        guard isComplete else { return abandon(reading, lease: lease) }
        conclude(reading, lease: lease, at: reading.exchange.connection.loop.now)
    }
}
