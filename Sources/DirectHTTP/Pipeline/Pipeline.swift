internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// The layers of a client, from the caller's request to the network. It is built once from the configuration;
/// a feature that is off adds no layer.
///
/// | Layer | Present | Why here |
/// |---|---|---|
/// | ``Observing`` | with an observer | The call that it reports contains all that happens, also in interceptors. |
/// | ``CallInterceptors`` | with interceptors | They see the caller's request and the final response, once a call. |
/// | ``Beginning`` | without interceptors | From here on a request may be sent as it is; they begin it themselves. |
/// | ``Calls`` | always | Interceptors may set the time limits. Decodes last: no layer inside reads content. |
/// | ``Redirects`` | always | Each hop has credentials, cookies, a cache entry and retries of its own. |
/// | ``Credentials`` | if there is an authenticator | The answer to a challenge is another request with its cookies. |
/// | ``CookieLayer`` | with cookies, without a cache | A retry has the same cookies. |
/// | ``CacheLayer`` | with a cache | It decides who is asking, adds the cookies, and replaces failures of all attempts. |
/// | ``Attempts`` | always | Retries, 421 and 417 repeat one request as it stands. |
/// | ``CookieLearning`` | with cookies or HSTS | Each response of the network counts, also one that is retried. |
/// | ``Hedging`` | with a policy | Of an attempt and its hedge only the response that counts goes further. |
/// | ``NetworkInterceptors`` | with such, or a transport | They see each request with all of its fields. |
/// | ``ProxyCredentials`` | if a proxy has an authenticator | A refusal of the proxy is no response of the server. |
/// | ``RoundTrip`` | always | Sends by the ``RequestPlan``; the rest is the ``Transport``'s. |
///
/// A layer calls the one inside it once, several times or not at all.
final class Pipeline: Sendable {
    let configuration: HTTPClient.Configuration
    let transport: Transport
    let roundTrip: RoundTrip
    /// The executor of calls that the library begins itself; see ``HTTPClient/threads``.
    let threads = BlockingWork.forCode()
    let fields: ClientFields
    private let calls: Calls
    private let first: any Layer
    /// Whether no layer has anything to do with a plain request before there is a response to it.
    private let isPlain: Bool

    init(_ configuration: HTTPClient.Configuration, network: Network = Network()) {
        self.configuration = configuration
        transport = Transport(
            limits: configuration.poolLimits,
            dialling: configuration.dialConfiguration,
            network: network
        )
        fields = ClientFields(configuration)
        let planner = Planner(configuration, fields: fields, on: threads)
        roundTrip = RoundTrip(planner, transport: transport)
        calls = Calls(configuration, fields: fields, roundTrip: roundTrip)
        var first: any Layer = Beginning(configuration, fields: fields, next: calls)
        if !configuration.interceptors.isEmpty {
            first = CallInterceptors(configuration, fields: fields, on: threads, next: calls)
        }
        if let observer = configuration.observer {
            first = Observing(observer: observer, loop: configuration.loop, next: first)
        }
        self.first = first
        isPlain =
            configuration.observer == nil && configuration.interceptors.isEmpty
            && configuration.baseURL == nil && configuration.hsts == nil && calls.arePlain
    }

    /// Sends a request through all layers and returns the caller's response.
    // Inlined, as the layers that are always present: each asynchronous function costs about 150
    // instructions.
    @inline(__always)
    func send(_ request: Request) async throws -> Response {
        guard isPlain, request.isPlain else { return try await first.send(hop(request)) }
        // Such a request meets no layer before its response, so there is no hop of it: a copy costs 900
        // instructions.
        if Task.isCancelled { throw CancellationError() }
        let start = configuration.loop.now
        do {
            let response = try await roundTrip.send(
                request,
                trail: nil,
                call: calls.call(from: start),
                detour: nil,
                from: start
            )
            guard response.concernsLayers else { return response }
            return try await finish(response, to: request, from: start)
        } catch {
            throw error.adding(request: request)
        }
    }

    /// Shows the layers a response that came before they knew of the request, and returns the caller's.
    private func finish(_ response: Response, to request: Request, from start: Instant) async throws
        -> Response
    {
        try await calls.send(HopRequest(request, calls.call(from: start), answered: response))
    }

    /// Sends a request that continues redirects that other code has followed so far.
    func sendContinued(_ request: Request) async throws -> Response {
        let policy = request.redirects ?? configuration.redirects
        return try await first.send(hop(request).continued(fields.crossing(by: policy)))
    }

