package import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTLS

/// Sends requests over the connections of one client, and keeps those connections.
///
/// `send` takes an idle connection or dials one, runs the exchange on it and returns the response as soon as
/// its head has arrived. The rules on the way:
/// - No connection is dialled for an invalid request; on an idle connection the writer refuses it.
/// - A request goes only to an address that its route allows, on an idle connection or on a new one.
/// - Each lease ends exactly once. It stays with `send` until the response is complete, or passes with the
///   response's body to its reader.
/// - A request is replayed once at most. If an idle connection turns out to be dead, the call dials one in
///   its place (`replace`); a failure there is final.
package final class Transport: Sendable {
    package let pool: ConnectionPool
    package let dialler: Dialler

    /// Makes a transport without connections.
    package init(limits: PoolLimits, dialling: DialConfiguration, network: Network = Network()) {
        pool = ConnectionPool(limits: limits, loop: dialling.loop)
        dialler = Dialler(dialling, network: network)
    }

    var loop: EventLoop { pool.loop }

    /// Sends one request and returns the response, whatever its status. An idle connection that turns out to
    /// be dead is replaced without the caller's notice.
    package func send(_ request: inout OutgoingRequest) async throws(DialFailure) -> IncomingResponse {
        var detour = request.target.detour
        var leased: LeasedConnection
        if detour == nil,
            let (connection, lease) = pool.takeIdle(
                request.target,
                asksKernel: !request.message.mayBeSentTwice,
                at: request.written == nil ? request.start : loop.now
            )
        {
            leased = LeasedConnection(connection: connection, lease: lease, wasIdle: true)
        } else {
            (leased, detour) = try await connection(for: &request)
        }
        while true {
            let failure: TransportError
            do throws(TransportError) {
                return try await perform(request, on: leased)
            } catch {
                failure = error
            }
            leased = try await replacement(of: leased, after: failure, of: request, around: detour)
        }
    }
}

/// One exchange on one connection.
extension Transport {
    /// Sends the request on the connection and receives the head of the response.
    ///
    /// The lease ends in here or passes to the response's body; if this throws, it stays with the caller.
    // Inlined, because almost every request takes this way: an asynchronous function of its own costs about
    // 150 instructions. So are its steps, which do not wait.
    @inline(__always)
    func perform(
        _ request: borrowing OutgoingRequest,
        on leased: LeasedConnection
    ) async throws(TransportError) -> IncomingResponse {
        let connection = leased.connection
        let exchange = Exchange(connection, within: request.limit)
        let isReused = connection.hasServed
        var upload: Upload?
        do throws(TransportError) {
            if !leased.wasIdle { try connection.checkSilence() }
            var streamed = BodyFraming.none
            if case .stream = request.message.body { streamed = try await framing(of: request, on: leased) }
            var (unsent, rest) = try begin(request, exchange, streamed: streamed, isReused: isReused)
            var (refusal, isAskedFor): (ResponseHead?, Bool) = (nil, true)
            if let options = request.message.options, options.options.expectsContinue, let rest,
                rest.hasContent
            {
                (refusal, isAskedFor) = try await exchange.awaitContinue(options.options, sending: unsent)
                unsent = nil
            }
            if refusal == nil { upload = goOn(with: unsent, rest, of: request, exchange) }
            if let options = request.message.options, rest == nil {
                options.options.reportUpload(of: request.message.body)
            }
            let sent = loop.now
            let head: ResponseHead
            if let refusal {
                head = refusal
            } else {
                head = try await exchange.receiveHead(from: sent, upload, options: request.message.options)
            }
            // It is unknown whether the server takes the body that it has not asked for, or the next bytes in
            // its place, for a request: it may have decided before it has seen any of them.
            if !isAskedFor, refusal != nil || head.status.code >= 300 { connection.retire() }
            try judge(head, of: request, on: leased)
            let record = record(of: request, on: leased, sent: sent, isReused: isReused)
            connection.hasServed = true
            request.observer?.note(making: .responded(head.status, record))
            if let upload, head.status.code >= 300 { try await end(upload, after: head.status) }
            if case .tunnel = connection.framing {
                return try await detach(leased, from: request, after: upload, exchange, head, record)
            }
            return try await conclude(head, of: request, on: leased, after: upload, exchange, record)
        } catch {
            upload?.cancel()
            throw error
        }
    }

    /// Returns the framing of a streamed body. The length of a file takes its time, in which an idle
    /// connection may have ended.
    @inline(never)
    private func framing(of request: borrowing OutgoingRequest, on leased: LeasedConnection)
        async throws(TransportError) -> BodyFraming
    {
        if let written = request.written { return written.framing }
        let framing = try await request.message.body.framing(on: loop, within: request.limit)
        let asksKernel = !request.message.mayBeSentTwice
        if leased.wasIdle, !leased.connection.isIdleAndAlive(asksKernel: asksKernel) {
            throw .failed(.request, .connectionClosed)
        }
        return framing
    }

