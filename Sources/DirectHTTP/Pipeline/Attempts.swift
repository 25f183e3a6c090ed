internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// The retry layer: sends one request, and retries it as the retry policy says. With or without a policy it
/// sends the request once more after 421 (Misdirected Request) or 417 (Expectation Failed).
final class Attempts: Layer {
    private let roundTrip: RoundTrip
    /// The optional layers between the attempts and the round trip; `nil` if there are none.
    private let networkLayers: (any NetworkLayer)?
    /// The client's policy. A policy of the request takes precedence.
    private let retries: RetryPolicy?
    /// Whether other code may send other requests than those that this layer knows.
    private let isIntercepted: Bool
    private let loop: EventLoop

    init(_ configuration: HTTPClient.Configuration, roundTrip: RoundTrip, networkLayers: (any NetworkLayer)?)
    {
        self.roundTrip = roundTrip
        self.networkLayers = networkLayers
        retries = configuration.retries
        isIntercepted = !configuration.networkInterceptors.isEmpty
        loop = configuration.loop
    }

    func send(_ request: Request, trail: Trail?, call: Call) async throws -> Response {
        try await begin(request, trail: trail, call: call, from: loop.now)
    }

    /// Sends the request, which began at `start`. Inlined, because every request passes through it.
    @inline(__always)
    func begin(
        _ request: Request,
        trail: Trail?,
        call: Call,
        from start: Instant
    ) async throws -> Response {
        if isIntercepted { return try await sendNoted(request, trail: trail, call: call) }
        return try await sendAsKnown(request, trail: trail, call: call, from: start)
    }

    /// Sends the request, and notes what is sent below the network interceptors.
    private func sendNoted(_ request: Request, trail: Trail?, call: Call) async throws -> Response {
        var call = call
        call.repeatability = request.repeatability ?? call.repeatability ?? Repeatability()
        return try await sendAsKnown(request, trail: trail, call: call, from: loop.now)
    }

    /// Sends the request, which is retried as far as this layer and the call's notes know it.
    @inline(__always)
    private func sendAsKnown(
        _ request: Request,
        trail: Trail?,
        call: Call,
        from start: Instant
    ) async throws -> Response {
        if let policy = request.retries ?? retries {
            return try await send(request, trail: trail, call: call, by: policy)
        }
        if request.hasOptions, !request.failedEndpoints.isEmpty {
            return try await sendElsewhere(request, trail: trail, call: call)
        }
        let response = try await sendOnce(request, trail: trail, call: call, detour: nil, from: start)
        guard response.mayBeSentAgain else { return response }
        return try await sendAgain(after: response, to: request, trail: trail, call: call)
    }

    /// Sends a request once that knows from attempts before it which endpoints fail. Not inlined, as few
    /// requests do.
    @inline(never)
    private func sendElsewhere(_ request: Request, trail: Trail?, call: Call) async throws -> Response {
        var request = request
        var endpoints = request.failedEndpoints
        return try await attempt(
            &request,
            trail: trail,
            call: call,
            endpoints: &endpoints,
            isFirst: true
        ).get()
    }

    /// Sends the request of the first attempt once more. Not inlined: few requests come here, and each would
    /// need the room.
    @inline(never)
    private func sendAgain(
        after response: Response,
        to request: Request,
        trail: Trail?,
        call: Call
    ) async throws -> Response {
        var endpoints = FailedEndpoints()
        return try await sendAgain(
            after: response,
            to: request,
            trail: trail,
            call: call,
            endpoints: &endpoints
        )
    }

    /// Sends the request once, through the network layers if there are any.
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
        var request = request
        var history: [Hop] = []
        var endpoints = request.failedEndpoints
        var count = 0
        while true {
            let result = try await attempt(
                &request,
                trail: trail,
                call: call,
                endpoints: &endpoints,
                isFirst: count == 0
            )
            count += 1
            history += result.history
            switch policy.next(after: count, result, of: request, call: call, on: loop) {
            case .end(let stop):
                policy.refillBudget(after: result)
                call.log?.attemptsEnded(stop)
                return try result.get(stop: stop, history: history)
            case .wait(let wait):
                // The wait begins here: reading the rest of the response must not carry it past the call's
                // deadline.
                let end = loop.now.advanced(byNanoseconds: wait.clampedNanoseconds)
                if let hop = await result.hopBeforeRetry(of: request) { history.append(call.logging(hop)) }
                try await loop.sleep(until: end)
            }
        }
    }

    /// Makes one attempt. If it fails, records the endpoint, so that the next attempt prefers another one.
    private func attempt(
        _ request: inout Request,
        trail: Trail?,
        call: Call,
        endpoints: inout FailedEndpoints,
        isFirst: Bool
    ) async throws -> Result<Response, HTTPError> {
        do {
            if !isFirst { try await call.renewCredentials(of: &request) }
            var response = try await sendOnce(
                request,
                trail: trail,
                call: call,
                detour: endpoints.detour(),
                from: loop.now
            )
            if response.mayBeSentAgain {
                response = try await sendAgain(
                    after: response,
                    to: request,
                    trail: trail,
                    call: call,
                    endpoints: &endpoints
                )
            }
            if response.status.isServerError { endpoints.recordFailure(at: response.transaction?.endpoint) }
            return .success(response)
        } catch let error as HTTPError {
            endpoints.recordFailure(at: error.endpointOfFailure)
            return .failure(error)
        }
    }

    /// Sends the request once more if the server refused it without acting on it: after 421 (RFC 9110,
    /// section 15.5.20) on a new connection, and to another endpoint if there is one; after 417 (section
    /// 15.5.18) without the expectation. Because the server has not acted on the request, this does not count
    /// as a retry. Returns the response unchanged if the request cannot be sent again.
    private func sendAgain(
        after response: Response,
        to request: Request,
        trail: Trail?,
        call: Call,
        endpoints: inout FailedEndpoints
    ) async throws -> Response {
        var next: Request
        let reason: Hop.Reason
        guard call.repeatability?.canBeSent ?? true else { return response }
        if response.status == .misdirectedRequest, request.body.canBeSent {
            (next, reason) = (request, .misdirected)
        } else if let plain = request.withoutExpectation(after: response.status) {
            (next, reason) = (plain, .expectation)
        } else {
            return response
        }
        await response.body.drain()
        let hop = call.logging(Hop(reason, request.method, response))
        let isMisdirected = reason == .misdirected
        if isMisdirected { endpoints.recordMisdirection(at: response.transaction?.endpoint) }
        do {
            let detour = endpoints.detour(onNewConnection: isMisdirected)
            try await call.renewCredentials(of: &next)
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
    /// Whether the status says that the server has not acted on the request: 421 or 417.
    fileprivate var mayBeSentAgain: Bool { status == .misdirectedRequest || status == .expectationFailed }
}

extension HTTPError {
    /// The endpoint at which the request failed; `nil` if dialling failed, since the dialler remembers failed
    /// endpoints itself, or if no endpoint was involved.
    var endpointOfFailure: Endpoint? {
        switch phase {
        case .proxy, .write, .response, .body: endpoint
        case .request, .resolve, .queue, .connect, .tls, .redirect: nil
        }
    }
}