    /// Opens connections for a request, which is not sent.
    func prewarm(_ request: Request, count: Int) async throws {
        if Task.isCancelled { throw CancellationError() }
        // Prepares the connection that a request would use: none where a custom transport answers, and TLS
        // where HSTS demands it for the name.
        guard configuration.transport == nil else { return }
        try await roundTrip.warm(for: begun(request), count: count)
    }

    /// Returns the plan for the first request of a call without interceptors.
    func plan(for request: Request) throws(HTTPError) -> RequestPlan {
        let hop = begun(request)
        let url = try hop.request.checkedURL()
        do throws(TransportError.Reason) {
            return try roundTrip.planner.plan(for: hop.request, trail: hop.trail, to: url)
        } catch {
            throw HTTPError(.request, HTTPError.Reason(error), url: url)
        }
    }

    /// Returns the first request of a call without interceptors.
    func begun(_ request: Request) -> HopRequest {
        hop(request).begun(by: fields.crossing(by: request.redirects ?? configuration.redirects))
    }

    /// Returns the hop of a caller's request, whose reference a base URL makes a URL of: layers know URLs
    /// only.
    private func hop(_ request: Request) -> HopRequest {
        let request = request.resolved(against: fields.base)
        return HopRequest(request, calls.call(for: request))
    }
}

extension Response {
    /// Whether a layer may have more to do than to pass it on: a redirect, a refusal, or coded content.
    @inline(__always)
    fileprivate var concernsLayers: Bool { status.isRedirection || mayBeSentAgain || isCoded }
}

/// A layer of the pipeline: sends one request of a call through the layers inside it, and returns the
/// response.
///
/// The hop is borrowed, so that each copy of it stands in the code: one costs about 300 instructions.
protocol Layer: AnyObject, Sendable {
    func send(_ hop: borrowing HopRequest) async throws -> Response
}

/// Begins calls without interceptors.
final class Beginning: Layer {
    private let redirects: RedirectPolicy
    private let fields: ClientFields
    private let next: Calls

    init(_ configuration: HTTPClient.Configuration, fields: ClientFields, next: Calls) {
        redirects = configuration.redirects
        self.fields = fields
        self.next = next
    }

    func send(_ hop: borrowing HopRequest) async throws -> Response {
        try await next.send(hop.begun(by: fields.crossing(by: hop.request.redirects ?? redirects)))
    }
}

/// The layers inside the redirects.
final class InnerLayers: Layer {
    private let attempts: Attempts
    /// The optional layer around the attempts; `nil` if there is none.
    private let middle: (any Layer)?
    private let credentials: Credentials

    /// Makes the layers from the inside out. One that has nothing to do is left out.
    ///
    /// - Parameter cookies: the client's cookie store, or the one that a call has of its own.
    /// - Parameter hedging: the client's policy, or the one that a call has of its own.
    init(
        _ configuration: HTTPClient.Configuration,
        cookies: (any CookieStore)?,
        hedging: HedgingPolicy?,
        fields: ClientFields,
        roundTrip: RoundTrip
    ) {
        var next: any Layer = roundTrip
        if !configuration.proxyAuthenticators.isEmpty { next = ProxyCredentials(roundTrip) }
        if !configuration.networkInterceptors.isEmpty || configuration.transport != nil {
            next = NetworkInterceptors(configuration, fields: fields, next: next)
        }
        if let hedging {
            next = Hedging(configuration, by: hedging, table: roundTrip.hedges, next: next)
        }
        if cookies != nil || configuration.hsts != nil {
            next = CookieLearning(configuration, cookies: cookies, next: next)
        }
        let attempts = Attempts(configuration, roundTrip: roundTrip, next: next)
        var middle: (any Layer)? = cookies.map { CookieLayer($0, fields: fields, next: attempts) }
        if let cache = configuration.cache {
            let client = AskingClient(configuration, cookies: cookies, by: roundTrip.planner)
            middle = CacheLayer(configuration, cache: cache, client: client, fields: fields, next: attempts)
        }
        self.attempts = attempts
        self.middle = middle
        credentials = Credentials(configuration, next: middle ?? attempts)
    }

    /// Whether they have nothing to do with a request without options before there is a response to it.
    var arePlain: Bool { middle == nil && !credentials.hasAuthenticators && attempts.arePlain }

    @inline(__always)
    func send(_ hop: borrowing HopRequest) async throws -> Response {
        if credentials.hasAuthenticators || hop.isAuthenticated { return try await credentials.send(hop) }
        if let middle { return try await middle.send(hop) }
        return try await attempts.send(hop)
    }
}
