internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// The innermost layer: sends one request over the network, as its plan says.
final class RoundTrip: Layer {
    let planner: Planner
    let transport: Transport
    /// The speed of the client's origins, for hedges.
    let hedges = HedgeTable()
    private let loop: EventLoop

    init(_ planner: Planner, transport: Transport) {
        self.planner = planner
        self.transport = transport
        loop = planner.loop
    }

    func send(_ hop: borrowing HopRequest) async throws -> Response {
        if let early = hop.early?.take() { return early }
        return try await send(
            hop.request,
            trail: hop.trail,
            call: hop.call,
            detour: hop.detour,
            from: loop.now
        )
    }

    /// Sends one request over the network and returns the response, whatever its status.
    ///
    /// - Parameter start: when the request began.
    // Inlined: an asynchronous function of its own costs about 150 instructions.
    @inline(__always)
    func send(
        _ request: Request,
        trail: Trail?,
        call: Call,
        detour: Detour?,
        from start: Instant
    ) async throws -> Response {
        let url = try request.checkedURLOfAnyError()
        // Refused before any byte is sent and any other work is done.
        guard start < call.end else { throw call.overdue(for: url) }
        let log = call.log?.beginExchange(request.method, url: url, tags: request.explicitTags)
        do throws(DialFailure) {
            let plan = try plan(for: request, trail: trail, to: url)
            let query = plan.way.query
            var outgoing = OutgoingRequest(
                plan.message,
                over: target(of: plan.way, around: detour),
                from: start,
                within: call.limit,
                noting: detour.flatMap { $0.observer(before: log) } ?? log
            )
            if let query { try await resolve(query, for: &outgoing, noting: log) }
            let (head, body, record) = try await transport.send(&outgoing)
            return Response(
                head: head,
                body: ResponseBody(body, record.connection, pool: transport.pool),
                url: url,
                transaction: HTTPTransaction(record: record)
            )
        } catch {
            throw reported(error, of: request.method, to: url, noting: log)
        }
    }

    /// Returns what the way demands of the connection.
    @inline(__always)
    private func target(of way: consuming Way, around detour: Detour?) -> ConnectionTarget {
        let (settings, isAnonymous) = (way.settings, way.isAnonymous)
        var target = way.target
        target.detour = detour
        if settings != nil || isAnonymous {
            target.profile = transport.dialler.profiles.profile(for: settings, isAnonymous: isAnonymous)
        }
        return target
    }

    @inline(__always)
    private func plan(for request: Request, trail: Trail?, to url: HTTPURL) throws(DialFailure) -> RequestPlan
    {
        do throws(TransportError.Reason) {
            return try planner.plan(for: request, trail: trail, to: url)
        } catch {
            throw DialFailure(cause: .failed(.request, error))
        }
    }

    /// Sets the route that the resolver names. The request is checked before the resolver is waited for.
    private func resolve(
        _ query: ResolverQuery,
        for request: inout OutgoingRequest,
        noting log: ExchangeLog?
    ) async throws(DialFailure) {
        if let known = try query.knownRoute() {
            request.target.route = known
            return
        }
        try await transport.check(&request)
        let route = try await query.route(within: request.limit)
        log?.note(failuresBefore: route, of: request.target.url)
        request.target.route = route
    }

    /// Returns the error for the caller, and notes it in the log.
    private func reported(
        _ failure: DialFailure,
        of method: HTTPMethod,
        to url: HTTPURL,
        noting log: ExchangeLog?
    ) -> any Error {
        var error = failure.asError(name: url.host.description)
        if let failure = error as? HTTPError {
            error = failure.about(method, url)
            if case .resolver(let cause) = failure.reason {
                log?.note(.resolversFailed(name: url.host.description, [cause]))
            }
        }
        log?.fails(error)
        return error
    }

    /// Opens connections for the request, which is not sent.
    func warm(for hop: HopRequest, count: Int) async throws {
        let url = try hop.request.checkedURL()
        let start = loop.now
        do throws(DialFailure) {
            let plan = try plan(for: hop.request, trail: hop.trail, to: url)
            let query = plan.way.query
            var target = target(of: plan.way, around: nil)
            if let query {
                if let known = try query.knownRoute() {
                    target.route = known
                } else {
                    target.route = try await query.route(within: hop.call.limit)
                }
            }
            try await transport.warm(target, from: start, within: hop.call.limit, count: count)
        } catch {
            throw error.asError(name: url.host.description)
        }
    }
}

extension Detour {
    /// Returns an observer that tells where the request is sent, if any code waits for that.
    fileprivate func observer(before log: ExchangeLog?) -> (any TransportObserver)? {
        onSending.map { SendingObserver($0, log: log) }
    }
}

extension ResponseBody {
    /// Makes the body of what the transport has received.
    ///
    /// - Parameter pool: the pool to which the connection goes back after the body.
    @inline(__always)
    fileprivate init(_ incoming: IncomingBody, _ facts: ConnectionFacts, pool: ConnectionPool) {
        switch incoming {
        case .complete(let bytes, let trailers): self.init(content: .complete(bytes, trailers, facts))
        case .arriving(let reading, let first, let lease):
            self.init(content: .arriving(Self.stream(pool, lease, reading, first)))
        case .upgraded(let connection, let timeouts):
            self.init(content: .arriving(GuardedBody(UpgradedSource(RawStream(connection, timeouts)))))
        }
    }

    private static func stream(
        _ pool: ConnectionPool,
        _ lease: ConnectionPool.Lease,
        _ reading: BodyReading,
        _ first: [UInt8]
    ) -> GuardedBody {
        let body = GuardedBody(ConnectionSource(pool, lease, reading), first: first)
        body.endWithCall(on: reading.exchange.connection.loop)
        return body
    }
}

extension ExchangeLog {
    /// Notes the resolvers that failed before the one that gave the route.
    fileprivate func note(failuresBefore route: Route, of url: HTTPURL) {
        guard case .chosen(let selection) = route else { return }
        note(.resolversFailed(name: url.host.description, selection.failures))
    }
}
