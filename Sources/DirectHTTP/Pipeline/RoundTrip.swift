internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// The innermost layer: finds the route of one request and sends it over the network.
final class RoundTrip: NetworkLayer {
    let transport: Transport
    /// The speed of the client's origins, for hedges.
    let hedges = HedgeTable()
    private let fields: ClientFields
    private let planner: RoutePlanner
    private let proxies: ProxyEntries
    /// Whether the client has proxies for requests without ones of their own.
    private let hasProxies: Bool
    /// Whether the client has a certificate.
    private let hasIdentity: Bool
    /// The Unix domain sockets of the client, by origin.
    private let unixSockets: [Origin: UnixSocketPath]
    /// The client's limits on the speed of bodies; `nil` if there are none.
    private let rates: ExchangeOptions.Box?
    private let loop: EventLoop

    init(
        _ configuration: HTTPClient.Configuration,
        fields: ClientFields,
        on threads: BlockingWork,
        transport: Transport
    ) {
        self.transport = transport
        self.fields = fields
        planner = RoutePlanner(configuration, on: threads)
        proxies = ProxyEntries(configuration.proxy, tls: configuration.tls) { [configuration] proxy in
            ProxyAuthentication(configuration.proxyAuthenticators, for: proxy)
        }
        hasProxies = configuration.proxy != ProxySettings()
        hasIdentity = configuration.tls.clientIdentity != nil
        unixSockets = configuration.unixSockets
        var rates = ExchangeOptions()
        rates.sendingRate = configuration.sendingRate
        rates.receivingRate = configuration.receivingRate
        let hasRates = rates.sendingRate != nil || rates.receivingRate != nil
        self.rates = hasRates ? ExchangeOptions.Box(rates) : nil
        loop = configuration.loop
    }

    func send(_ request: Request, trail: Trail?, call: Call, detour: Detour?) async throws -> Response {
        try await send(request, trail: trail, call: call, detour: detour, from: loop.now)
    }

