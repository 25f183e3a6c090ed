internal import DirectHTTP1
internal import DirectIO

extension ClientCore {
    /// Sends a request, and again where that may help.
    func persistentSend(_ hop: HopRequest, _ call: Call) async throws -> Response {
        let request = hop.request
        guard let policy = request.retries ?? settings.retries else {
            var tries = EarlierTries()
            return try await directedSend(hop, call, &tries)
        }
        let isRepeatable =
            (policy.repeatsAnyMethod || request.method.isIdempotent) && request.body.isReplayable
        var history: [Hop] = []
        var tries = EarlierTries()
        var attempt = 1
        while true {
            let outcome: RetryPolicy.Outcome
            let result: Result<Response, any Error>
            do {
                let response = try await directedSend(hop, call, &tries)
                if response.status.isServerError { tries.noteFailure(at: response.transaction?.endpoint) }
                history += response.history
                let wait = RetryAfter.wait(response.headers, now: settings.loop.date)
                outcome = .answer(response.status, retryAfter: wait)
                result = .success(response)
            } catch let error as HTTPError where error.isWorthRetrying {
                tries.noteFailure(at: error.endpointOfFailure)
                outcome = .failure
                result = .failure(error.after(history))
            }
            let wait = policy.wait(
                after: attempt,
                outcome,
                isRepeatable: isRepeatable,
                random: .random(in: 0..<1)
            )
            guard let wait, call.leaves(wait, at: settings.loop.now), policy.budget?.take() ?? true else {
                policy.settle(outcome)
                var result = result
                if case .success(var response) = result {
                    response.history = history
                    result = .success(response)
                }
                return try result.get()
            }
            if case .success(let response) = result {
                await response.body.drain()
                history.append(call.noting(Hop(.retry, request.method, response)))
            }
            try await settings.loop.sleep(
                until: settings.loop.now.advanced(byNanoseconds: wait.clampedNanoseconds)
            )
            attempt += 1
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
            return try await transact(hop, call, from: settings.loop.now, detour: detour)
        }
        let url = try? hop.request.url
        guard settings.loop.now < call.end else { throw call.overdue(for: url) }
        var complete = hop
        complete.withHeaders { $0.complete(with: defaults(for: hop)) }
        return try await call.answer(to: url, .response, on: settings.loop) { [complete] in
            try await intercept(complete.request, self.settings.networkInterceptors[...]) { request in
                let hop = self.rebuilding(complete, as: request)
                call.sent?.note(hop.request, defaults: self.defaults(for: hop))
                guard let transport = self.settings.transport else {
                    let now = self.settings.loop.now
                    return try await self.transact(hop, call, from: now, detour: detour)
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
    /// Whether there is time left for an attempt after such a wait.
    fileprivate func leaves(_ wait: Duration, at now: Instant) -> Bool {
        now.advanced(byNanoseconds: wait.clampedNanoseconds) < end
    }
}

extension RetryPolicy {
    fileprivate func settle(_ outcome: Outcome) {
        if case .answer(let status, _) = outcome, !statuses.contains(status) { budget?.refill() }
    }
}
