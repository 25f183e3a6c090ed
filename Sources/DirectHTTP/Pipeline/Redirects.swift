internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// Follows redirects: the loop, and its errors.
final class Redirects: Sendable {
    /// The client's policy; a request's own takes precedence.
    private let policy: RedirectPolicy
    private let fields: ClientFields
    private let loop: EventLoop

    init(_ configuration: HTTPClient.Configuration, fields: ClientFields) {
        policy = configuration.redirects
        self.fields = fields
        loop = configuration.loop
    }

    /// Sends a request and follows the redirects in the responses, as far as the policy allows it.
    @inline(__always)
    func send(_ hop: borrowing HopRequest, through layers: InnerLayers) async throws -> Response {
        let response = try await layers.send(hop)
        guard response.status.isRedirection else { return response }
        return try await follow(response, to: hop, through: layers)
    }

    /// Follows the redirect in the response and those after it, if the policy says so.
    private func follow(
        _ first: Response,
        to hop: borrowing HopRequest,
        through layers: any Layer
    ) async throws -> Response {
        let policy = hop.request.redirects ?? policy
        guard policy.isFollowing else { return first }
        let crossing = fields.crossing(by: policy)
        var hop = policy.decide == nil ? copy hop : hop.traced
        var response = first
        var history = first.history
        while let next = try await next(
            after: hop,
            response,
            by: policy,
            crossing: crossing,
            history: history
        ) {
            let redirects = history.count { $0.reason == .redirect }
            guard redirects < policy.limit else {
                let isLoop = history.contains { $0.url == response.url && $0.reason == .redirect }
                let fault = RedirectError.tooMany(limit: policy.limit, isLoop: isLoop)
                throw failure(fault, of: hop.request, by: response, history: history)
            }
            let end = try delayEnd(after: hop, askedBy: response, policy, history: history)
            let followed = Hop(.redirect, hop.request.method, response)
            history.append(followed)
            await response.body.drain()
            hop.call.log?.goesOn(followed)
            if let end { try await loop.sleep(until: end) }
            hop = next
            do {
                response = try await layers.send(hop)
            } catch let error as HTTPError {
                throw error.after(history)
            }
            history += response.history
        }
        response.history = history
        response.body.request = RequestLine(hop.request.method, response.url)
        return response
    }

    /// Returns the request that the response redirects to, or what the program makes of it; `nil` if the
    /// response is to be delivered.
    private func next(
        after hop: HopRequest,
        _ response: Response,
        by policy: RedirectPolicy,
        crossing: Crossing,
        history: [Hop]
    ) async throws -> HopRequest? {
        let redirect: NextHop
        do throws(RedirectError) {
            let found = try NextHop(after: hop.request, at: response.url, response.head, policy) { url in
                fields.hsts?.upgrades(url, at: .now)
            }
            guard let found else { return nil }
            redirect = found
        } catch {
            guard error.namesOtherScheme, let decide = policy.decideOnOtherScheme else {
                throw failure(error, of: hop.request, by: response, history: history)
            }
            let location = response.headers["Location"] ?? ""
            let made = try await decision(on: response, hop.call) { try await decide(location, response) }
            return try made.map { made throws(HTTPError) in try hop.restarted(as: made, crossing) }
        }
        let next = hop.redirected(redirect, crossing: crossing)
        guard let decide = policy.decide else { return next }
        let proposal = Redirect(
            request: hop.request,
            status: response.status,
            headers: response.headers,
            next: next.request,
            url: redirect.url,
            crossesOrigins: redirect.crossesOrigins,
            count: history.count { $0.reason == .redirect }
        )
        guard let made = try await decision(on: response, hop.call, by: { try await decide(proposal) })
        else { return nil }
        try made.check(madeOf: next.request, for: .hop)
        let decided = next.rebuilt(as: made, shown: [hop.request, next.request], crossing)
        guard policy.carriesBodyAcrossOrigins || !decided.sendsBody(toOtherOriginThan: redirect) else {
            throw failure(.bodyAcrossOrigins, of: hop.request, by: response, history: history)
        }
        return decided
    }

    /// Asks the program about a redirect, and returns the request that it makes of it; `nil` to deliver it.
    private func decision(
        on response: Response,
        _ call: Call,
        by decide: @escaping @Sendable () async throws -> Request?
    ) async throws -> Request? {
        try await call.answer(about: response, to: response.url, .redirect, on: loop, ask: decide)
    }

    /// Returns the end of the delay that the response asks for before the next request; `nil` for none.
    ///
    /// A response of the cache asked for it when it was received.
    private func delayEnd(
        after hop: HopRequest,
        askedBy response: Response,
        _ policy: RedirectPolicy,
        history: [Hop]
    ) throws(HTTPError) -> Instant? {
        guard let longest = policy.longestDelay, response.cacheUse != .hit, response.cacheUse != .stale,
            let delay = RetryAfter.wait(response.headers, now: loop.date)
        else { return nil }
        let end = loop.now.advanced(byNanoseconds: delay.clampedNanoseconds)
        guard delay <= longest, end < hop.call.end else {
            throw failure(.delay(delay), of: hop.request, by: response, history: history)
        }
        return end
    }

    private func failure(
        _ fault: RedirectError,
        of request: Request,
        by response: Response,
        history: [Hop]
    ) -> HTTPError {
        let endpoint = response.transaction?.endpoint
        let (method, url) = (request.method, response.url)
        return HTTPError(.redirect, .redirect(fault), method: method, url: url, endpoint: endpoint)
            .after(history)
    }
}

