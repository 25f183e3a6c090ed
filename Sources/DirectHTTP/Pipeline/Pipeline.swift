internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// The layers of a client, from the caller's request to the network. It is built once from the configuration;
/// a feature that is off adds no layer.
///
/// | Layer | Present | Why here |
/// |---|---|---|
/// | ``BaseURL`` | with a base URL | All layers know URLs only. |
/// | ``Observing`` | with an observer | The call that it reports contains all that happens, also in interceptors. |
/// | ``CallInterceptors`` | with interceptors | They see the caller's request and the final response, once a call. |
/// | ``Calls`` | always | Interceptors may set the time limits. Decodes last: no layer inside reads content. |
/// | ``Redirects`` | always | Each hop has credentials, cookies, a cache entry and retries of its own. |
/// | ``Credentials`` | if there is an authenticator | The answer to a challenge is another request with its cookies. |
/// | ``CookieLayer`` | with cookies or HSTS, without a cache | A retry has the same cookies. |
/// | ``CacheLayer`` | with a cache | It decides who is asking, adds the cookies, and replaces failures of all attempts. |
/// | ``Attempts`` | always | Retries, 421 and 417 repeat one request as it stands. |
/// | ``CookieLearning`` | with cookies or HSTS | Each response of the network counts, also one that is retried. |
/// | ``Hedging`` | with a policy | Of an attempt and its hedge only the response that counts goes further. |
/// | ``NetworkInterceptors`` | with such, or a transport | They see each request with all of its fields. |
/// | ``ProxyCredentials`` | if a proxy has an authenticator | A refusal of the proxy is no response of the server. |
/// | ``RoundTrip`` | always | Finds the route; the rest is the ``Transport``'s. |
///
/// A layer calls the one inside it once, several times or not at all. Above `Calls` it takes the caller's
/// request; from there on a ``HopRequest``, which knows what may be sent to its origin.
final class Pipeline: Sendable {
    let configuration: HTTPClient.Configuration
    let transport: Transport
    let roundTrip: RoundTrip
    /// The executor of calls that the library begins itself; see ``HTTPClient/threads``.
    let threads = BlockingWork.forCode()
    private let calls: Calls
    let fields: ClientFields
    /// The layers around `calls`; `nil` if there are none.
    private let outer: (any CallLayer)?

    init(_ configuration: HTTPClient.Configuration, network: Network = Network()) {
        self.configuration = configuration
        transport = Transport(
            limits: configuration.poolLimits,
            dialling: configuration.dialConfiguration,
            network: network
        )
        fields = ClientFields(configuration)
        roundTrip = RoundTrip(configuration, fields: fields, on: threads, transport: transport)
        calls = Calls(configuration, fields: fields, roundTrip: roundTrip, on: threads)
        var outer: (any CallLayer)?
        if !configuration.interceptors.isEmpty {
            outer = CallInterceptors(configuration, fields: fields, on: threads, next: calls)
        }
        if let observer = configuration.observer {
            outer = Observing(observer: observer, loop: configuration.loop, next: outer ?? calls)
        }
        if let base = configuration.baseURL { outer = BaseURL(base, next: outer ?? calls) }
        self.outer = outer
    }

    /// Sends a request through all layers and returns the caller's response.
    // Inlined, as the layers that are always present: each asynchronous function costs about 150
    // instructions.
    @inline(__always)
    func send(_ request: Request) async throws -> Response {
        if let outer {
            return try await outer.send(request, original: request, isContinued: false, log: nil)
        }
        return try await calls.begin(request, original: request, isContinued: false, log: nil)
    }

    /// Does the same where the layers need not be inlined; see `Calls.begin`.
    ///
    /// - Parameter isContinued: whether the request continues redirects that other code has followed so far.
    func sendApart(_ request: Request, isContinued: Bool = false) async throws -> Response {
        try await (outer ?? calls).send(request, original: request, isContinued: isContinued, log: nil)
    }

    /// Opens connections for a request, which is not sent.
    func prewarm(_ request: Request, count: Int) async throws {
        if Task.isCancelled { throw CancellationError() }
        // Prepares the connection that a request would use: none where a custom transport answers, and TLS
        // where HSTS demands it for the name.
        guard configuration.transport == nil else { return }
        let request = request.resolved(against: configuration.baseURL)
        let call = calls.call(for: request)
        let crossing = fields.crossing(by: request.redirects ?? configuration.redirects)
        let hop = HopRequest.beginning(fields.upgraded(request), by: crossing)
        try await roundTrip.warm(for: hop, call: call, count: count)
    }
}

/// The layers inside the redirects.
final class InnerLayers: Sendable {
    let attempts: Attempts
    /// The optional layers around the attempts; `nil` if there are none.
    let outer: (any Layer)?

    /// Makes the layers from the inside out.
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
        let stores = CookiesAndHSTS(cookies: cookies, hsts: configuration.hsts)
        var network: (any NetworkLayer)? = ProxyCredentials(configuration, roundTrip: roundTrip)
        if let interceptors = NetworkInterceptors(configuration, fields: fields, next: network ?? roundTrip) {
            network = interceptors
        }
        if let hedging {
            network = Hedging(
                configuration,
                by: hedging,
                table: roundTrip.hedges,
                next: network ?? roundTrip
            )
        }
        if let stores {
            network = CookieLearning(stores: stores, loop: configuration.loop, next: network ?? roundTrip)
        }
        attempts = Attempts(configuration, roundTrip: roundTrip, networkLayers: network)
        var outer: (any Layer)?
        if let cache = configuration.cache {
            outer = CacheLayer(
                configuration,
                cache: cache,
                stores: stores,
                client: AskingClient(configuration, cookies: cookies, fields: fields),
                fields: fields,
                next: attempts
            )
        } else if let stores {
            outer = CookieLayer(stores: stores, next: attempts)
        }
        if !configuration.authenticators.isEmpty {
            outer = Credentials(configuration, next: outer ?? attempts)
        }
        self.outer = outer
    }

    /// Sends one request of a call through the layers.
    ///
    /// - Parameter start: when the request begins; another layer in between reads the clock again.
    @inline(__always)
    func send(
        _ request: Request,
        trail: Trail?,
        call: Call,
        from start: Instant
    ) async throws -> Response {
        if let outer { return try await outer.send(request, trail: trail, call: call) }
        return try await attempts.send(request, trail: trail, call: call, from: start)
    }
}

/// A layer of the pipeline around whole calls.
protocol CallLayer: AnyObject, Sendable {
    /// Sends the request through the layers inside this one, and returns the caller's response.
    ///
    /// - Parameters:
    ///   - original: the request that the caller made; an interceptor may have made another one of it.
    ///   - isContinued: whether the request continues redirects that other code has followed so far.
    ///   - log: records the call's events; `nil` without an observer.
    func send(_ request: Request, original: Request, isContinued: Bool, log: CallLog?) async throws
        -> Response
}

/// A layer of the pipeline between the redirects and the attempts.
///
/// The request and its trail are the two parts of a ``HopRequest``. They are passed apart, because to copy a
/// request costs about 300 instructions.
protocol Layer: AnyObject, Sendable {
    /// Sends one request of a call through the layers inside this one, and returns the response.
    func send(_ request: Request, trail: Trail?, call: Call) async throws -> Response
}

/// A layer of the pipeline below the attempts.
protocol NetworkLayer: AnyObject, Sendable {
    /// Sends one request to the network through the layers inside this one, and returns the response.
    ///
    /// - Parameter detour: the endpoints that failed before, which are avoided if there are others.
    func send(_ request: Request, trail: Trail?, call: Call, detour: Detour?) async throws -> Response
}
