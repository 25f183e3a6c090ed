internal import DirectHTTP1
internal import DirectIO

/// The way of a call: from the request that the caller wants to be sent to the response that he gets.
///
/// From the outside in: the observer, interceptors of calls, decoding, redirects, credentials, what the client remembers, retries,
/// interceptors of the network, one exchange.
extension ClientCore {
    func send(_ request: Request) async throws -> Response {
        // The way of almost every request, which has none of that, in five frames less.
        guard hasPlainWay, request.hasPlainWay else { return try await observedSend(request) }
        // Looked at here, as a request that never has to wait would not notice.
        if Task.isCancelled { throw CancellationError() }
        let call = call(for: request)
        guard let memory else {
            let response = try await transact(request, nil, call, from: call.start)
            if response.status.mayNotBeTheLast {
                let hop = HopRequest.beginning(request)
                return try await goOn(response, hop, sent: hop, call)
            }
            return try decoding.decode(response, to: request)
        }
        let hop = HopRequest.beginning(request)
        let prepared = hop.prepared(by: memory)
        let response = try await transact(prepared.request, prepared.trail, call, from: call.start)
        memory.learn(from: response)
        if response.status.mayNotBeTheLast {
            return try await goOn(response, hop.upgraded(by: memory), sent: prepared, call)
        }
        return try decoding.decode(response, to: request)
    }

    private func goOn(
        _ response: Response,
        _ hop: HopRequest,
        sent: HopRequest,
        _ call: Call
    ) async throws -> Response {
        var tries = EarlierTries()
        let last = try await follow(sentAnew(response, sent, call, &tries), to: hop, call)
        return try decoding.decode(last, to: hop.request)
    }

    private func call(
        for request: Request,
        _ log: CallLog? = nil,
        cookies: (any CookieStore)? = nil
    ) -> Call {
        // Not `settings` as a whole: to hand it over would copy all of it.
        let timeouts = request.ownTimeouts?.over(settings.timeouts) ?? settings.timeouts.nanoseconds
        return Call(timeouts, from: settings.loop.now, log, cookies: cookies)
    }

    /// - Parameter isContinued: whether the request follows redirects that something else has followed so far.
    func observedSend(_ request: Request, isContinued: Bool = false) async throws -> Response {
        guard let observer = settings.observer else {
            return try await interceptedSend(request, nil, isContinued)
        }
        let log = CallLog(observer, request, on: settings.loop)
        do {
            let response = try await interceptedSend(request, log, isContinued)
            log.conclude(response)
            return response
        } catch {
            log.conclude(error)
            throw error
        }
    }

    private func interceptedSend(
        _ asked: Request,
        _ log: CallLog?,
        _ isContinued: Bool
    ) async throws -> Response {
        // Of the call, whatever an interceptor makes of the request.
        let cookies = asked.cookies
        return try await intercept(asked, settings.interceptors[...]) { request in
            if Task.isCancelled { throw CancellationError() }
            let hop = self.beginning(request, asked, isContinued).upgraded(by: self.memory)
            let call = self.call(for: hop.request, log, cookies: cookies)
            let last = try await self.follow(self.identifiedSend(hop, call), to: hop, call)
            return try self.decoding.decode(last, to: hop.request)
        }
    }

    /// The first request of a call: the caller's, as interceptors have left it.
    private func beginning(_ request: Request, _ asked: Request, _ isContinued: Bool) -> HopRequest {
        let given = asked.introducingURLUser()
        let crossing = crossing(by: asked.redirects ?? settings.redirects)
        let hop = isContinued ? HopRequest(continuing: given, crossing) : HopRequest.beginning(given)
        return settings.interceptors.isEmpty ? hop : hop.rebuilt(as: request, shown: [asked], crossing)
    }

    /// What may go along to another origin under such a policy: the client's own fields are ruled by it, too.
    func crossing(by policy: RedirectPolicy) -> Crossing {
        Crossing(surviving: policy.survivingFields, core: self)
    }
}

extension HTTPClient.Settings {
    /// Whether requests that do not ask for more need nothing but an exchange.
    var havePlainWay: Bool {
        interceptors.isEmpty && networkInterceptors.isEmpty && transport == nil && retries == nil
            && authenticators.isEmpty && cache == nil && observer == nil
    }
}

extension Request {
    fileprivate var hasPlainWay: Bool {
        if case .success(let url) = target, url.hasCredentials { return false }
        guard hasOptions else { return true }
        return authenticator == nil && retries == nil && cookies == nil
    }

    /// User and password of the URL are for its origin, and no part of the URL from here on.
    func introducingURLUser() -> Request {
        guard case .success(let url) = target, let (user, password) = url.credentialBytes else { return self }
        var request = self
        request.target = .success(url.withoutCredentials)
        if request.authenticator == nil, !(user.isEmpty && password.isEmpty) {
            request.authenticator = BasicAuthenticator(user: user, password: password)
        }
        return request
    }
}

extension Status {
    /// Whether more than the body may follow.
    fileprivate var mayNotBeTheLast: Bool {
        isRedirection || self == .misdirectedRequest || self == .expectationFailed
    }
}
