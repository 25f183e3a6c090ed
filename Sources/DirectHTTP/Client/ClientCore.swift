internal import DirectHTTP1
internal import DirectIO
internal import DirectTLS

/// What all copies of a client share, and the walk of a request through it.
final class ClientCore: Sendable {
    let settings: HTTPClient.Settings
    private let pool: ConnectionPool
    private let dialler: Dialler

    init(_ settings: HTTPClient.Settings) {
        self.settings = settings
        pool = ConnectionPool(
            limits: .init(
                perOrigin: max(1, settings.maximumConnectionsPerOrigin ?? .max),
                idle: max(0, settings.maximumIdleConnections),
                idleTime: settings.idleTimeout.clampedNanoseconds
            ),
            loop: settings.loop
        )
        dialler = Dialler(settings: settings, secrets: TLSSecrets(settings.tls))
    }

    func send(_ request: Request) async throws -> Response {
        // Looked at here, as a request that never has to wait would not notice.
        if Task.isCancelled { throw CancellationError() }
        let start = Instant.now
        let url: HTTPURL
        let route: Route
        do throws(HTTPError.Reason) {
            (url, route) = try destination(of: request)
        } catch {
            throw HTTPError(.request, error, name: try? request.url.host.description)
        }
        let timeouts = (request.timeouts ?? settings.timeouts).nanoseconds
        let end = start.advanced(byNanoseconds: timeouts.total)
        let call = Call(url: url, route: route, timeouts: timeouts, start: start, end: end)
        do throws(DialFailure) {
            if let (connection, lease) = pool.takeIdle(PoolKey(origin: url.origin), route) {
                do throws(CallFailure) {
                    return try await exchange(request, call, connection, lease, isReused: true)
                } catch {
                    guard error.showsStale(connection), request.mayBeSentTwice else {
                        throw DialFailure(cause: error, endpoint: connection.facts.endpoint)
                    }
                }
                return try await sendAnew(request, call, fresh: true)
            }
            return try await sendAnew(request, call, fresh: false)
        } catch {
            throw error.asError(name: url.host.description)
        }
    }

    /// Sends the request on a connection of its own, or on the next one that becomes free.
    private func sendAnew(
        _ request: Request,
        _ call: Call,
        fresh: Bool
    ) async throws(DialFailure) -> Response {
        let (connection, lease, isReused) = try await connection(for: call, fresh: fresh)
        do throws(CallFailure) {
            return try await exchange(request, call, connection, lease, isReused: isReused)
        } catch {
            // Once is enough: a replay is not replayed.
            guard isReused, !fresh, error.showsStale(connection), request.mayBeSentTwice else {
                let facts = connection.facts
                throw DialFailure(
                    cause: error,
                    endpoint: facts.endpoint,
                    attempts: isReused ? [] : facts.failedAttempts
                )
            }
        }
        return try await sendAnew(request, call, fresh: true)
    }

    /// The response is read to its end: the connection may serve again, if all is as it should be.
    func conclude(_ reading: BodyReading, _ lease: ConnectionPool.Lease, at now: Instant) {
        let connection = reading.exchange.connection
        if let upload = reading.upload {
            guard upload.isFinished else { return abandon(reading, lease) }
            connection.endDuplex()
        }
        if case .reusable = connection.reuse, !connection.hasUnparsedBytes, !reading.leavesBodyUnsent {
            pool.checkIn(connection, lease, at: now)
        } else {
            pool.discard(connection, lease)
        }
    }

    /// Nobody wants the rest of it.
    func abandon(_ reading: BodyReading, _ lease: ConnectionPool.Lease) {
        reading.upload?.cancel()
        pool.discard(reading.exchange.connection, lease)
    }

    /// Where the request wants to go. The precedence: itself, the map, a literal in its URL,
    /// the system.
    private func destination(of request: Request) throws(HTTPError.Reason) -> (HTTPURL, Route) {
        let url: HTTPURL
        switch request.target {
        case .success(let parsed): url = parsed
        case .failure(let fault): throw .url(fault)
        }
        if let addresses = request.addresses {
            guard !addresses.isEmpty else { throw .noAddresses }
            for case let fault? in addresses.lazy.map(\.fault) { throw .address(fault) }
            return (url, .chosen(addresses, port: url.port, .request))
        }
        if !settings.addresses.isEmpty,
            let mapped = settings.addresses.endpoints(for: url.host, port: url.port)
        {
            return (url, .chosen(mapped, port: url.port, .staticMap))
        }
        if case .address(let address) = url.host { return (url, .literal(address, port: url.port)) }
        return (url, .system)
    }

