internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// One exchange on one connection.
extension Transport {
    /// Sends the request on the connection and receives the head of the response.
    ///
    /// The lease ends in here or passes to the response's body; if this throws, it stays with the caller.
    // Inlined, because almost every request takes this way: an asynchronous function of its own costs about 150
    // instructions.
    @inline(__always)
    func roundTrip(
        method: HTTPMethod,
        url: HTTPURL,
        headers: HTTPHeaders,
        defaults: HTTPHeaders,
        body: BodyContent,
        options: ExchangeOptions.Box?,
        from start: Instant,
        until end: Instant,
        timeouts: Timeouts.Nanoseconds,
        observer: (any TransportObserver)?,
        on connection: Connection,
        lease: ConnectionPool.Lease,
        isReused: Bool
    ) async throws(TransportError) -> IncomingResponse {
        let exchange = Exchange(connection: connection, timeouts: timeouts, end: end)
        var upload: Upload?
        do throws(TransportError) {
            if !isReused { try connection.checkSilence() }
            var streamed = BodyFraming.none
            if case .stream(let body) = body { streamed = try await exchange.framing(of: body) }
            let (count, rest) = try exchange.compose(
                method: method,
                url: url,
                headers: headers,
                defaults: defaults,
                body: body,
                options: options,
                streamed: streamed
            )
            if let observer {
                observer.note(.sending(connection.facts.endpoint, bytes: count, isReused: isReused))
            }
            var unsent = try exchange.send(count)
            var refusal: ResponseHead?
            if let options, options.options.expectsContinue, let rest, rest.hasContent {
                if let head = unsent { try await exchange.sendHead(head) }
                unsent = nil
                refusal = try await exchange.awaitContinue(options.options)
            }
            // Bytes that find no room now, even those of the head, are sent by a task of their own while this one
            // reads: the server may write before it reads.
            if refusal == nil, unsent != nil || rest != nil {
                upload = Upload.start(
                    unsent,
                    content: rest,
                    exchange: exchange,
                    onProgress: options?.options.onUpload
                )
            }
            if let options, rest == nil { options.options.reportUpload(of: body) }
            let sent = loop.now
            let head: ResponseHead
            if let refusal {
                // It is unknown whether the server takes the next bytes for the body or for a request.
                connection.retire()
                head = refusal
            } else {
                head = try await exchange.receiveHead(from: sent, upload, options: options)
            }
            // The server gave up waiting for a request at the time this one was sent: the 408 does not answer it.
            if isReused, head.status == .requestTimeout, method.mayBeSentTwice(with: body) {
                throw .failed(.response, .http(.responseBeforeRequest))
            }
            // The server will not serve the name on this connection next time either.
            if head.status == .misdirectedRequest { connection.retire() }
            let record = ExchangeRecord(
                connection: connection.facts,
                start: start,
                sent: sent,
                response: loop.now,
                isReused: isReused
            )
            if let observer { observer.note(.responded(head.status, record)) }
            // The server refused the request before all of it was sent: the rest is useless (RFC 9112, section 9.3),
            // also where sending has already failed, because the server has closed the connection behind its answer.
            if let upload, !upload.isFinished, head.status.code >= 300 { upload.stop() }
            if case .tunnel = connection.framing {
                try await detach(connection, lease: lease, after: upload, exchange: exchange)
                observer?.note(.bodyEnded(bytes: 0, isWhole: true))
                return (head, .upgraded(connection, timeouts), record)
            }
            var reading = BodyReading(exchange, upload, observer)
            if upload != nil { reading.head = head }
            if let options { reading.onProgress = options.options.onDownload }
            let first = try reading.takeBuffered()
            if options != nil { reading.report(first.count) }
            guard reading.isAtEnd, reading.isRequestSent else {
                return (head, .arriving(reading, first: first, lease), record)
            }
            pool.conclude(reading, lease: lease, at: record.response)
            return (head, .complete(first, reading.trailers), record)
        } catch {
            upload?.cancel()
            throw error
        }
    }

    /// Takes the connection out of the pool, for use without HTTP, when the request has been sent whole.
    private func detach(
        _ connection: Connection,
        lease: ConnectionPool.Lease,
        after upload: Upload?,
        exchange: Exchange
    ) async throws(TransportError) {
        if let upload { try await exchange.awaitEnd(of: upload) }
        guard !connection.isRetired else { throw .failed(.response, .connectionClosed) }
        pool.part(with: connection, lease)
    }
}
