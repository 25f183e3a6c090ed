internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// The attempts layer: sends one request, and repeats it as the retry policy says. Without a policy, too, it sends the
/// request once more after 421 or 417.
final class Attempts: Layer {
    private let roundTrip: RoundTrip
    /// The optional layers between the attempts and the round trip; `nil` if there are none.
    private let networkLayers: (any NetworkLayer)?
    /// The client's policy; the request's own takes precedence.
    private let retries: RetryPolicy?
    private let loop: EventLoop

    init(_ configuration: HTTPClient.Configuration, roundTrip: RoundTrip, networkLayers: (any NetworkLayer)?)
    {
        self.roundTrip = roundTrip
        self.networkLayers = networkLayers
        retries = configuration.retries
        loop = configuration.loop
    }

    func send(_ request: Request, trail: Trail?, call: Call) async throws -> Response {
        try await begin(request, trail: trail, call: call, from: loop.now)
    }

    @inline(__always)
    func begin(
        _ request: Request,
        trail: Trail?,
        call: Call,
        from start: Instant
    ) async throws -> Response {
        if let policy = request.retries ?? retries {
            return try await send(request, trail: trail, call: call, by: policy)
        }
        let response = try await sendOnce(request, trail: trail, call: call, detour: nil, from: start)
        guard response.mayBeUnprocessed else { return response }
        var endpoints = FailedEndpoints()
        return try await sendAgain(
            after: response,
            to: request,
            trail: trail,
            call: call,
            endpoints: &endpoints
        )
    }

    /// Sends the request once, through the layers inside.
    @inline(__always)
    private func sendOnce(
        _ request: Request,
        trail: Trail?,
        call: Call,
        detour: Detour?,
        from start: Instant
    ) async throws -> Response {
        if let networkLayers {
            return try await networkLayers.send(request, trail: trail, call: call, detour: detour)
        }
        return try await roundTrip.send(request, trail: trail, call: call, detour: detour, from: start)
    }

    /// Sends a request and retries it as the policy says.
    private func send(_ request: Request, trail: Trail?, call: Call, by policy: RetryPolicy) async throws
        -> Response
    {
        var history: [Hop] = []
        var endpoints = FailedEndpoints()
        var count = 0
        while true {
            let result = try await attempt(request, trail: trail, call: call, endpoints: &endpoints)
            count += 1
            history += result.history
            switch policy.next(after: count, result, of: request, call: call, on: loop) {
            case .end(let stop):
                policy.refillBudget(after: result)
                call.log?.attemptsEnded(stop)
                return try result.ending(stop, history: history)
            case .wait(let wait):
                // The wait begins here: reading the rest of the response must not carry it past the call's deadline.
                let end = loop.now.advanced(byNanoseconds: wait.clampedNanoseconds)
                if let hop = await result.hopBeforeRetry(of: request) { history.append(call.noting(hop)) }
                try await loop.sleep(until: end)
            }
        }
    }

    /// Makes one attempt and notes the endpoint if it failed there.
    private func attempt(
        _ request: Request,
        trail: Trail?,
        call: Call,
        endpoints: inout FailedEndpoints
    ) async throws -> Result<Response, HTTPError> {
        do {
            var response = try await sendOnce(
                request,
                trail: trail,
                call: call,
                detour: endpoints.detour(),
                from: loop.now
            )
            if response.mayBeUnprocessed {
                response = try await sendAgain(
                    after: response,
                    to: request,
                    trail: trail,
                    call: call,
                    endpoints: &endpoints
                )
            }
            if response.status.isServerError { endpoints.noteFailure(at: response.transaction?.endpoint) }
            return .success(response)
        } catch let error as HTTPError {
            endpoints.noteFailure(at: error.endpointOfFailure)
            return .failure(error)
        }
    }

    /// Sends the request once more if the server refused it before doing anything: after 421 (RFC 9110, section
    /// 15.5.20) on a new connection and to another endpoint if there is one; after 417 (section 15.5.18) without
    /// the expectation. This does not count as a retry, because the server has not acted on the request.
    private func sendAgain(
        after response: Response,
        to request: Request,
        trail: Trail?,
        call: Call,
        endpoints: inout FailedEndpoints
    ) async throws -> Response {
        let next: Request
        let reason: Hop.Reason
        if response.status == .misdirectedRequest, request.body.isReplayable {
            (next, reason) = (request, .misdirected)
        } else if let plain = request.withoutExpectation(after: response.status) {
            (next, reason) = (plain, .expectation)
        } else {
            return response
        }
        await response.body.drain()
        let hop = call.noting(Hop(reason, request.method, response))
        let isMisdirected = reason == .misdirected
        if isMisdirected { endpoints.noteMisdirection(at: response.transaction?.endpoint) }
        do {
            let detour = endpoints.detour(onNewConnection: isMisdirected)
            var second = try await sendOnce(
                next,
                trail: trail,
                call: call,
                detour: detour,
                from: loop.now
            )
            second.history.insert(hop, at: 0)
            return second
        } catch let error as HTTPError {
            throw error.after([hop])
        }
    }
}

extension Response {
    /// Whether the server may have refused the request before doing anything.
    fileprivate var mayBeUnprocessed: Bool { status == .misdirectedRequest || status == .expectationFailed }
}

extension HTTPError {
    /// The endpoint that failed; `nil` if dialling failed, which has its own order of endpoints, or if no endpoint was
    /// involved.
    fileprivate var endpointOfFailure: Endpoint? {
        switch phase {
        case .proxy, .write, .response, .body: endpoint
        case .request, .resolve, .queue, .connect, .tls, .redirect: nil
        }
    }
}