    private func connection(
        for call: Call,
        fresh: Bool
    ) async throws(DialFailure) -> (Connection, ConnectionPool.Lease, isReused: Bool) {
        let patience = Patience(
            phase: .queue,
            stall: call.timeouts.queue,
            end: call.end,
            total: call.timeouts.total
        )
        let turn: ConnectionPool.Turn
        do throws(CallFailure) {
            let key = PoolKey(origin: call.url.origin)
            turn = try await pool.checkOut(key, call.route, fresh: fresh, patience)
        } catch {
            throw DialFailure(cause: error)
        }
        switch turn {
        case .reuse(let connection, let lease): return (connection, lease, true)
        case .dial(let lease):
            do throws(DialFailure) {
                let connection = try await dialler.dial(call.url, call.route, call.timeouts, end: call.end)
                return (connection, lease, false)
            } catch {
                pool.release(lease)
                throw error
            }
        }
    }

    /// The walk of a request over one connection. The lease ends in here, or passes to the body.
    private func exchange(
        _ request: Request,
        _ call: Call,
        _ connection: Connection,
        _ lease: ConnectionPool.Lease,
        isReused: Bool
    ) async throws(CallFailure) -> Response {
        let exchange = Exchange(connection, call.timeouts, end: call.end, request)
        var upload: Upload?
        do throws(CallFailure) {
            var streamed = BodyFraming.none
            if case .stream(let body) = request.body.content {
                streamed = try await exchange.framing(of: body)
            }
            let (count, rest) = try exchange.compose(request, call.url, settings.headers, streamed: streamed)
            try await exchange.send(count)
            var refusal: ResponseHead?
            if exchange.needsLeave(for: rest) { refusal = try await exchange.awaitLeave() }
            if let rest, refusal == nil {
                upload = Upload.start(rest, exchange)
            } else if exchange.asked != nil {
                exchange.reportUpload(of: request.body)
            }
            let sent = Instant.now
            let head: ResponseHead
            if let refusal {
                head = refusal
            } else {
                head = try await exchange.receiveHead(from: sent, upload)
            }
            let times = Transaction.Times(start: call.start, sent: sent, response: .now)
            // A refusal before all was sent: the rest would be in vain (RFC 9112, section 9.3).
            if let upload, upload.isRunning, !head.status.isSuccess { upload.cancel() }
            var reading = BodyReading(exchange, upload)
            reading.leavesBodyUnsent = refusal != nil
            if case .tunnel = connection.framing {
                let body = try await tunnel(reading, lease)
                let transaction = Transaction(connection: connection.facts, times: times, isReused: isReused)
                return Response(head: head, body: body, transaction: transaction)
            }
            let first = try reading.takeBuffered()
            if exchange.asked != nil { reading.report(first.count) }
            let body: ResponseBody
            if reading.isAtEnd {
                if let upload { await upload.settle() }
                conclude(reading, lease, at: times.response)
                body = ResponseBody(content: .complete(first, reading.trailers, connection.facts))
            } else {
                body = ResponseBody(content: .arriving(BodyStream(self, lease, reading, first: first)))
            }
            let transaction = Transaction(connection: connection.facts, times: times, isReused: isReused)
            return Response(head: head, body: body, transaction: transaction)
        } catch {
            upload?.cancel()
            if case .failed(.request, _) = error {
                // Refused by ourselves: not a byte of it was sent.
                pool.checkIn(connection, lease, at: .now)
            } else {
                pool.discard(connection, lease)
            }
            throw error
        }
    }

    /// Hands the connection over to who goes on without HTTP.
    private func tunnel(
        _ reading: BodyReading,
        _ lease: ConnectionPool.Lease
    ) async throws(CallFailure) -> ResponseBody {
        if let upload = reading.upload {
            await upload.settle()
            guard upload.isFinished else { throw .failed(.response, .connectionClosed) }
        }
        guard !reading.leavesBodyUnsent else { throw .failed(.response, .connectionClosed) }
        pool.release(lease)
        let stream = RawStream(reading.exchange.connection, reading.exchange.timeouts)
        return ResponseBody(content: .arriving(PendingStream(stream)))
    }
}

/// A request on its way through the client.
private struct Call {
    let url: HTTPURL
    let route: Route
    let timeouts: Timeouts.Nanoseconds
    let start: Instant
    let end: Instant
}

extension CallFailure {
    /// Whether the connection was dead before the request reached it.
    fileprivate func showsStale(_ connection: Connection) -> Bool {
        guard !connection.hasResponseBegun, case .failed(let phase, let reason) = self else { return false }
        guard phase == .write || phase == .response else { return false }
        switch reason {
        case .http(.closedBeforeResponse), .connectionClosed, .system: return true
        case .tls(.connectionLost), .tls(.truncated): return true
        default: return false
        }
    }
}

extension Request {
    /// Whether sending it again does no harm (RFC 9110, section 9.2.2; RFC 9112, section 9.3.1).
    fileprivate var mayBeSentTwice: Bool { method.isIdempotent && body.isReplayable }
}

extension DialFailure {
    fileprivate func asError(name: String) -> any Error {
        switch cause {
        case .cancelled: CancellationError()
        case .failed(let phase, let reason):
            HTTPError(phase, reason, name: name, endpoint: endpoint, attempts: attempts)
        }
    }
}
