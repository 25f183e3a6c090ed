internal import DirectHTTP1
internal import DirectIO

extension ClientCore {
    /// Sends a request, and again where that may help.
    func persistentSend(_ hop: HopRequest, _ call: Call) async throws -> Response {
        guard let policy = hop.request.retries ?? settings.retries else {
            var tries = EarlierTries()
            return try await directedSend(hop, call, &tries)
        }
        return try await persistentSend(hop, call, by: policy)
    }

    private func persistentSend(
        _ hop: HopRequest,
        _ call: Call,
        by policy: RetryPolicy
    ) async throws -> Response {
        var history: [Hop] = []
        var tries = EarlierTries()
        var count = 0
        while true {
            let result = try await attempt(hop, call, &tries)
            count += 1
            history += result.history
            switch policy.next(after: count, result, of: hop.request, call, on: settings.loop) {
            case .end(let stop):
                policy.settle(result)
                call.log?.endsTries(stop)
                return try result.ending(stop, history)
            case .wait(let wait):
                if let refused = await result.refused(hop.request) { history.append(call.noting(refused)) }
                let end = settings.loop.now.advanced(byNanoseconds: wait.clampedNanoseconds)
                try await settings.loop.sleep(until: end)
            }
        }
    }

    /// One try, and a note of where it failed.
    private func attempt(
        _ hop: HopRequest,
        _ call: Call,
        _ tries: inout EarlierTries
    ) async throws -> Result<Response, HTTPError> {
        do {
            let response = try await directedSend(hop, call, &tries)
            if response.status.isServerError { tries.noteFailure(at: response.transaction?.endpoint) }
            return .success(response)
        } catch let error as HTTPError {
            tries.noteFailure(at: error.endpointOfFailure)
            return .failure(error)
        }
    }

    private func directedSend(
        _ hop: HopRequest,
        _ call: Call,
        _ tries: inout EarlierTries
    ) async throws -> Response {
        try await sentAnew(networkSend(hop, call, tries.detour()), hop, call, &tries)
    }

    /// Asks once more, elsewhere if there is an elsewhere, when a server says that it is the wrong one (RFC
    /// 9110, section 15.5.20); or without the expectation that it cannot meet (section 15.5.18). That is no
    /// repetition: nothing had been done.
    func sentAnew(
        _ response: Response,
        _ hop: HopRequest,
        _ call: Call,
        _ tries: inout EarlierTries
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
            var second = try await networkSend(next, call, detour)
            second.history.insert(refused, at: 0)
            return second
        } catch let error as HTTPError {
            throw error.after([refused])
        }
    }

    /// Past the interceptors of the network, to the transport.
    private func networkSend(
        _ hop: HopRequest,
        _ call: Call,
        _ detour: Detour?
    ) async throws -> Response {
        let response = try await transportSend(hop, call, detour)
        memory(of: call)?.learn(from: response)
        return response
    }

    private func transportSend(
        _ hop: HopRequest,
        _ call: Call,
        _ detour: Detour?
    ) async throws -> Response {
        guard !settings.networkInterceptors.isEmpty || settings.transport != nil else {
            return try await transact(hop.request, hop.trail, call, from: settings.loop.now, detour: detour)
        }
        let url = try? hop.request.url
        guard settings.loop.now < call.end else { throw call.overdue(for: url) }
        var complete = hop
        complete.withHeaders { $0.complete(with: defaults(for: hop.request, hop.trail)) }
        return try await call.answer(to: url, .response, on: settings.loop) { [complete] in
            try await intercept(complete.request, self.settings.networkInterceptors[...]) { request in
                let hop = self.rebuilding(complete, as: request)
                call.sent?.note(hop.request, defaults: self.defaults(for: hop.request, hop.trail))
                guard let transport = self.settings.transport else {
                    let now = self.settings.loop.now
                    return try await self.transact(hop.request, hop.trail, call, from: now, detour: detour)
                }
                return try await transport(hop.request)
            }
        }
    }

    /// What code outside of the walk has made of a request that it was given.
    func rebuilding(_ hop: HopRequest, as request: Request) -> HopRequest {
        let policy = hop.request.redirects ?? settings.redirects
        return hop.rebuilt(as: request, shown: [hop.request], crossing(by: policy))
    }
}

extension Headers {
    /// Adds the client's own fields, as they go on the wire.
    fileprivate mutating func complete(with defaults: Headers) {
        let own = self
        for field in defaults where !own.contains(field.name) { add(field.name, field.value) }
    }
}

extension HTTPError {
    /// Where the request has failed; `nil` where the endpoint has no part in it, or all of them have been tried.
    fileprivate var endpointOfFailure: Endpoint? {
        switch phase {
        case .proxy, .write, .response, .body: endpoint
        case .request, .resolve, .queue, .connect, .tls, .redirect: nil
        }
    }
}

extension Call {
    /// Whether there is time left for another try after such a wait.
    fileprivate func leaves(_ wait: Duration, at now: Instant) -> Bool {
        now.advanced(byNanoseconds: wait.clampedNanoseconds) < end
    }
}

extension RetryPolicy {
    /// What follows a try: another one after a wait, or the end. Only what is decided in the end costs the budget.
    fileprivate func next(
        after count: Int,
        _ result: Result<Response, HTTPError>,
        of request: Request,
        _ call: Call,
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

    /// Brings back a part of a token for what has gone well.
    fileprivate func settle(_ result: Result<Response, HTTPError>) {
        if case .success(let response) = result, !statuses.contains(response.status) { budget?.refill() }
    }
}

/// What one try has come to.
extension Result<Response, HTTPError> {
    fileprivate func outcome(at date: UnixTime) -> RetryPolicy.Outcome {
        switch self {
        case .success(let response):
            .answer(response.status, retryAfter: RetryAfter.wait(response.headers, now: date))
        case .failure(let error): .failure(isWorthRetrying: error.isWorthRetrying)
        }
    }

    /// What else was sent within the try.
    fileprivate var history: [Hop] {
        switch self {
        case .success(let response): response.history
        case .failure(let error): error.history
        }
    }

    /// The try as one that another one follows. Its response is read to its end, so that the connection may be kept.
    fileprivate func refused(_ request: Request) async -> Hop? {
        switch self {
        case .success(let response):
            await response.body.drain()
            return Hop(.retry, request.method, response)
        case .failure(let error):
            return (try? request.url).map { Hop(.retry, request.method, $0, error) }
        }
    }

    /// The try as the last one.
    fileprivate func ending(_ stop: RetryStop?, _ history: [Hop]) throws(HTTPError) -> Response {
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
