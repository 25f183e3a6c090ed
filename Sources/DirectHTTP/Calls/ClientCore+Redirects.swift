internal import DirectHTTP1
internal import DirectIO

extension ClientCore {
    /// Goes where the response points, if it does, and on from there.
    func follow(_ response: Response, to request: Request, _ call: Call) async throws -> Response {
        guard response.status.isRedirection else { return response }
        let policy = request.redirects ?? settings.redirects
        return policy.isFollowing ? try await follow(response, request, call, policy) : response
    }

    /// Goes where the response points, and on from there.
    private func follow(
        _ first: Response,
        _ original: Request,
        _ call: Call,
        _ policy: RedirectPolicy
    ) async throws -> Response {
        let pin = RequestPin(original, first.url)
        var request = original
        var response = first
        var history = first.history
        while let way = try nextHop(after: request, response, policy, history) {
            var next = way.request
            next.addresses = pin?.addresses(for: way.url)
            let redirects = history.count { $0.reason == .redirect }
            if let decide = policy.decide {
                let redirect = Redirect(
                    request: request,
                    status: response.status,
                    headers: response.headers,
                    next: next,
                    url: way.url,
                    crossesOrigins: way.crossesOrigins,
                    count: redirects
                )
                let decision = try await call.answer(to: response.url, .redirect, on: settings.loop) {
                    try await decide(redirect)
                }
                guard case .follow(let decided) = decision else { break }
                next = decided.introducingURLUser()
            }
            let hop = Hop(.redirect, request.method, response)
            history.append(hop)
            guard redirects < policy.limit else {
                let isLoop = history.dropLast().contains { $0.url == response.url && $0.reason == .redirect }
                throw failure(.tooMany(limit: policy.limit, isLoop: isLoop), response, history)
            }
            await response.body.drain()
            call.log?.goesOn(hop)
            request = next
            do {
                response = try await identifiedSend(request, call)
            } catch let error as HTTPError {
                throw error.after(history)
            }
            history += response.history
        }
        response.history = history
        return response
    }

    private func nextHop(
        after request: Request,
        _ response: Response,
        _ policy: RedirectPolicy,
        _ history: [Hop]
    ) throws(HTTPError) -> NextHop? {
        do throws(RedirectFault) {
            return try NextHop(after: request, at: response.url, response.head, policy) { url in
                memory?.upgraded(url)
            }
        } catch {
            throw failure(error, response, history)
        }
    }

    private func failure(_ fault: RedirectFault, _ response: Response, _ history: [Hop]) -> HTTPError {
        let name = response.url.host.description
        let endpoint = response.transaction?.endpoint
        return HTTPError(.redirect, .redirect(fault), name: name, endpoint: endpoint).after(history)
    }
}

/// The addresses that a request carries, and whose they are.
private struct RequestPin {
    private let addresses: [Endpoint]
    private let url: HTTPURL

    init?(_ request: Request, _ url: HTTPURL) {
        guard let addresses = request.addresses else { return nil }
        self.addresses = addresses
        self.url = url
    }

    /// They are the host's on that port, whatever the scheme. From one scheme's default port to the other's
    /// they stay good, if they do not name ports themselves: that is the step from `http` to `https`.
    func addresses(for other: HTTPURL) -> [Endpoint]? {
        guard other.host == url.host else { return nil }
        if other.port == url.port { return addresses }
        let areDefaults = url.port == url.scheme.defaultPort && other.port == other.scheme.defaultPort
        return areDefaults && addresses.allSatisfy { $0.port == nil } ? addresses : nil
    }
}

extension HTTPError {
    /// The same, with what had gone before.
    func after(_ history: [Hop]) -> HTTPError {
        var error = self
        error.history = history + error.history
        return error
    }
}
