internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// Sends requests through the client's network interceptors, which see all fields of each, to the network or
/// to the function that answers instead of it.
final class NetworkInterceptors: NetworkLayer {
    private let interceptors: [Interceptor]
    private let transport: Forward?
    private let next: any NetworkLayer
    private let fields: ClientFields
    private let redirects: RedirectPolicy
    private let loop: EventLoop

    /// `nil` if the client has neither network interceptors nor a transport of its own.
    init?(
        _ configuration: HTTPClient.Configuration,
        fields: ClientFields,
        next: any NetworkLayer
    ) {
        guard !configuration.networkInterceptors.isEmpty || configuration.transport != nil else { return nil }
        interceptors = configuration.networkInterceptors
        transport = configuration.transport
        self.next = next
        self.fields = fields
        redirects = configuration.redirects
        loop = configuration.loop
    }

    func send(_ request: Request, trail: Trail?, call: Call, detour: Detour?) async throws -> Response {
        let url = try? request.url
        guard loop.now < call.end else { throw call.overdue(for: url) }
        var complete = request.traced
        complete.headers.complete(with: fields.defaults(for: request, trail))
        do {
            let shown = try await final(complete, call: call)
            let response = try await call.answer(to: url, .response, on: loop) {
                try await self.pass(shown, through: self.interceptors[...], call: call) { request in
                    try await self.end(request, of: shown, trail: trail, call: call, detour: detour)
                }
            }
            response.body.take(call.limit, stall: call.timeouts.read.nanoseconds, on: loop)
            return response
        } catch let error as HTTPError {
            throw error.about(request.method, url)
        }
    }

    private func final(_ request: Request, call: Call) async throws -> FinalRequest {
        try await FinalRequest(request, on: loop, within: call.limit)
    }

    /// Sends the request through the interceptors and then to `end`. Each interceptor sees the fields that
    /// fit what the one before it has made of the request.
    @inline(never)
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
    /// - Parameter shown: what the first interceptor saw.
    @inline(never)
    private func end(
        _ request: Request,
        of shown: FinalRequest,
        trail: Trail?,
        call: Call,
        detour: Detour?
    ) async throws -> Response {
        let hop = HopRequest(shown.request, trail).rebuilt(
            as: request,
            shown: [shown.request],
            fields.crossing(by: shown.request.redirects ?? redirects)
        )
        // The layers above have decided by what they know of the request; this is the one that is sent.
        if let detour, detour.isHedge, !hop.request.mayBeHedged {
            throw HTTPError(.request, .overtaken, method: hop.request.method, url: try? hop.request.url)
        }
        call.repeatability?.note(
            hop.request.method,
            hop.request.body.content,
            isUpgrade: !hop.request.upgrade.isEmpty
        )
        call.sent?.note(hop.request, defaults: HTTPHeaders())
        call.log?.take(hop.request.explicitTags)
        guard let transport else {
            let complete = hop.withAllFields
            return try await next.send(complete.request, trail: complete.trail, call: call, detour: detour)
        }
        return try await transport(final(hop.request, call: call).request)
    }
}
