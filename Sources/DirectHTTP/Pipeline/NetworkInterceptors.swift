internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// Sends requests through the client's network interceptors, which see all fields of each, to the network or
/// to the function that answers instead of it.
final class NetworkInterceptors: Layer {
    private let interceptors: [Interceptor]
    private let transport: Forward?
    private let next: any Layer
    private let fields: ClientFields
    private let redirects: RedirectPolicy
    /// Whether all responses wait for a limit on their bytes.
    private let isLimited: Bool
    private let loop: EventLoop

    init(_ configuration: HTTPClient.Configuration, fields: ClientFields, next: any Layer) {
        interceptors = configuration.networkInterceptors
        transport = configuration.transport
        self.next = next
        self.fields = fields
        redirects = configuration.redirects
        isLimited = configuration.receivingRate != nil
        loop = configuration.loop
    }

    func send(_ hop: borrowing HopRequest) async throws -> Response {
        let (call, method, url) = (hop.call, hop.request.method, try? hop.request.url)
        guard loop.now < call.end else { throw call.overdue(for: url) }
        var complete = hop.traced
        complete.request.headers.complete(with: fields.defaults(for: hop.request, trail: hop.trail))
        do {
            let shown = try await final(complete.request, call: call)
            complete.request = shown.request
            let (seen, own) = (complete, OwnResponse())
            var response = try await call.answer(to: url, .response, on: loop) {
                try await self.pass(shown, through: self.interceptors[...], call: call) {
                    let response = try await self.end($0, of: seen)
                    if self.transport == nil { own.note(response) }
                    return response
                }
            }
            if own.isOfAnotherClient(response) { hop.sent?.noteUnknown() }
            var wait = PieceWait(limit: call.limit, loop: loop)
            // The time that a limit on the rate takes counts towards the whole call alone.
            if !isLimited, seen.request.receivingRate == nil {
                (wait.stall, wait.speed) = (call.timeouts.read.nanoseconds, call.timeouts.speed)
            }
            response.body.limit(by: wait, own: own.body)
            return response.withoutUndoneCodings
        } catch let error as HTTPError {
            throw error.about(method, url)
        }
    }

    private func final(_ request: Request, call: Call) async throws -> FinalRequest {
        try await FinalRequest(request, on: loop, within: call.limit)
    }

    /// Sends the request through the interceptors and then to `end`. Each interceptor sees the fields that
    /// fit what the one before it has made of the request.
    private func pass(
        _ shown: FinalRequest,
        through interceptors: ArraySlice<Interceptor>,
        call: Call,
        end: @escaping Forward
    ) async throws -> Response {
        guard let first = interceptors.first else { return try await end(shown.stripped(shown.request)) }
        return try await run(first, on: shown.request) { request in
            let crossing = self.fields.crossing(by: shown.request.redirects ?? self.redirects)
            try self.fields.completed(request).check(madeOf: shown.request, for: .sending)
            let stripped = shown.stripped(request.completed(after: shown.request, crossing))
            guard interceptors.count > 1 else { return try await end(stripped) }
            let next = try await self.final(stripped, call: call)
            return try await self.pass(next, through: interceptors.dropFirst(), call: call, end: end)
        }
    }

    /// Sends the request that the interceptors have made to the network, or to the function in its place.
    ///
    /// - Parameter seen: what the first interceptor saw.
    private func end(_ request: Request, of seen: HopRequest) async throws -> Response {
        let crossing = fields.crossing(by: seen.request.redirects ?? redirects)
        let hop = seen.rebuilt(as: request, shown: [seen.request], crossing)
        let (call, request) = (hop.call, hop.request)
        // The layers above have decided by what they know of the request; this is the one that is sent.
        if let detour = hop.detour, detour.isHedge, !request.mayBeHedged {
            throw HTTPError(.request, .overtaken, method: request.method, url: try? request.url)
        }
        hop.repeatability?.note(request.method, request.body.content, isUpgrade: !request.upgrade.isEmpty)
        hop.sent?.note(request, defaults: HTTPHeaders())
        call.log?.take(request.explicitTags)
        guard let transport else { return try await next.send(hop.withAllFields) }
        var shown = try await final(request, call: call).request
        // It may be another client, and this one follows redirects, with its cookies and its cache, and sends
        // requests again. The other one's own fields and certificate are not for where redirects lead.
        if hop.trail?.isServersChoice == true { shown.isServersChoice = true }
        (shown.redirects, shown.retries, shown.hedging) = (.deliver, nil, nil)
        return try await transport(shown)
    }
}

/// The response that the network has brought last.
private final class OwnResponse: Sendable {
    private let place = Locked(Facts())

    /// Its body; `nil` once the interceptors have let it go.
    var body: GuardedBody? { place.withLock { $0.body } }

    func note(_ response: Response) {
        place.withLock { facts in
            facts.arrival = response.transaction?.record.response
            if case .arriving(let body) = response.body.content { facts.body = body }
        }
    }

    /// Whether an interceptor, or the function in place of the network, had the response from another client.
    func isOfAnotherClient(_ response: Response) -> Bool {
        guard let transaction = response.transaction else { return response.cacheUse != nil }
        return place.withLock { $0.arrival } != transaction.record.response
    }

    private struct Facts: @unchecked Sendable {
        weak var body: GuardedBody?
        /// When its head had arrived, by which it is told from others.
        var arrival: Instant?
    }
}
