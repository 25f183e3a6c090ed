internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// Begins calls: makes the first request of each from the caller's, and the values that all of its requests
/// share. Decodes the content of the last response.
final class Calls: CallLayer {
    private let redirects: Redirects
    private let layers: InnerLayers
    private let configuration: HTTPClient.Configuration
    private let roundTrip: RoundTrip
    private let fields: ClientFields
    private let isIntercepted: Bool
    /// Whether the first request of a call may differ from the caller's.
    private let isPrepared: Bool
    /// The time limits of requests that have none of their own.
    private let limits: Timeouts.Nanoseconds
    private let loop: EventLoop

    init(
        _ configuration: HTTPClient.Configuration,
        fields: ClientFields,
        roundTrip: RoundTrip,
        on threads: BlockingWork
    ) {
        redirects = Redirects(configuration, fields: fields)
        layers = InnerLayers(
            configuration,
            cookies: configuration.cookies,
            hedging: configuration.hedging,
            fields: fields,
            roundTrip: roundTrip
        )
        self.configuration = configuration
        self.roundTrip = roundTrip
        self.fields = fields
        isIntercepted = !configuration.interceptors.isEmpty
        isPrepared = isIntercepted || fields.hsts != nil || configuration.baseURL != nil
        limits = configuration.timeouts.nanoseconds(on: threads)
        loop = configuration.loop
    }

    func send(_ request: Request, original: Request, isContinued: Bool, log: CallLog?) async throws
        -> Response
    {
        try await begin(request, original: original, isContinued: isContinued, log: log, isApart: true)
    }

    /// - Parameter isApart: whether the layers need not be inlined, which takes 10 kB of code.
    @inline(__always)
    func begin(
        _ request: Request,
        original: Request,
        isContinued: Bool,
        log: CallLog?,
        isApart: Bool = false
    ) async throws -> Response {
        // Checked here, because a request that never suspends would not notice its cancellation.
        if Task.isCancelled { throw CancellationError() }
        let layers = layers(for: request, original: original)
        guard isContinued || isPrepared || request.hasCredentials else {
            return isApart
                ? try await sendApart(request, trail: nil, through: layers, log: log)
                : try await send(request, trail: nil, through: layers, log: log)
        }
        return try await prepareAndSend(
            request,
            original: original,
            isContinued: isContinued,
            through: layers,
            log: log
        )
    }

    // Not inlined: all other requests would need the room, which costs them 160 instructions.
    @inline(never)
    private func prepareAndSend(
        _ request: Request,
        original: Request,
        isContinued: Bool,
        through layers: InnerLayers,
        log: CallLog?
    ) async throws -> Response {
        let hop = firstHop(request, original: original, isContinued: isContinued)
        return try await sendApart(hop.request, trail: hop.trail, through: layers, log: log)
    }

    /// Returns the client's layers, or others for a call that has a cookie store or a hedging policy of its
    /// own. The store belongs to the call, whatever request an interceptor sends on; the policy to the
    /// request.
    @inline(__always)
    private func layers(for request: Request, original: Request) -> InnerLayers {
        guard request.hasOptions || original.hasOptions else { return layers }
        return ownLayers(for: request, original: original)
    }

    private func ownLayers(for request: Request, original: Request) -> InnerLayers {
        let hedging = request.hedging
        guard hedging != nil || original.cookies != nil else { return layers }
        return InnerLayers(
            configuration,
            cookies: original.cookies ?? configuration.cookies,
            hedging: hedging ?? configuration.hedging,
            fields: fields,
            roundTrip: roundTrip
        )
    }

    /// Returns the first request of a call, as the interceptors sent it on.
    private func firstHop(_ request: Request, original: Request, isContinued: Bool) -> HopRequest {
        let crossing = fields.crossing(by: original.redirects ?? redirects.policy)
        let first = fields.upgraded(original)
        let hop = isContinued ? HopRequest(continuing: first, crossing) : .beginning(first, by: crossing)
        guard isIntercepted else { return hop }
        return hop.rebuilt(as: request, shown: [original], crossing)
    }

