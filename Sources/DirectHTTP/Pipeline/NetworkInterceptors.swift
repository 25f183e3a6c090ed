internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// Sends requests through the client's network interceptors, which see all fields of each, to the network or to the
/// function that answers instead of it.
final class NetworkInterceptors: NetworkLayer {
    private let interceptors: [Interceptor]
    private let transport: Forward?
    private let roundTrip: RoundTrip
    private let fields: ClientFields
    private let redirects: RedirectPolicy
    private let loop: EventLoop

    /// `nil` if the client has neither network interceptors nor a transport of its own.
    init?(_ configuration: HTTPClient.Configuration, fields: ClientFields, roundTrip: RoundTrip) {
        guard !configuration.networkInterceptors.isEmpty || configuration.transport != nil else { return nil }
        interceptors = configuration.networkInterceptors
        transport = configuration.transport
        self.roundTrip = roundTrip
        self.fields = fields
        redirects = configuration.redirects
        loop = configuration.loop
    }

    func send(_ request: Request, trail: Trail?, call: Call, detour: Detour?) async throws -> Response {
        let url = try? request.url
        guard loop.now < call.end else { throw call.overdue(for: url) }
        var complete = request
        complete.headers.complete(with: fields.defaults(for: request, trail))
        do {
            let response = try await answer(to: complete, trail: trail, call: call, detour: detour)
            response.body.take(call.limit, stall: call.timeouts.read, on: loop)
            return response
        } catch let error as HTTPError {
            throw error.about(request.method, url)
        }
    }

    /// Sends the request through the interceptors, to the network or to the function in its place.
    private func answer(
        to complete: Request,
        trail: Trail?,
        call: Call,
        detour: Detour?
    ) async throws -> Response {
        try await call.answer(to: try? complete.url, .response, on: loop) {
            try await intercept(complete, interceptors: self.interceptors[...]) { request in
                let hop = HopRequest(complete, trail).rebuilt(
                    as: request,
                    shown: [complete],
                    self.fields.crossing(by: complete.redirects ?? self.redirects)
                )
                call.sent?.note(hop.request, defaults: self.fields.defaults(for: hop.request, hop.trail))
                guard let transport = self.transport else {
                    return try await self.roundTrip.send(
                        hop.request,
                        trail: hop.trail,
                        call: call,
                        detour: detour
                    )
                }
                return try await transport(hop.request)
            }
        }
    }
}

extension HTTPHeaders {
    /// Adds the client's default fields that the request does not have itself.
    fileprivate mutating func complete(with defaults: HTTPHeaders) {
        let own = self
        for field in defaults where !own.contains(field.name) { add(field.name, field.value) }
    }
}
