internal import DirectHTTP1
internal import DirectIO
internal import DirectTLS

/// What all copies of a client share, and the walk of a request through it.
final class ClientCore: Sendable {
    let settings: HTTPClient.Settings
    let hasPlainWay: Bool
    let memory: Memory?
    let decoding: ContentDecoding
    let pool: ConnectionPool
    let dialler: Dialler
    private let clientHeaders: Headers
    private let addresses: AddressBook
    let proxies: ProxyTable?
    private let hasIdentity: Bool

    init(_ settings: HTTPClient.Settings, network: Network = Network()) {
        self.settings = settings
        hasPlainWay = settings.havePlainWay
        memory = Memory(settings)
        // A proxy is told who we are by its own settings, a server behind it never (CVE-2023-32681).
        var fields = settings.headers
        fields.remove("Proxy-Authorization")
        clientHeaders = fields
        decoding = ContentDecoding(settings.decoding, besides: fields)
        pool = ConnectionPool(
            limits: .init(
                perOrigin: max(1, settings.maximumConnectionsPerOrigin ?? .max),
                total: max(1, settings.maximumConnections ?? .max),
                idle: max(0, settings.maximumIdleConnections),
                idleTime: settings.idleTimeout.clampedNanoseconds,
                age: settings.maximumConnectionAge.clampedNanoseconds,
                uses: max(1, settings.maximumConnectionUses ?? .max),
                followsAnswers: settings.resolver != nil
            ),
            loop: settings.loop
        )
        dialler = Dialler(settings: settings, secrets: TLSSecrets(settings.tls), network: network)
        addresses = AddressBook(settings)
        proxies = ProxyTable(settings)
        hasIdentity = settings.tls.clientIdentity != nil
    }

    /// One request over the network, whatever the answer; a kept connection that turns out to be dead is
    /// replaced, unseen.
    ///
    /// With a detour it leads elsewhere than earlier tries, if there is an elsewhere.
    func transact(
        _ request: Request,
        _ trail: Trail?,
        _ call: Call,
        from start: Instant,
        detour: Detour? = nil
    ) async throws -> Response {
        let url = try request.checkedURL()
        // Refused before a byte is sent, or anything else is done for it.
        guard start < call.end else { throw call.overdue(for: url) }
        let log = call.log?.beginExchange(request.method, url)
        do throws(DialFailure) {
            let proxy = proxies?.entry(for: url)
            let route: Route
            let isChecked: Bool
            if let known = try knownRoute(of: request, to: url, over: proxy) {
                route = known
                isChecked = false
            } else {
                try await check(request, trail, url, over: proxy, within: call.limit)
                route = try await askedRoute(to: url, call.timeouts, end: call.end)
                isChecked = true
            }
            let leg = Leg(
                url: url,
                route: route,
                proxy: proxy,
                start: start,
                timeouts: call.timeouts,
                end: call.end,
                log: log,
                isAnonymous: hasIdentity && trail?.isForeign(to: url) == true,
                trail: trail
            )
            if detour == nil,
                let (connection, lease) = pool.takeIdle(
                    leg.poolKey,
                    leg.route,
                    asksKernel: !request.mayBeSentTwice,
                    at: start
                )
            {
                let permit: ConnectionPool.Permit
                do throws(CallFailure) {
                    return try await exchange(request, leg, connection, lease, isReused: true)
                } catch {
                    permit = try replace(connection, lease, isReused: true, after: error, of: request, leg)
                }
                return try await send(request, leg, dialling: permit)
            }
            // On a connection that is there the writer finds what is wrong; one that is to be dialled would be in vain.
            if !isChecked { try await check(request, trail, url, over: proxy, within: call.limit) }
            guard let detour else { return try await sendAnew(request, leg) }
            return try await send(request, leg, around: detour)
        } catch {
            let error = error.asError(name: url.host.description)
            log?.fails(error)
            throw error
        }
    }

    /// The client's own fields, as far as they are the business of the request's origin.
    func defaults(for request: Request, _ trail: Trail?) -> Headers {
        if let fields = trail?.clientFields { return fields.fields(for: request) }
        return decoding.fields(for: request)
    }

