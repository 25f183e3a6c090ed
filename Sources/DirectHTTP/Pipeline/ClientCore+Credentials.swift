internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// Authentication, then the layers below it: cookies, HSTS and the cache.
extension ClientCore {
    /// Sends a request with the credentials of its origin, if an authenticator is set for it.
    func sendWithCredentials(_ hop: HopRequest, call: Call) async throws -> Response {
        guard hop.authenticator != nil || !configuration.authenticators.isEmpty else {
            return try await sendWithCookies(hop, call: call)
        }
        let url = try hop.request.checkedURL()
        guard let authenticator = hop.authenticator ?? configuration.authenticators[url.origin],
            !hop.request.headers.contains("Authorization")
        else { return try await sendWithCookies(hop, call: call) }
        return try await sendAuthenticated(hop, url: url, call: call, as: authenticator)
    }

    /// Sends a request with an authenticator's credentials, and again with new ones if the server answers 401.
    private func sendAuthenticated(
        _ original: HopRequest,
        url: HTTPURL,
        call: Call,
        as authenticator: any Authenticator
    ) async throws -> Response {
        let (method, body) = (original.request.method, original.request.body)
        let question = AuthenticationRequest(method: method, url: url, body: body.bytesInMemory)
        var hop = original
        var said = try await call.answer(to: url, .request, on: configuration.loop) {
            try await authenticator.authorization(for: question)
        }
        hop.withHeaders { $0["Authorization"] = said }
        var response = try await sendWithCookies(hop, call: call)
        var history = response.history
        for _ in 0..<Self.credentialLimit {
            guard response.status == .unauthorized, body.isReplayable else { break }
            let challenges = Challenge.all(in: response.headers)
            let answer = try await call.answer(to: url, .response, on: configuration.loop) { [said] in
                try await authenticator.authorization(
                    for: question,
                    answering: challenges,
                    after: said
                )
            }
            guard let answer else { break }
            await response.body.drain()
            history.append(call.noting(Hop(.authentication, method, response)))
            said = answer
            hop.withHeaders { $0["Authorization"] = answer }
            do {
                response = try await sendWithCookies(hop, call: call)
            } catch let error as HTTPError {
                throw error.after(history)
            }
            history += response.history
        }
        response.history = history
        return response
    }

    /// Sends a request with the client's cookies and over TLS if HSTS asks for it, through the cache if there is
    /// one.
    private func sendWithCookies(_ hop: HopRequest, call: Call) async throws -> Response {
        let hop = hop.prepared(by: cookiesAndHSTS(of: call))
        guard let cache = configuration.cache else { return try await sendWithRetries(hop, call: call) }
        let request = hop.request
        let url = try request.checkedURL()
        let wait = DiskWait(
            end: call.end,
            total: call.timeouts.total,
            name: url.host.description,
            loop: configuration.loop
        )
        let defaults = defaults(for: hop.request, hop.trail)
        return try await cache.send(request, url: url, defaults: defaults, wait: wait) { asked, sent in
            var call = call
            call.sent = sent
            return try await self.sendWithRetries(self.rebuilding(hop, as: asked), call: call)
        }
    }

    /// Returns the cookie and HSTS stores of a call.
    func cookiesAndHSTS(of call: Call) -> CookiesAndHSTS? {
        guard let cookies = call.cookies else { return cookiesAndHSTS }
        return CookiesAndHSTS(cookies: cookies, hsts: configuration.hsts)
    }

    /// The number of times that a request is sent again for a 401: a wrong password stays wrong, but a nonce may
    /// have expired.
    private static let credentialLimit = 2
}
