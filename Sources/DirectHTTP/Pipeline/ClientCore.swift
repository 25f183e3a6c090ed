internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTLS
internal import DirectTransport

/// The state that all copies of a client share, and the way of a request onto the network.
///
/// `roundTrip` sends one request: it finds the route, takes an idle connection or dials one, runs the exchange on it
/// and returns a response whose body may still arrive. The rules on the way:
/// - No connection is dialled for an invalid request; on an idle connection the writer refuses it.
/// - A request goes only to an address that its route allows, on an idle connection or on a new one.
/// - Each lease ends exactly once. It stays with the call until the response is complete, or passes to the body's
///   stream, which ends it.
/// - A request is replayed once at most. If an idle connection turns out to be dead, the call dials one in its
///   place; a failure there is final.
final class ClientCore: Sendable {
    let configuration: HTTPClient.Configuration
    /// Whether requests without options take the fast path.
    let hasPlainWay: Bool
    /// The cookie store and the HSTS store; `nil` if the client has neither.
    let cookiesAndHSTS: CookiesAndHSTS?
    /// The decoding of responses, and the fields that ask for it.
    let decoding: ContentDecoding
    let pool: ConnectionPool
    let dialler: Dialler
    /// The client's own fields, without those for a proxy.
    private let clientHeaders: HTTPHeaders
    /// The time limits of requests that have none of their own.
    let timeouts: Timeouts.Nanoseconds
    /// Finds the route of a request.
    private let addresses: RoutePlanner
    /// The proxies; `nil` if there are none.
    let proxies: ProxyTable?
    /// Whether the client has a certificate.
    private let hasIdentity: Bool

    init(_ configuration: HTTPClient.Configuration, network: Network = Network()) {
        self.configuration = configuration
        hasPlainWay = configuration.havePlainWay
        cookiesAndHSTS = CookiesAndHSTS(configuration)
        // Proxies have credentials of their own in their settings; a server behind a proxy never gets them
        // (CVE-2023-32681).
        var fields = configuration.headers
        fields.remove("Proxy-Authorization")
        clientHeaders = fields
        timeouts = configuration.timeouts.nanoseconds
        decoding = ContentDecoding(configuration.decoding, besides: fields, on: configuration.loop)
        pool = ConnectionPool(
            limits: .init(
                perOrigin: max(1, configuration.maximumConnectionsPerOrigin ?? .max),
                total: max(1, configuration.maximumConnections ?? .max),
                idle: max(0, configuration.maximumIdleConnections),
                idleTime: configuration.idleTimeout.clampedNanoseconds,
                age: configuration.maximumConnectionAge.clampedNanoseconds,
                uses: max(1, configuration.maximumConnectionUses ?? .max),
                tracksResolver: configuration.resolver != nil
            ),
            loop: configuration.loop
        )
        dialler = Dialler(configuration.dialConfiguration, network: network)
        addresses = RoutePlanner(configuration)
        proxies = ProxyTable(configuration.proxy, tls: configuration.tls)
        hasIdentity = configuration.tls.clientIdentity != nil
    }

    /// Sends one request over the network and returns the response, whatever its status. An idle connection that
    /// turns out to be dead is replaced without the caller's notice.
    ///
    /// - Parameter detour: the endpoints that failed before, which are avoided if there are others.
    func roundTrip(
        _ request: Request,
        trail: Trail?,
        call: Call,
        from start: Instant,
        detour: Detour? = nil
    ) async throws -> Response {
        let url = try request.checkedURL()
        // Refused before any byte is sent and any other work is done.
        guard start < call.end else { throw call.overdue(for: url) }
        let log = call.log?.beginExchange(request.method, url: url)
        do throws(DialFailure) {
            let proxy = proxies?.entry(for: url)
            let route: Route
            let isChecked: Bool
            if let known = try knownRoute(of: request, to: url, over: proxy) {
                route = known
                isChecked = false
            } else {
                try await check(request, trail: trail, url: url, over: proxy, within: call.limit)
                route = try await askedRoute(to: url, call.timeouts, end: call.end)
                isChecked = true
            }
            let context = ExchangeContext(
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
                    context.poolKey,
                    route: context.route,
                    asksKernel: !request.mayBeSentTwice,
                    at: start
                )
            {
                let permit: ConnectionPool.Permit
                do throws(TransportError) {
                    return try await exchange(
                        request,
                        context: context,
                        connection: connection,
                        lease: lease,
                        isReused: true
                    )
                } catch {
                    permit = try replace(
                        connection,
                        lease: lease,
                        isReused: true,
                        after: error,
                        of: request,
                        context: context
                    )
                }
                return try await send(request, context: context, dialling: permit)
            }
            // On an existing connection the writer finds an invalid request; here one would be dialled for nothing.
            if !isChecked {
                try await check(request, trail: trail, url: url, over: proxy, within: call.limit)
            }
            guard let detour else { return try await sendOnNewConnection(request, context: context) }
            return try await send(request, context: context, around: detour)
        } catch {
            let error = error.asError(name: url.host.description)
            log?.fails(error)
            throw error
        }
    }

