internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// Redirects: the loop that follows them, and their errors.
extension ClientCore {
    /// Follows the redirect in the response, if there is one and the policy allows it, and those after it.
    func follow(_ response: Response, to hop: HopRequest, call: Call) async throws -> Response {
        guard response.status.isRedirection else { return response }
        let policy = hop.request.redirects ?? settings.redirects
        return policy.isFollowing
            ? try await follow(response, original: hop, call: call, policy: policy) : response
    }

    /// Follows the redirect in the response and those after it.
    private func follow(
        _ first: Response,
        original: HopRequest,
        call: Call,
        policy: RedirectPolicy
    ) async throws -> Response {
        let crossing = crossing(by: policy)
        var hop = original
        var response = first
        var history = first.history
        while let way = try nextHop(after: hop.request, response, policy: policy, history: history) {
            let redirects = history.count { $0.reason == .redirect }
            var next = hop.redirected(way, crossing: crossing)
            if let decide = policy.decide {
                let redirect = Redirect(
                    request: hop.request,
                    status: response.status,
                    headers: response.headers,
                    next: next.request,
                    url: way.url,
                    crossesOrigins: way.crossesOrigins,
                    count: redirects
                )
                let decision = try await call.answer(to: response.url, .redirect, on: settings.loop) {
                    try await decide(redirect)
                }
                guard case .follow(let decided) = decision else { break }
                next = next.rebuilt(as: decided, shown: [hop.request, next.request], crossing)
                    .upgraded(by: cookiesAndHSTS)
                guard policy.carriesBodyAcrossOrigins || !next.takesBody(elsewhereThan: way) else {
                    throw failure(.bodyAcrossOrigins, response: response, history: history)
                }
            }
            let refused = Hop(.redirect, hop.request.method, response)
            history.append(refused)
            guard redirects < policy.limit else {
                let isLoop = history.dropLast().contains { $0.url == response.url && $0.reason == .redirect }
                throw failure(
                    .tooMany(limit: policy.limit, isLoop: isLoop),
                    response: response,
                    history: history
                )
            }
            await response.body.drain()
            call.log?.goesOn(refused)
            hop = next
            do {
                response = try await sendWithCredentials(hop, call: call)
            } catch let error as HTTPError {
                throw error.after(history)
            }
            history += response.history
        }
        response.history = history
        return response
    }

    /// Returns the request that the response redirects to; `nil` if the response is to be delivered.
    private func nextHop(
        after request: Request,
        _ response: Response,
        policy: RedirectPolicy,
        history: [Hop]
    ) throws(HTTPError) -> NextHop? {
        do throws(RedirectError) {
            return try NextHop(after: request, at: response.url, response.head, policy) { url in
                cookiesAndHSTS?.upgraded(url)
            }
        } catch {
            throw failure(error, response: response, history: history)
        }
    }

    private func failure(_ fault: RedirectError, response: Response, history: [Hop]) -> HTTPError {
        let name = response.url.host.description
        let endpoint = response.transaction?.endpoint
        return HTTPError(.redirect, .redirect(fault), name: name, endpoint: endpoint).after(history)
    }
}

extension HopRequest {
    /// Whether the next request has a body for an origin that the redirect itself did not name.
    fileprivate func takesBody(elsewhereThan way: NextHop) -> Bool {
        guard !way.request.body.isNone, !request.body.isNone else { return false }
        return (try? request.url.origin) != way.url.origin
    }
}

extension HTTPError {
    /// Returns the error with the earlier requests of the call before its own history.
    func after(_ history: [Hop]) -> HTTPError {
        var error = self
        error.history = history + error.history
        return error
    }
}