    /// Sends what finds room at once. Returns the bytes that found none, and the part of the body that is
    /// left.
    @inline(__always)
    private func begin(
        _ request: borrowing OutgoingRequest,
        _ exchange: Exchange,
        streamed: BodyFraming,
        isReused: Bool
    ) throws(TransportError) -> (unsent: [UInt8]?, rest: Upload.Content?) {
        let (count, rest) = try exchange.compose(
            request.message,
            to: request.target.url,
            streamed: streamed,
            written: request.written?.bytes
        )
        let endpoint = exchange.connection.facts.endpoint
        request.observer?.note(making: .sending(endpoint, bytes: count, isReused: isReused))
        return (try exchange.send(count), rest)
    }

    /// Begins the upload of what is left of a request; `nil` if nothing is.
    ///
    /// Bytes that find no room now, even those of the head, are sent by a task of their own while this one
    /// reads: the server may write before it reads.
    @inline(__always)
    private func goOn(
        with unsent: [UInt8]?,
        _ rest: Upload.Content?,
        of request: borrowing OutgoingRequest,
        _ exchange: Exchange
    ) -> Upload? {
        guard unsent != nil || rest != nil else { return nil }
        let options = request.message.options?.options
        return Upload.start(
            unsent,
            content: rest,
            exchange: exchange,
            onProgress: options?.onUpload,
            rate: options?.sendingRate
        )
    }

    /// Throws if the response is none to this request.
    @inline(__always)
    private func judge(
        _ head: ResponseHead,
        of request: borrowing OutgoingRequest,
        on leased: LeasedConnection
    ) throws(TransportError) {
        // The server gave up waiting for a request at the time this one was sent: the 408 does not answer it.
        if leased.wasIdle, head.status == .requestTimeout, request.message.mayBeSentAgain {
            throw .failed(.response, .http(.responseBeforeRequest))
        }
        // The server will not serve the name on this connection next time either.
        if head.status == .misdirectedRequest { leased.connection.retire() }
    }

    @inline(__always)
    private func record(
        of request: borrowing OutgoingRequest,
        on leased: LeasedConnection,
        sent: Instant,
        isReused: Bool
    ) -> ExchangeRecord {
        var record = ExchangeRecord(
            connection: leased.connection.facts,
            start: request.start,
            sent: sent,
            response: loop.now,
            isReused ? .reused : leased.wasIdle ? .prewarmed : .dialled,
            // An observer gets the record before it is known whether the body has arrived.
            bodyEnd: request.observer == nil ? nil : BodyEnd()
        )
        record.queued = leased.queued
        return record
    }

    /// Stops an upload that the server has refused before all of it was sent: the rest is useless (RFC 9112,
    /// section 9.3), also where sending has already failed, because the server has closed the connection
    /// behind its answer.
    @inline(never)
    private func end(_ upload: Upload, after status: HTTPStatus) async throws(TransportError) {
        upload.stop()
        // A redirect may turn what the server was sent into a success.
        if status.code < 400, !upload.isStopped { try await upload.waitForEnd() }
    }

    /// Returns the response, and ends the lease if it is whole.
    @inline(__always)
    private func conclude(
        _ head: ResponseHead,
        of request: borrowing OutgoingRequest,
        on leased: LeasedConnection,
        after upload: Upload?,
        _ exchange: Exchange,
        _ record: ExchangeRecord
    ) async throws(TransportError) -> IncomingResponse {
        let buffered = try exchange.takeBuffered()
        // Most small responses are whole by now, and need no reader.
        guard buffered.isAtEnd, upload == nil, request.message.options == nil else {
            return try await begin(buffered, of: head, to: request, on: leased, after: upload, record)
        }
        record.bodyEnd?.note(record.response)
        let count = UInt64(buffered.content.count)
        request.observer?.note(making: .bodyEnded(bytes: count, isWhole: true))
        pool.conclude(leased.connection, lease: leased.lease, at: record.response)
        return (head, .complete(buffered.content, buffered.trailers ?? HTTPHeaders()), record)
    }

    /// Returns a response whose body has not arrived whole, or of whose progress the caller is told.
    // Not inlined, as the notes to observers: a request that waits for its response would need the room.
    @inline(never)
    private func begin(
        _ buffered: BufferedContent,
        of head: ResponseHead,
        to request: borrowing OutgoingRequest,
        on leased: LeasedConnection,
        after upload: Upload?,
        _ record: ExchangeRecord
    ) async throws(TransportError) -> IncomingResponse {
        var record = record
        let exchange = Exchange(leased.connection, within: request.limit)
        var reading = BodyReading(exchange, upload, request.observer)
        reading.note(buffered)
        reading.end = record.bodyEnd
        if upload != nil { reading.head = head }
        var first = buffered.content
        if let options = request.message.options {
            reading.onProgress = options.options.onDownload
            reading.rate = options.options.receivingRate
            reading.report(first.count)
        }
        var time = record.response
        if head.status.asksProgram, !reading.isAtEnd {
            // The usual refusal holds no connection while the program is asked about it.
            reading.end = reading.end ?? BodyEnd()
            first += try await reading.readAhead()
            time = loop.now
        }
        if let rate = reading.rate { try await rate.pay(for: first.count, within: request.limit, on: loop) }
        record.bodyEnd = reading.end
        guard reading.isAtEnd, reading.isRequestOver else {
            let end = reading.end ?? BodyEnd()
            let isForAnyone = head.status.asksProgram
            end.hold(ConnectionPool.Place(pool: pool, lease: leased.lease, isForAnyone: isForAnyone))
            (record.bodyEnd, reading.end) = (end, end)
            return (head, .arriving(reading, first: first, leased.lease), record)
        }
        pool.conclude(reading, lease: leased.lease, at: time)
        return (head, .complete(first, reading.trailers), record)
    }