    /// Returns the client's default fields, reduced to those that may be sent to the request's origin.
    func defaults(for request: Request, _ trail: Trail?) -> HTTPHeaders {
        if let fields = trail?.clientFields { return fields.fields(for: request) }
        return decoding.fields(for: request)
    }

    /// Returns the client's own fields that may be sent to any origin, and those that a redirect policy lets
    /// through.
    func fields(surviving: [String]) -> ContentDecoding {
        var harmless = clientHeaders
        harmless.keepCrossOriginSafe(hasBody: false, surviving: surviving)
        return ContentDecoding(configuration.decoding, besides: harmless, on: configuration.loop)
    }

    /// Sends the request on a new connection, or on the next one that becomes free.
    func sendOnNewConnection(_ request: Request, context: ExchangeContext) async throws(DialFailure)
        -> Response
    {
        try await send(request, context: context, on: try await connection(for: context))
    }

    /// A connection that a request has for itself, and whether it has served one before.
    typealias Acquired = (connection: Connection, lease: ConnectionPool.Lease, isReused: Bool)

    /// Sends the request on the connection, and on a new one if that turns out to be dead.
    ///
    /// `roundTrip` does the same without this call: another frame would cost every request on an idle connection.
    func send(_ request: Request, context: ExchangeContext, on acquired: Acquired) async throws(DialFailure)
        -> Response
    {
        let (connection, lease, isReused) = acquired
        let permit: ConnectionPool.Permit
        do throws(TransportError) {
            return try await exchange(
                request,
                context: context,
                connection: connection,
                lease: lease,
                isReused: isReused
            )
        } catch {
            permit = try replace(
                connection,
                lease: lease,
                isReused: isReused,
                after: error,
                of: request,
                context: context
            )
        }
        return try await send(request, context: context, dialling: permit)
    }

    /// Returns the route of a request; asks a resolver if the client has one for it.
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

    /// Returns the route; `nil` if a resolver has to be asked for it.
    private func knownRoute(
        of request: Request,
        to url: HTTPURL,
        over proxy: ProxyEntry?
    ) throws(DialFailure) -> Route? {
        do throws(TransportError) {
            if let proxy, proxy.proxy.lookup == .byProxy {
                return try addresses.chosenRoute(for: request, to: url) ?? .byProxy
            }
            return try addresses.knownRoute(for: request, to: url)
        } catch {
            throw DialFailure(cause: error)
        }
    }

    /// Asks the client's resolver for the route.
    private func askedRoute(
        to url: HTTPURL,
        _ timeouts: Timeouts.Nanoseconds,
        end: Instant
    ) async throws(DialFailure) -> Route {
        let deadline = Deadline(
            .resolve,
            stall: timeouts.resolve,
            end: end,
            total: timeouts.total,
            from: configuration.loop.now
        )
        do throws(TransportError) {
            return try await addresses.askedRoute(to: url, deadline)
        } catch {
            throw DialFailure(cause: error)
        }
    }

    /// Leases a connection from the pool or dials one, queueing if the pool is full.
    func connection(
        for context: ExchangeContext
    ) async throws(DialFailure) -> Acquired {
        let deadline = Deadline(
            .queue,
            stall: context.timeouts.queue,
            end: context.end,
            total: context.timeouts.total,
            from: configuration.loop.now
        )
        let turn: ConnectionPool.Acquisition
        do throws(TransportError) {
            turn = try await pool.checkOut(
                context.poolKey,
                route: context.route,
                kept: context.kept,
                deadline: deadline
            )
        } catch {
            throw DialFailure(cause: error)
        }
        switch turn {
        case .reuse(let connection, let lease): return (connection, lease, true)
        case .dial(let permit):
            let (connection, lease) = try await dial(context, permit: permit)
            return (connection, lease, false)
        }
    }

