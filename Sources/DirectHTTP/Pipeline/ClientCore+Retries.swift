internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// Retries: by the retry policy, and those for 421 and 417 that need no policy.
extension ClientCore {
    /// Sends a request and retries it as the request's or the client's policy says.
    func sendWithRetries(_ hop: HopRequest, call: Call) async throws -> Response {
        guard let policy = hop.request.retries ?? configuration.retries else {
            var tries = EarlierTries()
            return try await directedSend(hop, call: call, tries: &tries)
        }
        return try await sendWithRetries(hop, call: call, by: policy)
    }

    private func sendWithRetries(
        _ hop: HopRequest,
        call: Call,
        by policy: RetryPolicy
    ) async throws -> Response {
        var history: [Hop] = []
        var tries = EarlierTries()
        var count = 0
        while true {
            let result = try await attempt(hop, call: call, tries: &tries)
            count += 1
            history += result.history
            switch policy.next(after: count, result, of: hop.request, call: call, on: configuration.loop) {
            case .end(let stop):
                policy.settle(result)
                call.log?.endsTries(stop)
                return try result.ending(stop, history: history)
            case .wait(let wait):
                if let refused = await result.refused(hop.request) { history.append(call.noting(refused)) }
                let end = configuration.loop.now.advanced(byNanoseconds: wait.clampedNanoseconds)
                try await configuration.loop.sleep(until: end)
            }
        }
    }

    /// Makes one attempt and notes the endpoint if it failed there.
    private func attempt(
        _ hop: HopRequest,
        call: Call,
        tries: inout EarlierTries
    ) async throws -> Result<Response, HTTPError> {
        do {
            let response = try await directedSend(hop, call: call, tries: &tries)
            if response.status.isServerError { tries.noteFailure(at: response.transaction?.endpoint) }
            return .success(response)
        } catch let error as HTTPError {
            tries.noteFailure(at: error.endpointOfFailure)
            return .failure(error)
        }
    }

    /// Sends the request past the network interceptors, and handles 421 and 417.
    private func directedSend(
        _ hop: HopRequest,
        call: Call,
        tries: inout EarlierTries
    ) async throws -> Response {
        try await sendHandling421And417(
            networkSend(hop, call: call, detour: tries.detour()),
            hop: hop,
            call: call,
            tries: &tries
        )
    }

    /// Sends the request once more if the server refused it before doing anything: after 421 (RFC 9110, section
    /// 15.5.20) on a new connection and to another endpoint if there is one; after 417 (section 15.5.18) without
    /// the expectation. This does not count as a retry, because the server has not acted on the request.
    func sendHandling421And417(
        _ response: Response,
        hop: HopRequest,
        call: Call,
        tries: inout EarlierTries
    ) async throws -> Response {
        let request = hop.request
        let next: HopRequest
        let reason: Hop.Reason
        if response.status == .misdirectedRequest, request.body.isReplayable {
            (next, reason) = (hop, .misdirected)
        } else if let plain = hop.withoutExpectation(after: response.status) {
            (next, reason) = (plain, .expectation)
        } else {
            return response
        }
        await response.body.drain()
        let refused = call.noting(Hop(reason, request.method, response))
        let isMisdirected = reason == .misdirected
        if isMisdirected { tries.noteMisdirection(at: response.transaction?.endpoint) }
        do {
            let detour = tries.detour(onNewConnection: isMisdirected)
            var second = try await networkSend(next, call: call, detour: detour)
            second.history.insert(refused, at: 0)
            return second
        } catch let error as HTTPError {
            throw error.after([refused])
        }
    }

    /// Sends the request through the network interceptors to the transport, and stores its cookies and HSTS policy.
    private func networkSend(
        _ hop: HopRequest,
        call: Call,
        detour: Detour?
    ) async throws -> Response {
        let response = try await transportSend(hop, call: call, detour: detour)
        cookiesAndHSTS(of: call)?.learn(from: response)
        return response
    }

