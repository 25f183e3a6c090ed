internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

extension RetryPolicy {
    /// Returns the step after an attempt: another one after a wait, or the end. A token of the budget is
    /// taken last, only for a retry that will be made.
    func next(
        after count: Int,
        _ result: Result<Response, HTTPError>,
        of hop: HopRequest,
        on loop: EventLoop
    ) async -> Next {
        let now = loop.now
        let isRepeatable = allowsRepeating(hop.request, as: hop.repeatability)
        var generator = SystemRandom()
        let random = Double.random(in: 0..<1, using: &generator)
        let outcome = result.outcome(at: loop.date)
        let next = next(after: count, outcome, isRepeatable: isRepeatable, random: random)
        guard case .wait(let wait) = next else { return next }
        guard now.advanced(byNanoseconds: wait.clampedNanoseconds) < hop.call.end else {
            return .end(.deadline)
        }
        guard await hop.call.canSendAgain(hop.request.body, after: try? result.get(), on: loop) else {
            return .end(.notRepeatable)
        }
        guard budget?.take(at: now) ?? true else { return .end(.budget) }
        return next
    }

    /// Whether the request may be sent again, as it is known and as it was sent.
    private func allowsRepeating(_ request: Request, as sent: Repeatability?) -> Bool {
        guard request.body.canBeSent, sent?.canBeSent ?? true else { return false }
        return repeatsAnyMethod || request.method.isIdempotent && sent?.isIdempotent ?? true
    }

    /// Returns part of a token to the budget if the attempt succeeded.
    func refillBudget(after result: Result<Response, HTTPError>) {
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
    var history: [Hop] {
        switch self {
        case .success(let response): response.history
        case .failure(let error): error.history
        }
    }

    /// Returns the attempt as a hop that a retry follows. Its response is drained, so that the connection can
    /// be reused.
    func hopBeforeRetry(of request: Request) async -> Hop? {
        switch self {
        case .success(let response):
            await response.body.drain()
            return Hop(.retry, request.method, response)
        case .failure(let error):
            return (try? request.url).map { Hop(.retry, request.method, $0, error) }
        }
    }

    /// Returns or throws the result of the last attempt, with the history of the earlier ones.
    func get(stop: RetryStop?, history: [Hop]) throws(HTTPError) -> Response {
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
