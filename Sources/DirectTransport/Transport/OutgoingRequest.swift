internal import DirectCore
internal import DirectHTTP1

/// One request as the transport sends it: what to send, where it may be sent, and for how long.
///
/// It is made only when a request needs more than an idle connection. `Transport.send` takes the parts one by
/// one, because a value of this size would cost every request about 500 instructions. It is a reference,
/// because a request that waits in the queue is known to several functions.
final class OutgoingRequest: Sendable {
    let method: HTTPMethod
    let url: HTTPURL
    /// The request's own fields, without those that the writer derives from the URL and the body.
    let headers: HTTPHeaders
    /// Fields that are sent unless `headers` has fields of these names.
    let defaults: HTTPHeaders
    let body: BodyContent
    /// Options that few requests set; `nil` for none.
    let options: ExchangeOptions.Box?

    /// The addresses that the request may be sent to.
    let route: Route
    /// The proxy that it is sent over; `nil` for none.
    let proxy: ProxyEntry?
    /// The settings of its connection; `nil` for the client's own.
    let profile: ConnectionProfile?
    /// Keeps the request away from endpoints where an earlier attempt failed; `nil` for a first attempt.
    let detour: Detour?

    /// When the request began.
    let start: Instant
    /// The deadline of the whole call.
    let end: Instant
    /// The time limits of each phase.
    let timeouts: Timeouts.Nanoseconds
    /// Is told what happens to the request; `nil` without an observer.
    let observer: (any TransportObserver)?

    init(
        method: HTTPMethod,
        url: HTTPURL,
        headers: HTTPHeaders,
        defaults: HTTPHeaders,
        body: BodyContent,
        options: ExchangeOptions.Box?,
        route: Route,
        proxy: ProxyEntry?,
        profile: ConnectionProfile?,
        detour: Detour?,
        start: Instant,
        end: Instant,
        timeouts: Timeouts.Nanoseconds,
        observer: (any TransportObserver)?
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.defaults = defaults
        self.body = body
        self.options = options
        self.route = route
        self.proxy = proxy
        self.profile = profile
        self.detour = detour
        self.start = start
        self.end = end
        self.timeouts = timeouts
        self.observer = observer
    }

    /// Returns the request with another detour.
    func around(_ detour: Detour) -> OutgoingRequest {
        OutgoingRequest(
            method: method,
            url: url,
            headers: headers,
            defaults: defaults,
            body: body,
            options: options,
            route: route,
            proxy: proxy,
            profile: profile,
            detour: detour,
            start: start,
            end: end,
            timeouts: timeouts,
            observer: observer
        )
    }

    /// The deadline and the total time limit of the call.
    var limit: CallLimit { CallLimit(end: end, total: timeouts.total) }

    /// Whether the request may be sent twice.
    var mayBeSentTwice: Bool { method.mayBeSentTwice(with: body) }

    /// Whether the request, which was sent once or in part, may be sent again.
    var mayBeSentAgain: Bool { method.mayBeSentAgain(with: body) }

    /// The key of the pool's connections that fit the request.
    var poolKey: PoolKey { PoolKey(origin: url.origin, proxy: proxy, profile: profile) }

    /// Which idle connections may serve the request.
    var kept: KeptConnections { detour?.kept ?? .any }

    /// Returns the deadline of a phase that begins at `now`.
    func deadline(_ phase: TransportError.Phase, stall: UInt64, from now: Instant) -> Deadline {
        Deadline(phase, stall: stall, end: end, total: timeouts.total, from: now)
    }
}