    /// Sends the first request of a call, follows the redirects, and decodes the last response.
    @inline(__always)
    private func send(
        _ request: Request,
        trail: Trail?,
        through layers: InnerLayers,
        log: CallLog?
    ) async throws -> Response {
        let call = call(for: request, log)
        log?.take(request.explicitTags)
        do {
            var response = try await redirects.send(request, trail: trail, call: call, through: layers)
            try fields.decoding.decode(&response, to: request, within: call.limit)
            return response
        } catch {
            throw error.adding(request: request)
        }
    }

    @inline(never)
    private func sendApart(
        _ request: Request,
        trail: Trail?,
        through layers: InnerLayers,
        log: CallLog?
    ) async throws -> Response {
        try await send(request, trail: trail, through: layers, log: log)
    }

    /// Makes the values of a call that begins now.
    @inline(__always)
    func call(for request: Request, _ log: CallLog? = nil) -> Call {
        request.hasOptions ? ownCall(for: request, log) : Call(limits, from: loop.now, log)
    }

    // Not inlined: the frame of `send` would be larger by the time limits.
    @inline(never)
    private func ownCall(for request: Request, _ log: CallLog?) -> Call {
        let limits = request.explicitTimeouts?.over(configuration.timeouts, on: limits.threads) ?? limits
        return Call(limits, from: loop.now, log, waited: request.waited)
    }
}

extension Error {
    /// Returns the error, with the method and the URL of the request if it is an `HTTPError`. Not inlined:
    /// the frame of `send` would be larger by it.
    @inline(never)
    fileprivate func adding(request: Request) -> any Error {
        (self as? HTTPError)?.about(request) ?? self
    }
}

/// The values that all requests of one call share: the first request, redirects, authentication and retries.
struct Call: Sendable {
    /// The time limits, the request's own ones applied, and the deadline.
    let limit: CallLimit
    /// When the call began.
    let start: Instant
    /// Records the call's events; `nil` without an observer.
    private(set) var log: CallLog?
    /// What the layers above the network have to do with the request that is in progress; `nil` if no layer
    /// needs any. One reference for all of them, because each costs about 200 instructions a request.
    private var notes: Notes?

    init(
        _ timeouts: Timeouts.Nanoseconds,
        from start: Instant,
        _ log: CallLog? = nil,
        waited: Duration? = nil
    ) {
        let (total, spent) = (timeouts.total, waited?.clampedNanoseconds ?? 0)
        let left = total == .max ? .max : total - min(total, spent)
        limit = CallLimit(timeouts, until: start.advanced(byNanoseconds: left))
        self.start = start
        self.log = log
    }

    var timeouts: Timeouts.Nanoseconds { limit.timeouts }
    var end: Instant { limit.end }

    private final class Notes: Sendable {
        let sent: SentRequests?
        let repeatability: Repeatability?
        let credentials: RequestCredentials?

        init(_ sent: SentRequests?, _ repeatability: Repeatability?, _ credentials: RequestCredentials?) {
            self.sent = sent
            self.repeatability = repeatability
            self.credentials = credentials
        }
    }

    /// Records the requests that are sent, for the cache; `nil` without a cache.
    var sent: SentRequests? {
        get { notes?.sent }
        set { notes = Notes(newValue, repeatability, credentials) }
    }

    /// Knows whether what was really sent may be sent again; `nil` without network interceptors.
    var repeatability: Repeatability? {
        get { notes?.repeatability }
        set { notes = Notes(sent, newValue, credentials) }
    }

    /// Makes credentials for each further time that the request is sent; `nil` if no authenticator made them.
    var credentials: RequestCredentials? {
        get { notes?.credentials }
        set { notes = Notes(sent, repeatability, newValue) }
    }

    /// The call without its record, for requests that no observer is told of.
    var unobserved: Call {
        var call = self
        call.log = nil
        return call
    }

    /// Returns the error of a request whose call has reached its deadline before the request begins.
    @inline(never)
    func overdue(for url: HTTPURL?) -> any Error {
        let limit = Duration.nanoseconds(Int64(clamping: timeouts.total))
        return HTTPError(.request, .timedOut(after: limit), name: url?.host.description)
    }

    /// Records that another request follows, and returns the hop.
    func logging(_ hop: Hop) -> Hop {
        log?.goesOn(hop)
        return hop
    }
}
