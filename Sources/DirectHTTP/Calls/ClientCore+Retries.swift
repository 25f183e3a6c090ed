internal import DirectHTTP1
internal import DirectIO

extension ClientCore {
    /// Sends a request, and again where that may help.
    func persistentSend(_ request: Request, _ call: Call) async throws -> Response {
        guard let policy = request.retries ?? settings.retries else {
            return try await directedSend(request, call)
        }
        let isRepeatable =
            (policy.repeatsAnyMethod || request.method.isIdempotent) && request.body.isReplayable
        var history: [Hop] = []
        var attempt = 1
        while true {
            let outcome: RetryPolicy.Outcome
            let result: Result<Response, any Error>
            do {
                let response = try await directedSend(request, call)
                history += response.history
                outcome = .answer(response.status, retryAfter: RetryAfter.wait(response.headers, now: .now))
                result = .success(response)
            } catch let error as HTTPError where error.isWorthRetrying {
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

    private func directedSend(_ request: Request, _ call: Call) async throws -> Response {
        try await sentAnew(networkSend(request, call), request, call)
    }

    /// Asks once more, elsewhere if there is an elsewhere, when a server says that it is the wrong one (RFC
    /// 9110, section 15.5.20); or without the expectation that it cannot meet (section 15.5.18). That is no
    /// repetition: nothing had been done.
    func sentAnew(_ response: Response, _ request: Request, _ call: Call) async throws -> Response {
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
        let avoided = reason == .misdirected ? response.transaction?.endpoint : nil
        do {
            var second = try await networkSend(next, call, avoiding: avoided)
            second.history.insert(hop, at: 0)
            return second
        } catch let error as HTTPError {
            throw error.after([hop])
        }
    }

    /// Past the interceptors of the network, to the transport.
    private func networkSend(
        _ request: Request,
        _ call: Call,
        avoiding endpoint: Endpoint? = nil
    ) async throws -> Response {
        let response = try await transportSend(request, call, avoiding: endpoint)
        memory(of: call)?.learn(from: response)
        return response
    }

    private func transportSend(
        _ request: Request,
        _ call: Call,
        avoiding endpoint: Endpoint?
    ) async throws -> Response {
        guard !settings.networkInterceptors.isEmpty || settings.transport != nil else {
            return try await transact(request, call, from: settings.loop.now, avoiding: endpoint)
        }
        let url = try? request.url
        var complete = request
        complete.headers = headers(of: request)
        return try await call.answer(to: url, .response, on: settings.loop) { [complete] in
            try await intercept(complete, self.settings.networkInterceptors[...]) { request in
                call.sent?.note(request, defaults: self.defaults(for: request))
                guard let transport = self.settings.transport else {
                    return try await self.transact(
                        request,
                        call,
                        from: self.settings.loop.now,
                        avoiding: endpoint
                    )
                }
                return try await transport(request)
            }
        }
    }

    /// What goes on the wire, the client's own fields included.
    private func headers(of request: Request) -> Headers {
        var headers = request.headers
        for field in defaults(for: request) where !request.headers.contains(field.name) {
            headers.add(field.name, field.value)
        }
        return headers
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