    /// Those of the client's own fields that any origin may be sent, and those that a policy lets follow.
    func fields(surviving: [String]) -> ContentDecoding {
        var harmless = clientHeaders
        harmless.keepHarmless(hasBody: false, surviving: surviving)
        return ContentDecoding(settings.decoding, besides: harmless)
    }

    /// Sends the request on a connection of its own, or on the next one that becomes free.
    func sendAnew(_ request: Request, _ leg: Leg) async throws(DialFailure) -> Response {
        let (connection, lease, isReused) = try await connection(for: leg)
        let permit: ConnectionPool.Permit
        do throws(CallFailure) {
            return try await exchange(request, leg, connection, lease, isReused: isReused)
        } catch {
            permit = try replace(connection, lease, isReused: isReused, after: error, of: request, leg)
        }
        return try await send(request, leg, dialling: permit)
    }

    /// The response is read to its end: the connection may serve again, if all is as it should be.
    func conclude(_ reading: BodyReading, _ lease: ConnectionPool.Lease, at now: Instant) {
        let connection = reading.exchange.connection
        reading.log?.endBody(reading.received, isWhole: true)
        if let upload = reading.upload {
            guard upload.isFinished else { return giveUp(reading, lease) }
            connection.endDuplex()
        }
        if case .reusable = connection.reuse, !connection.hasUnparsedBytes, !connection.isRetired {
            pool.checkIn(connection, lease, at: now)
        } else {
            pool.discard(connection, lease)
        }
    }

    /// Nobody wants the rest of it.
    func abandon(_ reading: BodyReading, _ lease: ConnectionPool.Lease) {
        reading.log?.endBody(reading.received, isWhole: false)
        giveUp(reading, lease)
    }

    private func giveUp(_ reading: BodyReading, _ lease: ConnectionPool.Lease) {
        reading.upload?.cancel()
        pool.discard(reading.exchange.connection, lease)
    }

    func route(
        of request: Request,
        to url: HTTPURL,
        over proxy: ProxyEntry?,
        _ timeouts: Timeouts.Nanoseconds,
        end: Instant
    ) async throws(DialFailure) -> Route {
        if let known = try knownRoute(of: request, to: url, over: proxy) { return known }
        return try await askedRoute(to: url, timeouts, end: end)
    }

    /// The route, if nobody has to be asked for it.
    private func knownRoute(
        of request: Request,
        to url: HTTPURL,
        over proxy: ProxyEntry?
    ) throws(DialFailure) -> Route? {
        do throws(CallFailure) {
            if let proxy, proxy.proxy.lookup == .byProxy {
                return try addresses.chosenRoute(for: request, to: url) ?? .byProxy
            }
            return try addresses.knownRoute(for: request, to: url)
        } catch {
            throw DialFailure(cause: error)
        }
    }

    private func askedRoute(
        to url: HTTPURL,
        _ timeouts: Timeouts.Nanoseconds,
        end: Instant
    ) async throws(DialFailure) -> Route {
        let patience = Patience(
            .resolve,
            stall: timeouts.resolve,
            end: end,
            total: timeouts.total,
            from: settings.loop.now
        )
        do throws(CallFailure) {
            return try await addresses.askedRoute(to: url, patience)
        } catch {
            throw DialFailure(cause: error)
        }
    }

    func connection(
        for leg: Leg
    ) async throws(DialFailure) -> (Connection, ConnectionPool.Lease, isReused: Bool) {
        let patience = Patience(
            .queue,
            stall: leg.timeouts.queue,
            end: leg.end,
            total: leg.timeouts.total,
            from: settings.loop.now
        )
        let turn: ConnectionPool.Turn
        do throws(CallFailure) {
            turn = try await pool.checkOut(leg.poolKey, leg.route, leg.kept, patience)
        } catch {
            throw DialFailure(cause: error)
        }
        switch turn {
        case .reuse(let connection, let lease): return (connection, lease, true)
        case .dial(let permit):
            let (connection, lease) = try await dial(leg, permit)
            return (connection, lease, false)
        }
    }