    /// Sends one request over the network and returns the response, whatever its status.
    ///
    /// - Parameter start: when the request began.
    // Inlined into the layer above: an asynchronous function of its own costs about 150 instructions.
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
        let defaults = fields.defaults(for: request, trail)
        let options = rates == nil ? request.exchangeBox : limited(request.exchangeBox)
        let hasAllFields =
            options == nil && request.body.contentType == nil && !request.body.isGzipped
            && !request.isOptionsWithBody
        let headers = hasAllFields ? request.headers : request.completedHeaders(defaults)
        do throws(DialFailure) {
            let settings = try settings(of: request, to: url, trail)
            let proxy = proxy(for: url, of: request, settings)
            let (route, isKnown) = try knownRoute(of: request, to: url, over: proxy, settings)
            // Given away: without `consume` the compiler keeps a copy of each, which costs 300 instructions.
            var outgoing = OutgoingRequest(
                OutgoingMessage(
                    request.method,
                    headers: consume headers,
                    defaults: consume defaults,
                    body: request.body.content,
                    options: consume options
                ),
                over: ConnectionTarget(
                    url,
                    route: consume route,
                    proxy: consume proxy,
                    profile: profile(settings, to: url, trail),
                    detour: detour
                ),
                within: RequestLimits(
                    from: start,
                    within: call.limit,
                    observer: detour.flatMap { $0.observer(before: log) } ?? log
                )
            )
            if !isKnown {
                try await transport.check(&outgoing)
                let route = try await resolvedRoute(of: request, to: url, call: call)
                log?.note(failuresBefore: route, of: url)
                outgoing.target.route = route
            }
            let (head, body, record) = try await transport.send(&outgoing)
            return Response(
                head: head,
                body: ResponseBody(body, record.connection, pool: transport.pool),
                url: url,
                transaction: HTTPTransaction(record: record)
            )
        } catch {
            throw reported(error, of: request.method, to: url, log)
        }
    }

    /// Returns the error for the caller, and notes it in the log. Not inlined: the frame of `send` would be
    /// larger by it.
    @inline(never)
    private func reported(
        _ failure: DialFailure,
        of method: HTTPMethod,
        to url: HTTPURL,
        _ log: ExchangeLog?
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

    /// Returns the options with the client's limits where they have none of their own.
    @inline(never)
    private func limited(_ own: ExchangeOptions.Box?) -> ExchangeOptions.Box? {
        guard let rates, var options = own?.options else { return rates }
        options.sendingRate = options.sendingRate ?? rates.options.sendingRate
        options.receivingRate = options.receivingRate ?? rates.options.receivingRate
        return ExchangeOptions.Box(options)
    }

    /// Opens connections for the request, which is not sent.
    @inline(never)
    func warm(for hop: HopRequest, call: Call, count: Int) async throws {
        let request = hop.request
        let url = try request.checkedURL()
        do throws(DialFailure) {
            let settings = try settings(of: request, to: url, nil)
            let proxy = proxy(for: url, of: request, settings)
            var (route, isKnown) = try knownRoute(of: request, to: url, over: proxy, settings)
            if !isKnown { route = try await resolvedRoute(of: request, to: url, call: call) }
            try await transport.warm(
                ConnectionTarget(
                    url,
                    route: route,
                    proxy: proxy,
                    profile: profile(settings, to: url, hop.trail)
                ),
                within: RequestLimits(from: call.start, within: call.limit),
                count: count
            )
        } catch {
            throw error.asError(name: url.host.description)
        }
    }

    /// Returns the settings of the request's connection; `nil` for the client's own.
    @inline(__always)
    private func profile(
        _ settings: ConnectionSettings.Box?,
        to url: HTTPURL,
        _ trail: Trail?
    ) -> ConnectionProfile? {
        guard settings != nil || hasIdentity else { return nil }
        return transport.dialler.profiles.profile(
            for: settings,
            isAnonymous: hasIdentity && trail?.isForeign(to: url) == true
        )
    }

    /// Returns the settings of the request's connection, with the client's Unix domain socket for the origin
    /// if there is one; `nil` if there are none.
    ///
    /// A server must not send the client to it: what listens there trusts the processes of this machine.
    @inline(__always)
    private func settings(of request: Request, to url: HTTPURL, _ trail: Trail?) throws(DialFailure)
        -> ConnectionSettings.Box?
    {
        let own = request.connectionSettings
        guard !unixSockets.isEmpty, request.addresses == nil, own?.settings.unixSocket == nil,
            let path = unixSockets[url.origin]
        else { return own }
        return try settings(own, with: path, trail)
    }

    /// Returns the settings of the request with a Unix domain socket of the client.
    @inline(never)
    private func settings(
        _ own: ConnectionSettings.Box?,
        with path: UnixSocketPath,
        _ trail: Trail?
    ) throws(DialFailure) -> ConnectionSettings.Box? {
        guard trail?.isServersChoice != true else {
            throw DialFailure(cause: .failed(.request, .settings(.unixSocketBehindRedirect)))
        }
        var settings = own?.settings ?? ConnectionSettings()
        settings.unixSocket = path
        return ConnectionSettings.Box(settings)
    }

    /// Returns the proxy for the request; `nil` to connect directly, as to a Unix domain socket.
    @inline(__always)
    private func proxy(
        for url: HTTPURL,
        of request: Request,
        _ settings: ConnectionSettings.Box?
    ) -> ProxyEntry? {
        guard hasProxies || request.hasOptions, settings?.settings.unixSocket == nil else { return nil }
        return chosenProxy(for: url, of: request)
    }

    // Not inlined: the frame of `send` would be larger by a request's own proxies.
    @inline(never)
    private func chosenProxy(for url: HTTPURL, of request: Request) -> ProxyEntry? {
        if let own = request.proxy { return proxies.entry(for: url, of: own) }
        return hasProxies ? proxies.entry(for: url) : nil
    }

    /// Returns the source of credentials for the proxy that forwards the request; `nil` if there is none.
    func forwardingAuthorizer(of request: Request, to url: HTTPURL) -> (any ProxyAuthorizer)? {
        let settings = (try? settings(of: request, to: url, nil)) ?? nil
        return proxy(for: url, of: request, settings)?.forwardingAuthorizer(for: url)
    }

    /// Returns the route of a request, and whether it is known: otherwise a resolver has to be asked for it.
    ///
    /// Not an optional route: to unwrap one costs a small request 200 instructions.
    private func knownRoute(
        of request: Request,
        to url: HTTPURL,
        over proxy: ProxyEntry?,
        _ settings: ConnectionSettings.Box?
    ) throws(DialFailure) -> (route: Route, isKnown: Bool) {
        do throws(TransportError) {
            if let settings = settings?.settings, let path = settings.unixSocket {
                return (try planner.unixSocketRoute(to: path, for: request, settings), true)
            }
            if let proxy, proxy.proxy.lookup == .byProxy {
                return (try planner.chosenRoute(for: request, to: url) ?? .byProxy, true)
            }
            guard let route = try planner.knownRoute(for: request, to: url) else { return (.system, false) }
            return (route, true)
        } catch {
            throw DialFailure(cause: error)
        }
    }

    /// Asks the request's resolver, or the client's, for the route.
    // Not inlined: the frame of `send` would be larger by it.
    @inline(never)
    private func resolvedRoute(of request: Request, to url: HTTPURL, call: Call) async throws(DialFailure)
        -> Route
    {
        let deadline = call.limit.deadline(.resolve, stall: call.timeouts.resolve, from: loop.now)
        do throws(TransportError) {
            return try await planner.resolvedRoute(for: request, to: url, deadline)
        } catch {
            throw DialFailure(cause: error)
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

    // Not inlined: the frame of `send` would be larger by it.
    @inline(never)
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
