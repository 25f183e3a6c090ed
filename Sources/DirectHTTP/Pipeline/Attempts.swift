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
        try await send(request, trail: trail, call: call, from: loop.now)
    }

    /// Sends the request, which began at `start`. Inlined, because every request passes through it.
    @inline(__always)
    func send(
        _ request: Request,
        trail: Trail?,
        call: Call,
        from start: Instant
    ) async throws -> Response {
        var first: Response?
        if !isIntercepted, retries == nil, !request.hasOptions || request.isPlain {
            let response: Response
            if let networkLayers {
                response = try await networkLayers.send(request, trail: trail, call: call, detour: nil)
            } else {
                response = try await roundTrip.send(
                    request,
                    trail: trail,
                    call: call,
                    detour: nil,
                    from: start
                )
            }
            guard response.mayBeSentAgain else { return response }
            first = response
        }
        // One call for both cases: a request that waits has room for the response of each.
        return try await sendInAttempts(request, trail: trail, call: call, after: first)
    }

    /// Sends the request, and again as far as the retry policy says so, or once if there is none. Not
    /// inlined: few requests come here, and each would need the room.
    ///
    /// - Parameter first: the response of the first attempt, if the request was sent already.
    @inline(never)
    private func sendInAttempts(
        _ original: Request,
        trail: Trail?,
        call: Call,
        after first: Response? = nil
    ) async throws -> Response {
        var (request, call) = (original, call)
        if isIntercepted {
            call.repeatability = request.repeatability ?? call.repeatability ?? Repeatability()
        }
        var history: [Hop] = []
        var endpoints = request.failedEndpoints
        var count = 0
        while true {
            let result = try await attempt(
                &request,
                trail: trail,
                call: call,
                endpoints: &endpoints,
                isFirst: count == 0,
                after: first
            )
            guard let policy = original.retries ?? retries else { return try result.get() }
            count += 1
            history += result.history
            switch await policy.next(after: count, result, of: request, call: call, on: loop) {
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
    ///
    /// If the server refused the request without acting on it, sends it once more: after 421 (RFC 9110,
    /// section 15.5.20) on a new connection, and to another endpoint if there is one; after 417 (section
    /// 15.5.18) without the expectation. This does not count as a retry.
    ///
    /// - Parameter first: the response, if the request was sent already.
    @inline(never)
    private func attempt(
        _ request: inout Request,
        trail: Trail?,
        call: Call,
        endpoints: inout FailedEndpoints,
        isFirst: Bool,
        after first: Response?
    ) async throws -> Result<Response, HTTPError> {
        let network: any NetworkLayer = networkLayers ?? roundTrip
        var refusals: [Hop] = []
        do {
            if !isFirst { try await call.renewCredentials(of: &request) }
            var response: Response
            if let first {
                response = first
            } else {
                let detour = endpoints.detour()
                response = try await network.send(request, trail: trail, call: call, detour: detour)
            }
            if case (var next, let reason)? = request.repeated(after: response, call),
                await call.canSendAgain(request.body, after: response, on: loop)
            {
                await response.body.drain()
                refusals = [call.logging(Hop(reason, request.method, response))]
                let isMisdirected = reason == .misdirected
                if isMisdirected { endpoints.recordMisdirection(at: response.transaction?.endpoint) }
                let detour = endpoints.detour(onNewConnection: isMisdirected)
                try await call.renewCredentials(of: &next)
                response = try await network.send(next, trail: trail, call: call, detour: detour)
                response.history = refusals + response.history
            }
            if response.status.isServerError { endpoints.recordFailure(at: response.transaction?.endpoint) }
            return .success(response)
        } catch let error as HTTPError {
            endpoints.recordFailure(at: error.endpointOfFailure)
            return .failure(error.after(refusals))
        }
    }
}

extension Request {
    /// Whether the request is sent once, and to any of its endpoints first.
    fileprivate var isPlain: Bool { retries == nil && failedEndpoints.isEmpty }

    /// Returns the request that is sent once more if the server refused this one without acting on it; `nil`
    /// if it did not, and if the request cannot be sent again.
    fileprivate func repeated(after response: Response, _ call: Call) -> (Request, Hop.Reason)? {
        guard call.repeatability?.canBeSent ?? true else { return nil }
        if response.status == .misdirectedRequest, body.canBeSent { return (self, .misdirected) }
        return withoutExpectation(after: response.status).map { ($0, .expectation) }
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