    /// Takes the connection out of the pool, for use without HTTP, when the request has been sent whole.
    ///
    /// The server may already have sent bytes of the new protocol. They stay where they are.
    @inline(never)
    private func detach(
        _ leased: LeasedConnection,
        from request: borrowing OutgoingRequest,
        after upload: Upload?,
        _ exchange: Exchange,
        _ head: ResponseHead,
        _ record: ExchangeRecord
    ) async throws(TransportError) -> IncomingResponse {
        if let upload { try await exchange.awaitEnd(ofSwitching: upload) }
        guard !leased.connection.isRetired else { throw .failed(.response, .connectionClosed) }
        pool.part(with: leased.connection, leased.lease)
        request.observer?.note(making: .bodyEnded(bytes: 0, isWhole: true))
        var record = record
        record.bodyEnd = record.bodyEnd ?? BodyEnd()
        return (head, .upgraded(leased.connection, request.limit.timeouts), record)
    }
}

extension TransportObserver {
    /// Notes an event. Not inlined: the frame of `send` would be larger by each.
    @inline(never)
    fileprivate func note(making event: @autoclosure () -> TransportEvent) { note(event()) }
}

/// The end of a response, for the lease on its connection.
extension ConnectionPool {
    /// Ends the lease of a response that was read to its end: the connection goes back to the pool if it can
    /// be reused.
    package func conclude(_ reading: BodyReading, lease: Lease, at now: Instant) {
        let connection = reading.exchange.connection
        reading.end?.note(now)
        noteBody(of: reading.received)
        reading.observer?.note(.bodyEnded(bytes: reading.received, isWhole: true))
        if let upload = reading.upload {
            guard upload.isFinished else { return giveUp(reading, lease: lease) }
            connection.endDuplex()
        }
        conclude(connection, lease: lease, at: now)
    }

    /// Ends the lease of a connection whose exchange is complete.
    @inline(__always)
    func conclude(_ connection: Connection, lease: Lease, at now: Instant) {
        if case .reusable = connection.reuse, !connection.hasUnparsedBytes, !connection.isRetired {
            checkIn(connection, lease: lease, at: now)
        } else {
            discard(connection, lease: lease)
        }
    }

    /// Ends the lease of a response that is not read to its end, and closes the connection.
    package func abandon(_ reading: BodyReading, lease: Lease) {
        reading.end?.note(nil)
        noteBody(of: reading.received)
        reading.observer?.note(.bodyEnded(bytes: reading.received, isWhole: false))
        giveUp(reading, lease: lease)
    }

    /// Stops the upload and closes the connection.
    private func giveUp(_ reading: BodyReading, lease: Lease) {
        reading.upload?.cancel()
        discard(reading.exchange.connection, lease: lease)
    }
}

/// The end of a failed exchange, for its connection and for the request.
extension Transport {
    /// Ends the lease of a failed exchange, and returns a permit to dial if the request is to be sent again.
    ///
    /// That is the case if an idle connection was dead before the request reached it, and the request may be
    /// sent twice or no byte of it was sent. The call keeps its place among the open connections and may dial
    /// in it: it does not queue, so that it gets no other idle connection, which may be dead as well.
    ///
    /// - Throws: the failure, if the request must not be sent again.
    private func replace(
        _ leased: LeasedConnection,
        after failure: TransportError,
        of request: borrowing OutgoingRequest
    ) throws(DialFailure) -> ConnectionPool.Permit {
        let (connection, lease, wasIdle) = (leased.connection, leased.lease, leased.wasIdle)
        let mayGoOn = failure.showsStale(connection) && request.message.mayBeSentAgain
        guard wasIdle, mayGoOn || failure.precedesRequest else {
            if wasIdle, failure.showsFrozen(connection) { pool.dismissSiblings(of: connection, lease) }
            end(connection, lease: lease, after: failure)
            throw DialFailure(
                cause: failure,
                endpoint: connection.facts.endpoint,
                attempts: wasIdle ? [] : connection.facts.search.failedAttempts
            )
        }
        request.observer?.note(.foundDead(connection.facts.endpoint))
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
        var fresh = try await dial(target, permit: permit, for: request)
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
    /// Whether the connection was found dead before any byte of the request was sent.
    fileprivate var precedesRequest: Bool {
        if case .failed(.request, .connectionClosed) = self { true } else { false }
    }

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