    /// The walk of a request over one connection. The lease ends in here, or passes to the body; where this throws,
    /// it stays with the caller.
    func exchange(
        _ request: Request,
        _ leg: Leg,
        _ connection: Connection,
        _ lease: ConnectionPool.Lease,
        isReused: Bool
    ) async throws(CallFailure) -> Response {
        let exchange = Exchange(connection: connection, timeouts: leg.timeouts, end: leg.end)
        let asked = request.asked
        var upload: Upload?
        do throws(CallFailure) {
            if !isReused { try connection.checkSilence() }
            var streamed = BodyFraming.none
            if case .stream(let body) = request.body.content {
                streamed = try await exchange.framing(of: body)
            }
            let fields = defaults(for: request, leg.trail)
            let (count, rest) = try exchange.compose(request, leg.url, fields, asked, streamed: streamed)
            if let log = leg.log {
                log.sends(request.method, leg.url, connection, bytes: count, isReused: isReused)
            }
            var unsent = try exchange.send(count)
            var refusal: ResponseHead?
            if let asked, asked.options.expectsContinue, let rest, rest.hasContent {
                if let head = unsent { try await exchange.sendHead(head) }
                unsent = nil
                refusal = try await exchange.awaitLeave(asked.options)
            }
            // What finds no room at once is sent beside the reading, be it a head: the server may write first.
            if refusal == nil, unsent != nil || rest != nil {
                upload = Upload.start(unsent, rest, exchange, asked?.options.onUpload)
            }
            if let asked, rest == nil { asked.options.reportUpload(of: request.body) }
            let sent = settings.loop.now
            let head: ResponseHead
            if let refusal {
                // Whether it takes the next bytes for the body or for a request, nobody knows.
                connection.retire()
                head = refusal
            } else {
                head = try await exchange.receiveHead(from: sent, upload, asked)
            }
            // The server had given up waiting for a request when it was sent one: this is no answer to it.
            if isReused, head.status == .requestTimeout, request.mayBeSentTwice {
                throw .failed(.response, .http(.responseBeforeRequest))
            }
            // It will not know the name any better next time.
            if head.status == .misdirectedRequest { connection.retire() }
            let times = Transaction.Times(start: leg.start, sent: sent, response: settings.loop.now)
            let transaction = Transaction(connection: connection.facts, times: times, isReused: isReused)
            leg.log?.responds(head.status, transaction)
            // A refusal before all was sent: the rest would be in vain (RFC 9112, section 9.3).
            if let upload, upload.isRunning, head.status.code >= 300 { upload.stop() }
            var reading = BodyReading(exchange, upload, leg.log)
            if upload != nil { reading.head = head }
            if let asked { reading.onProgress = asked.options.onDownload }
            let body: ResponseBody
            if case .tunnel = connection.framing {
                body = try await tunnel(reading, lease)
            } else {
                let first = try reading.takeBuffered()
                if asked != nil { reading.report(first.count) }
                if reading.isAtEnd, reading.isRequestSent {
                    conclude(reading, lease, at: times.response)
                    body = ResponseBody(content: .complete(first, reading.trailers, connection.facts))
                } else {
                    body = ResponseBody(content: .arriving(BodyStream(self, lease, reading, first: first)))
                }
            }
            return Response(head: head, body: body, url: leg.url, transaction: transaction)
        } catch {
            upload?.cancel()
            throw error
        }
    }

    /// Hands the connection over to who goes on without HTTP.
    private func tunnel(
        _ reading: BodyReading,
        _ lease: ConnectionPool.Lease
    ) async throws(CallFailure) -> ResponseBody {
        if let upload = reading.upload { try await reading.exchange.awaitEnd(of: upload) }
        guard !reading.exchange.connection.isRetired else { throw .failed(.response, .connectionClosed) }
        pool.part(with: reading.exchange.connection, lease)
        reading.log?.endBody(0, isWhole: true)
        let stream = RawStream(reading.exchange.connection, reading.exchange.timeouts)
        return ResponseBody(content: .arriving(PendingStream(stream)))
    }
}

extension Request {
    /// The URL, or an error that says what is wrong with it.
    func checkedURL() throws(HTTPError) -> HTTPURL {
        switch target {
        case .success(let url): return url
        case .failure(let fault): throw HTTPError(.request, .url(fault))
        }
    }

}

extension DialFailure {
    func asError(name: String) -> any Error {
        switch cause {
        case .cancelled: CancellationError()
        case .failed(let phase, let reason):
            HTTPError(phase, reason, name: name, endpoint: endpoint, attempts: attempts)
        }
    }
}
