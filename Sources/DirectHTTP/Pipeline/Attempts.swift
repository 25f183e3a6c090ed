internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// The retry layer: sends one request, and retries it as the retry policy says. With or without a policy it
/// sends the request once more after 421 (Misdirected Request) or 417 (Expectation Failed).
final class Attempts: Layer {
    private let roundTrip: RoundTrip
    /// The optional layers between the attempts and the round trip; `nil` if there are none.
    private let network: (any Layer)?
    /// The client's policy. A policy of the request takes precedence.
    private let retries: RetryPolicy?
    /// Whether other code may send other requests than those that this layer knows.
    private let isIntercepted: Bool
    private let loop: EventLoop

    init(_ configuration: HTTPClient.Configuration, roundTrip: RoundTrip, next: any Layer) {
        self.roundTrip = roundTrip
        // The round trip itself is called directly.
        network = next === roundTrip ? nil : next
        retries = configuration.retries
        isIntercepted = !configuration.networkInterceptors.isEmpty
        loop = configuration.loop
    }

    /// Whether it has nothing to do with a request without options before there is a response to it.
    var arePlain: Bool { network == nil && retries == nil && !isIntercepted }

    // Inlined, because every request passes through it.
    @inline(__always)
    func send(_ hop: borrowing HopRequest) async throws -> Response {
        var first: Response?
        if !isIntercepted, retries == nil, !hop.request.hasOptions || hop.request.isSentOnce {
            let response: Response
            if let network {
                response = try await network.send(hop)
            } else {
                response = try await roundTrip.send(hop)
            }
            guard response.mayBeSentAgain else { return response }
            first = response
        }
        // One call for both cases: a request that waits has room for the response of each.
        return try await sendInAttempts(copy hop, after: first)
    }

    /// Sends the request, and again as far as the retry policy says so, or once if there is none.
    ///
    /// - Parameter first: the response of the first attempt, if the request was sent already.
    private func sendInAttempts(_ original: HopRequest, after first: Response?) async throws -> Response {
        var hop = original
        if isIntercepted {
            hop.repeatability = hop.request.repeatability ?? hop.repeatability ?? Repeatability()
        }
        let call = hop.call
        var history: [Hop] = []
        var endpoints = hop.request.failedEndpoints
        var count = 0
        while true {
            let result = try await attempt(&hop, endpoints: &endpoints, isFirst: count == 0, after: first)
            guard let policy = original.request.retries ?? retries else { return try result.get() }
            count += 1
            history += result.history
            switch await policy.next(after: count, result, of: hop, on: loop) {
            case .end(let stop):
                policy.refillBudget(after: result)
                call.log?.attemptsEnded(stop)
                return try result.get(stop: stop, history: history)
            case .wait(let wait):
                // The wait begins here: reading the rest of the response must not carry it past the call's
                // deadline.
                let end = loop.now.advanced(byNanoseconds: wait.clampedNanoseconds)
                if let hop = await result.hopBeforeRetry(of: hop.request) {
                    history.append(call.logging(hop))
                }
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
    private func attempt(
        _ hop: inout HopRequest,
        endpoints: inout FailedEndpoints,
        isFirst: Bool,
        after first: Response?
    ) async throws -> Result<Response, HTTPError> {
        let network: any Layer = network ?? roundTrip
        var refusals: [Hop] = []
        do {
            if !isFirst { try await hop.renewCredentials() }
            hop.detour = endpoints.detour()
            var response: Response
            if let first { response = first } else { response = try await network.send(hop) }
            if case (let request, let reason)? = hop.repeated(after: response),
                await hop.call.canSendAgain(request.body, after: response, on: loop)
            {
                await response.body.drain()
                refusals = [hop.call.logging(Hop(reason, request.method, response))]
                let isMisdirected = reason == .misdirected
                if isMisdirected { endpoints.recordMisdirection(at: response.transaction?.endpoint) }
                var next = hop
                next.request = request
                next.detour = endpoints.detour(onNewConnection: isMisdirected)
                try await next.renewCredentials()
                response = try await network.send(next)
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
    fileprivate var isSentOnce: Bool { retries == nil && failedEndpoints.isEmpty }
}

extension HopRequest {
    /// Returns the request that is sent once more if the server refused this one without acting on it; `nil`
    /// if it did not, and if the request cannot be sent again.
    fileprivate func repeated(after response: Response) -> (Request, Hop.Reason)? {
        guard repeatability?.canBeSent ?? true else { return nil }
        if response.status == .misdirectedRequest, request.body.canBeSent { return (request, .misdirected) }
        return request.withoutExpectation(after: response.status).map { ($0, .expectation) }
    }
}

extension Response {
    /// Whether the status says that the server has not acted on the request: 421 or 417.
    var mayBeSentAgain: Bool { status == .misdirectedRequest || status == .expectationFailed }
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