    /// Sends the request through the network interceptors, which see all of its fields, to the transport.
    private func transportSend(
        _ hop: HopRequest,
        call: Call,
        detour: Detour?
    ) async throws -> Response {
        guard !configuration.networkInterceptors.isEmpty || configuration.transport != nil else {
            return try await roundTrip(
                hop.request,
                trail: hop.trail,
                call: call,
                from: configuration.loop.now,
                detour: detour
            )
        }
        let url = try? hop.request.url
        guard configuration.loop.now < call.end else { throw call.overdue(for: url) }
        var complete = hop
        complete.withHeaders { $0.complete(with: defaults(for: hop.request, hop.trail)) }
        return try await call.answer(to: url, .response, on: configuration.loop) { [complete] in
            try await intercept(complete.request, interceptors: self.configuration.networkInterceptors[...]) {
                request in
                let hop = self.rebuilding(complete, as: request)
                call.sent?.note(hop.request, defaults: self.defaults(for: hop.request, hop.trail))
                guard let transport = self.configuration.transport else {
                    let now = self.configuration.loop.now
                    return try await self.roundTrip(
                        hop.request,
                        trail: hop.trail,
                        call: call,
                        from: now,
                        detour: detour
                    )
                }
                return try await transport(hop.request)
            }
        }
    }

    /// Returns the request that an interceptor or the cache made of `hop`, with only what it may carry to its
    /// origin.
    func rebuilding(_ hop: HopRequest, as request: Request) -> HopRequest {
        let policy = hop.request.redirects ?? configuration.redirects
        return hop.rebuilt(as: request, shown: [hop.request], crossing(by: policy))
    }
}

extension HTTPHeaders {
    /// Adds the client's default fields that the request does not have itself.
    fileprivate mutating func complete(with defaults: HTTPHeaders) {
        let own = self
        for field in defaults where !own.contains(field.name) { add(field.name, field.value) }
    }
}

extension HTTPError {
    /// The endpoint that failed; `nil` if none is to blame, or if all of them were tried.
    fileprivate var endpointOfFailure: Endpoint? {
        switch phase {
        case .proxy, .write, .response, .body: endpoint
        case .request, .resolve, .queue, .connect, .tls, .redirect: nil
        }
    }
}

extension Call {
    /// Whether a wait of this length ends before the call's deadline.
    fileprivate func leaves(_ wait: Duration, at now: Instant) -> Bool {
        now.advanced(byNanoseconds: wait.clampedNanoseconds) < end
    }
}

extension RetryPolicy {
    /// Returns the step after an attempt: another one after a wait, or the end. A token of the budget is taken last,
    /// only for a retry that will be made.
    fileprivate func next(
        after count: Int,
        _ result: Result<Response, HTTPError>,
        of request: Request,
        call: Call,
        on loop: EventLoop
    ) -> Next {
        let now = loop.now
        let isRepeatable = (repeatsAnyMethod || request.method.isIdempotent) && request.body.isReplayable
        let random = Double.random(in: 0..<1)
        let outcome = result.outcome(at: loop.date)
        let next = next(after: count, outcome, isRepeatable: isRepeatable, random: random)
        guard case .wait(let wait) = next else { return next }
        guard call.leaves(wait, at: now) else { return .end(.deadline) }
        guard budget?.take(at: now) ?? true else { return .end(.budget) }
        return next
    }

    /// Returns part of a token to the budget if the attempt succeeded.
    fileprivate func settle(_ result: Result<Response, HTTPError>) {
        if case .success(let response) = result, !statuses.contains(response.status) { budget?.refill() }
    }
}

/// The result of one attempt.
extension Result<Response, HTTPError> {
    /// The result as the policy sees it.
    fileprivate func outcome(at date: UnixTime) -> RetryPolicy.Outcome {
        switch self {
        case .success(let response):
            .answer(response.status, retryAfter: RetryAfter.wait(response.headers, now: date))
        case .failure(let error): .failure(isWorthRetrying: error.isWorthRetrying)
        }
    }

    /// The requests that were sent within the attempt.
    fileprivate var history: [Hop] {
        switch self {
        case .success(let response): response.history
        case .failure(let error): error.history
        }
    }

    /// Returns the attempt as a hop that a retry follows. Its response is drained, so that the connection can be
    /// reused.
    fileprivate func refused(_ request: Request) async -> Hop? {
        switch self {
        case .success(let response):
            await response.body.drain()
            return Hop(.retry, request.method, response)
        case .failure(let error):
            return (try? request.url).map { Hop(.retry, request.method, $0, error) }
        }
    }

    /// Returns or throws the result of the last attempt, with the history of the earlier ones.
    fileprivate func ending(_ stop: RetryStop?, history: [Hop]) throws(HTTPError) -> Response {
        switch self {
        case .success(var response):
            response.history = history
            response.retryStop = stop
            return response
        case .failure(var error):
            error.history = history
            error.retryStop = stop
            throw error
        }
    }
}