    /// Runs the exchange on one connection.
    ///
    /// The lease ends in here or passes to the response's body; if this throws, it stays with the caller.
    func exchange(
        _ request: Request,
        context: ExchangeContext,
        connection: Connection,
        lease: ConnectionPool.Lease,
        isReused: Bool
    ) async throws(TransportError) -> Response {
        let exchange = Exchange(connection: connection, timeouts: context.timeouts, end: context.end)
        let options = request.exchangeBox
        var upload: Upload?
        do throws(TransportError) {
            if !isReused { try connection.checkSilence() }
            var streamed = BodyFraming.none
            if case .stream(let body) = request.body.content {
                streamed = try await exchange.framing(of: body)
            }
            let fields = defaults(for: request, context.trail)
            let isComplete = options == nil && request.body.contentType == nil
            let (count, rest) = try exchange.compose(
                method: request.method,
                url: context.url,
                headers: isComplete ? request.headers : request.completedHeaders(fields),
                defaults: fields,
                body: request.body.content,
                options: options,
                streamed: streamed
            )
            if let log = context.log {
                log.sends(
                    request.method,
                    url: context.url,
                    connection: connection,
                    bytes: count,
                    isReused: isReused
                )
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
            if let options, rest == nil { options.options.reportUpload(of: request.body.content) }
            let sent = configuration.loop.now
            let head: ResponseHead
            if let refusal {
                // It is unknown whether the server takes the next bytes for the body or for a request.
                connection.retire()
                head = refusal
            } else {
                head = try await exchange.receiveHead(from: sent, upload, options: options)
            }
            // The server gave up waiting for a request at the time this one was sent: the 408 does not answer it.
            if isReused, head.status == .requestTimeout, request.mayBeSentTwice {
                throw .failed(.response, .http(.responseBeforeRequest))
            }
            // The server will not serve the name on this connection next time either.
            if head.status == .misdirectedRequest { connection.retire() }
            let now = configuration.loop.now
            let times = HTTPTransaction.Times(start: context.start, sent: sent, response: now)
            let transaction = HTTPTransaction(connection: connection.facts, times: times, isReused: isReused)
            context.log?.responds(head.status, transaction: transaction)
            // The server refused the request before all of it was sent: the rest is useless (RFC 9112, section 9.3),
            // also where sending has already failed, because the server has closed the connection behind its answer.
            if let upload, !upload.isFinished, head.status.code >= 300 { upload.stop() }
            var reading = BodyReading(exchange, upload, context.log)
            if upload != nil { reading.head = head }
            if let options { reading.onProgress = options.options.onDownload }
            let body: ResponseBody
            if case .tunnel = connection.framing {
                body = try await tunnel(reading, lease: lease)
            } else {
                let first = try reading.takeBuffered()
                if options != nil { reading.report(first.count) }
                if reading.isAtEnd, reading.isRequestSent {
                    pool.conclude(reading, lease: lease, at: times.response)
                    body = ResponseBody(content: .complete(first, reading.trailers, connection.facts))
                } else {
                    body = ResponseBody(content: .arriving(BodyStream(pool, lease, reading, first: first)))
                }
            }
            return Response(head: head, body: body, url: context.url, transaction: transaction)
        } catch {
            upload?.cancel()
            throw error
        }
    }

    /// Takes the connection out of the pool, for use without HTTP.
    private func tunnel(
        _ reading: BodyReading,
        lease: ConnectionPool.Lease
    ) async throws(TransportError) -> ResponseBody {
        if let upload = reading.upload { try await reading.exchange.awaitEnd(of: upload) }
        guard !reading.exchange.connection.isRetired else { throw .failed(.response, .connectionClosed) }
        pool.part(with: reading.exchange.connection, lease)
        reading.observer?.note(.bodyEnded(bytes: 0, isWhole: true))
        let stream = RawStream(reading.exchange.connection, reading.exchange.timeouts)
        return ResponseBody(content: .arriving(UpgradedBody(stream)))
    }
}