extension HopRequest {
    /// Whether the next request has a body for an origin that the redirect itself did not name.
    fileprivate func sendsBody(toOtherOriginThan redirect: NextHop) -> Bool {
        guard !redirect.request.body.isNone, !request.body.isNone else { return false }
        return (try? request.url.origin) != redirect.url.origin
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

/// The request that a redirect leads to (RFC 9110, section 15.4).
struct NextHop {
    let request: Request
    /// The URL of the request.
    let url: HTTPURL
    /// Whether the URL is of another origin than the response or the request before.
    let crossesOrigins: Bool

    /// Derives the next request; `nil` if the response is to be delivered as it is.
    ///
    /// - Parameter upgrade: returns the `https` URL that HSTS asks for, if it does.
    init?(
        after request: Request,
        at url: HTTPURL,
        _ head: ResponseHead,
        _ policy: RedirectPolicy,
        upgrade: (HTTPURL) -> HTTPURL? = { _ in nil }
    ) throws(RedirectError) {
        // A tunnel to another target is not the one that was asked for (RFC 9110, section 9.3.6).
        guard !request.method.isConnect, let change = MethodChange(request.method, head.status),
            var target = try Self.target(of: head, at: url)
        else { return nil }
        // HSTS comes first, so that an `http` URL of such a name does not count as a downgrade (RFC 6797,
        // section 8.3).
        if let upgraded = upgrade(target) { target = upgraded }
        guard url.scheme == .http || target.scheme == .https || policy.insecureAllowsDowngrade else {
            throw .downgrade
        }
        // The response's URL and the request's may differ, because an interceptor can send another request
        // on.
        crossesOrigins = target.origin != url.origin || !request.isFor(target.origin)
        self.url = target
        var next = request
        next.parsedURL = .success(target)
        next.method = change.method
        if change.keepsBody, !request.body.isNone {
            guard request.body.canBeSent else { throw .bodyNotReplayable }
            guard !crossesOrigins || policy.carriesBodyAcrossOrigins else { throw .bodyAcrossOrigins }
        }
        if !change.keepsBody { next.dropBody() }
        if crossesOrigins {
            if next.hasOptions { next.options.leaveOrigin() }
            next.headers.keepCrossOriginSafe(
                hasBody: !next.body.isNone,
                surviving: policy.extraCrossOriginFields
            )
        }
        if policy.sendsReferer {
            let isRevealed = url.scheme == .http || target.scheme == .https
            next.headers["Referer"] = isRevealed ? url.withoutCredentials.withoutFragment.text : nil
        }
        self.request = next
    }

    /// Returns the URL that a response at a URL redirects to; `nil` if it has none.
    private static func target(of head: ResponseHead, at url: HTTPURL) throws(RedirectError) -> HTTPURL? {
        guard let location = try location(head.headers) else { return nil }
        do throws(HTTPURLError) {
            // The server must not choose the client's credentials: those in Location are never sent.
            let target = try location.withSpan(url.resolving(utf8:)).withoutCredentials
            return target.inheritingFragment(from: url)
        } catch {
            throw .location(error)
        }
    }

    /// Returns the only location; `nil` if there is none or it is empty.
    private static func location(_ headers: HTTPHeaders) throws(RedirectError) -> [UInt8]? {
        guard let first = headers.index(of: "location") else { return nil }
        let location = headers.valueBytes(at: first)
        var next = headers.index(of: "location", from: first + 1)
        while let index = next {
            guard headers.valueBytes(at: index) == location else { throw .severalLocations }
            next = headers.index(of: "location", from: index + 1)
        }
        return location.isEmpty ? nil : location
    }

    /// The change that a status makes to the request. A status that is not listed here is not followed.
    private struct MethodChange {
        var method: HTTPMethod
        var keepsBody: Bool

        init?(_ method: HTTPMethod, _ status: HTTPStatus) {
            switch status {
            case .movedPermanently, .found:
                // Every browser turns a POST into a GET, and servers rely on that (RFC 9110, section 15.4.3).
                self.init(method, becomesGet: method == .post)
            case .seeOther: self.init(method, becomesGet: method != .head)
            case .temporaryRedirect, .permanentRedirect: self.init(method, becomesGet: false)
            default: return nil
            }
        }

        private init(_ method: HTTPMethod, becomesGet: Bool) {
            self.method = becomesGet ? .get : method
            keepsBody = !becomesGet
        }
    }
}

extension Request {
    /// Removes the body and the fields that describe it.
    fileprivate mutating func dropBody() {
        body = .none
        headers.removeAll { name in
            name.hasPrefix("content-")
                || ["transfer-encoding", "trailer", "expect", "digest", "repr-digest"]
                    .contains(name)
        }
    }

    /// Whether the request's URL is of the origin of a client's base URL, also if HSTS has made https of it.
    func isFor(_ base: HTTPURL) -> Bool {
        guard case .success(let url) = parsedURL else { return false }
        return url.origin == base.origin || url.scheme == .https && url.isSamePlace(as: base)
    }

    /// Whether the request's URL is of that origin.
    func isFor(_ origin: Origin) -> Bool {
        if case .success(let url) = parsedURL { url.origin == origin } else { false }
    }
}

extension RequestBody {
    /// Whether there is no body.
    package var isNone: Bool {
        if case .none = content { true } else { false }
    }
}
