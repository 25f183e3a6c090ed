internal import DirectCore
internal import DirectIO
internal import DirectTransport

/// Sends calls through the client's interceptors, and begins what they make of them. A call that is cancelled
/// does not wait for them.
final class CallInterceptors: Layer {
    private let interceptors: [Interceptor]
    private let next: Calls
    private let redirects: RedirectPolicy
    private let fields: ClientFields
    private let loop: EventLoop
    /// The time limits are not known yet: an interceptor may set them.
    private let limit: CallLimit

    init(
        _ configuration: HTTPClient.Configuration,
        fields: ClientFields,
        on threads: BlockingWork,
        next: Calls
    ) {
        interceptors = configuration.interceptors
        redirects = configuration.redirects
        loop = configuration.loop
        limit = CallLimit(configuration.timeouts.nanoseconds(on: threads), until: .never)
        self.fields = fields
        self.next = next
    }

    func send(_ hop: borrowing HopRequest) async throws -> Response {
        let crossing = fields.crossing(by: hop.request.redirects ?? redirects)
        // No interceptor has made anything of the request yet.
        let shown = hop.request.traced
        let hop = hop.traced.begun(by: crossing)
        do throws(ForeignFailure) {
            return try await callersCode(within: limit, on: loop) {
                try await intercept(shown, interceptors: self.interceptors[...], crossing) {
                    var hop = hop.rebuilt(as: $0, shown: [shown], crossing)
                    hop.call = self.next.call(for: hop.request, hop.call.log)
                    return try await self.next.send(hop)
                }
            }
        } catch {
            guard case .threw(let error) = error else { throw CancellationError() }
            throw error
        }
    }
}

/// Sends a request through the interceptors and then to `end`.
func intercept(
    _ request: Request,
    interceptors: ArraySlice<Interceptor>,
    _ crossing: Crossing,
    end: @escaping Forward
) async throws -> Response {
    guard let first = interceptors.first else { return try await end(request) }
    return try await run(first, on: request) { returned in
        let kept = returned.completed(after: request, crossing)
        return try await intercept(kept, interceptors: interceptors.dropFirst(), crossing, end: end)
    }
}

/// Runs an interceptor. What it sends itself is a request of code that is asked, and so is what it passes on
/// while it holds a response.
func run(_ interceptor: Interceptor, on request: Request, next: @escaping Forward) async throws -> Response {
    let (isAsked, held) = (AskedCode.isRunning, HeldResponses())
    defer { held.reclaim() }
    return try await AskedCode.$isRunning.withValue(true) {
        try await interceptor(request) { request in
            let isUrgent = isAsked || held.hasConnection
            let response = try await AskedCode.$isRunning.withValue(isUrgent) { try await next(request) }
            held.lend(response)
            return response
        }
    }
}

extension Request {
    /// Returns the request that an interceptor has made of `shown`, as the next one sees it: without copied
    /// secrets, and with the options that it does not set.
    func completed(after shown: Request, _ crossing: Crossing) -> Request {
        let shown = crossing.fields.upgraded(shown)
        let made = crossing.fields.completed(self)
        var request = made.withoutCopies(of: shown, surviving: crossing.surviving)
        if request.addresses == nil, !made.isCopy(of: shown) {
            request.addresses = shown.addresses(for: made)
        }
        request.inheritOptions(of: shown)
        return request
    }
}
