internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// Sends one request until its response is to be delivered: again where the retry policy says so, and once more
/// after 421 and 417, which needs no policy.
final class Attempts: Layer {
    private let roundTrip: RoundTrip
    /// The optional layers around the round trip; `nil` if there are none.
    private let outer: (any NetworkLayer)?
    /// The client's policy; the request's own comes before it.
    private let retries: RetryPolicy?
    private let loop: EventLoop

    init(_ configuration: HTTPClient.Configuration, roundTrip: RoundTrip, outer: (any NetworkLayer)?) {
        self.roundTrip = roundTrip
        self.outer = outer
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
        guard response.isRefusal else { return response }
        var tries = EarlierTries()
        return try await sendAgain(
            after: response,
            to: request,
            trail: trail,
            call: call,
            tries: &tries
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
        if let outer { return try await outer.send(request, trail: trail, call: call, detour: detour) }
        return try await roundTrip.send(request, trail: trail, call: call, detour: detour, from: start)
    }

    /// Sends a request and retries it as the policy says.
    private func send(_ request: Request, trail: Trail?, call: Call, by policy: RetryPolicy) async throws
        -> Response
    {
        var history: [Hop] = []
        var tries = EarlierTries()
        var count = 0
        while true {
            let result = try await attempt(request, trail: trail, call: call, tries: &tries)
            count += 1
            history += result.history
            switch policy.next(after: count, result, of: request, call: call, on: loop) {
            case .end(let stop):
                policy.settle(result)
                call.log?.endsTries(stop)
                return try result.ending(stop, history: history)
            case .wait(let wait):
                if let refused = await result.refused(request) { history.append(call.noting(refused)) }
                let end = loop.now.advanced(byNanoseconds: wait.clampedNanoseconds)
                try await loop.sleep(until: end)
            }
        }
    }

    /// Makes one attempt and notes the endpoint if it failed there.
    private func attempt(
        _ request: Request,
        trail: Trail?,
        call: Call,
        tries: inout EarlierTries
    ) async throws -> Result<Response, HTTPError> {
        do {
            var response = try await sendOnce(
                request,
                trail: trail,
                call: call,
                detour: tries.detour(),
                from: loop.now
            )
            if response.isRefusal {
                response = try await sendAgain(
                    after: response,
                    to: request,
                    trail: trail,
                    call: call,
                    tries: &tries
                )
            }
            if response.status.isServerError { tries.noteFailure(at: response.transaction?.endpoint) }
            return .success(response)
        } catch let error as HTTPError {
            tries.noteFailure(at: error.endpointOfFailure)
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
        tries: inout EarlierTries
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
        let refused = call.noting(Hop(reason, request.method, response))
        let isMisdirected = reason == .misdirected
        if isMisdirected { tries.noteMisdirection(at: response.transaction?.endpoint) }
        do {
            let detour = tries.detour(onNewConnection: isMisdirected)
            var second = try await sendOnce(
                next,
                trail: trail,
                call: call,
                detour: detour,
                from: loop.now
            )
            second.history.insert(refused, at: 0)
            return second
        } catch let error as HTTPError {
            throw error.after([refused])
        }
    }
}

extension Response {
    /// Whether the server may have refused the request before doing anything.
    fileprivate var isRefusal: Bool { status == .misdirectedRequest || status == .expectationFailed }
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
