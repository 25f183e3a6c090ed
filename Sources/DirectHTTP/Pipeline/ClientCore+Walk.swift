internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// The layers of a call, from the caller's request to the caller's response.
///
/// From the outside in: observer, call interceptors, decoding, redirects, authentication, cookies and HSTS, cache,
/// retries, 421 and 417, network interceptors, one exchange. A layer may call the one inside it several times.
///
/// There are two ways through: `send` takes the fast path if neither the client nor the request uses an optional
/// layer, and `observedSend` takes all layers. Both must behave the same; a setting that only the second one
/// handles has to be listed in `havePlainWay`.
extension ClientCore {
    /// Sends a request through all layers and returns the last response.
    func send(_ request: Request) async throws -> Response {
        // The fast path of almost every request, which uses no optional layer and saves five frames.
        guard hasPlainWay, request.hasPlainWay else { return try await observedSend(request) }
        // Checked here, because a request that never suspends would not notice its cancellation.
        if Task.isCancelled { throw CancellationError() }
        let call = call(for: request)
        guard let cookiesAndHSTS else {
            let response = try await roundTrip(request, trail: nil, call: call, from: call.start)
            if response.status.needsFollowUp {
                let hop = HopRequest.beginning(request)
                return try await followUp(response, hop: hop, sent: hop, call: call)
            }
            return try decoding.decode(response, to: request, within: call.limit)
        }
        let hop = HopRequest.beginning(request)
        let prepared = hop.prepared(by: cookiesAndHSTS)
        let response = try await roundTrip(
            prepared.request,
            trail: prepared.trail,
            call: call,
            from: call.start
        )
        cookiesAndHSTS.learn(from: response)
        if response.status.needsFollowUp {
            return try await followUp(
                response,
                hop: hop.upgraded(by: cookiesAndHSTS),
                sent: prepared,
                call: call
            )
        }
        return try decoding.decode(response, to: request, within: call.limit)
    }

    /// Handles 421, 417 and redirects for a request of the fast path.
    private func followUp(
        _ response: Response,
        hop: HopRequest,
        sent: HopRequest,
        call: Call
    ) async throws -> Response {
        var tries = EarlierTries()
        let last = try await follow(
            sendHandling421And417(response, hop: sent, call: call, tries: &tries),
            to: hop,
            call: call
        )
        return try decoding.decode(last, to: hop.request, within: call.limit)
    }

    /// Makes the values of a call that begins now.
    private func call(
        for request: Request,
        _ log: CallLog? = nil,
        cookies: (any CookieStore)? = nil
    ) -> Call {
        // Not `configuration` as a whole: passing it would copy all of it.
        let timeouts = request.ownTimeouts?.over(configuration.timeouts) ?? self.timeouts
        return Call(timeouts, from: configuration.loop.now, log, cookies: cookies)
    }

    /// Sends a request through all layers, with events for the observer.
    ///
    /// - Parameter isContinued: whether the request continues redirects that other code has followed so far.
    func observedSend(_ request: Request, isContinued: Bool = false) async throws -> Response {
        guard let observer = configuration.observer else {
            return try await interceptedSend(request, log: nil, isContinued: isContinued)
        }
        let log = CallLog(observer, request, on: configuration.loop)
        do {
            let response = try await interceptedSend(request, log: log, isContinued: isContinued)
            log.conclude(response)
            return response
        } catch {
            log.conclude(error)
            throw error
        }
    }

    /// Sends a request through the call interceptors and the layers inside them.
    private func interceptedSend(
        _ asked: Request,
        log: CallLog?,
        isContinued: Bool
    ) async throws -> Response {
        // The cookie store belongs to the call, whatever request an interceptor sends on.
        let cookies = asked.cookies
        return try await intercept(asked, interceptors: configuration.interceptors[...]) { request in
            if Task.isCancelled { throw CancellationError() }
            let hop = self.beginning(request, asked: asked, isContinued: isContinued).upgraded(
                by: self.cookiesAndHSTS
            )
            let call = self.call(for: hop.request, log, cookies: cookies)
            let last = try await self.follow(self.sendWithCredentials(hop, call: call), to: hop, call: call)
            return try self.decoding.decode(last, to: hop.request, within: call.limit)
        }
    }

    /// Returns the first request of a call: the caller's, as the interceptors sent it on.
    private func beginning(_ request: Request, asked: Request, isContinued: Bool) -> HopRequest {
        let given = asked.introducingURLUser()
        let crossing = crossing(by: asked.redirects ?? configuration.redirects)
        let hop = isContinued ? HopRequest(continuing: given, crossing) : HopRequest.beginning(given)
        return configuration.interceptors.isEmpty ? hop : hop.rebuilt(as: request, shown: [asked], crossing)
    }

    /// Returns the fields that may be sent to another origin under the policy, which governs the client's own
    /// fields, too.
    func crossing(by policy: RedirectPolicy) -> Crossing {
        Crossing(surviving: policy.extraCrossOriginFields, core: self)
    }
}

extension HTTPClient.Configuration {
    /// Whether requests without options of their own may take the fast path.
    var havePlainWay: Bool {
        interceptors.isEmpty && networkInterceptors.isEmpty && transport == nil && retries == nil
            && authenticators.isEmpty && cache == nil && observer == nil
    }
}

extension Request {
    /// Whether the request uses no optional layer.
    fileprivate var hasPlainWay: Bool {
        if case .success(let url) = target, url.hasCredentials { return false }
        guard hasOptions else { return true }
        return authenticator == nil && retries == nil && cookies == nil
    }

    /// Moves user and password from the URL to an authenticator for the URL's origin.
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

extension HTTPStatus {
    /// Whether another request may follow a response with this status.
    fileprivate var needsFollowUp: Bool {
        isRedirection || self == .misdirectedRequest || self == .expectationFailed
    }
}
