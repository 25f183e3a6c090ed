internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// Sends requests with the credentials of their origins, and again with new ones if a server answers 401.
final class Credentials: Layer {
    /// The client's authenticators; a request's own comes before them, and then those of its call.
    private let authenticators: [Origin: any Authenticator]
    /// Whether other code may send other requests than those that this layer knows.
    private let isIntercepted: Bool
    private let loop: EventLoop
    private let next: any Layer

    /// Whether each request may need it.
    var hasAuthenticators: Bool { !authenticators.isEmpty }

    init(_ configuration: HTTPClient.Configuration, next: any Layer) {
        authenticators = configuration.authenticators
        isIntercepted = !configuration.networkInterceptors.isEmpty
        loop = configuration.loop
        self.next = next
    }

    func send(_ hop: borrowing HopRequest) async throws -> Response {
        let request = hop.request
        let url = try request.checkedURL()
        guard let authenticator = hop.authenticator(for: url.origin, or: authenticators),
            !request.headers.contains(Challenger.origin.field)
        else { return try await next.send(hop) }
        let (method, body) = (request.method, request.body.bytesInMemory)
        let subject = AuthenticationRequest(method: method, url: url, body: body)
        let credentials = RequestCredentials(.init(authenticator, for: subject), to: url, on: loop)
        var hop = copy hop
        hop.credentials = credentials
        if isIntercepted { hop.repeatability = Repeatability() }
        let sent = hop.repeatability
        return try await credentials.send(hop, through: next, isRepeatable: { sent?.canBeSent ?? true })
    }
}

/// The credentials of one request of a call, for its server or for a proxy that forwards it.
final class RequestCredentials: Sendable {
    private let credentials: RenewedCredentials
    private let url: HTTPURL
    private let loop: EventLoop

    init(_ credentials: RenewedCredentials, to url: HTTPURL, on loop: EventLoop) {
        self.credentials = credentials
        self.url = url
        self.loop = loop
    }

    /// Sends the request with credentials, and again with others while they are refused.
    ///
    /// For a request that cannot be sent again the authenticator is asked as well: a token that the server
    /// has refused would otherwise stay for all requests that come after.
    ///
    /// - Parameters:
    ///   - isRepeatable: Whether what was sent may be sent again, as far as the body does not say it.
    ///   - isMeant: Whether a response with a challenge is for these credentials.
    func send(
        _ original: HopRequest,
        through next: any Layer,
        isRepeatable: () -> Bool = { true },
        isMeant: (Response) -> Bool = { _ in true }
    ) async throws -> Response {
        var hop = original
        let (call, body) = (hop.call, hop.request.body)
        try await renew(&hop.request, within: call)
        var response = try await next.send(hop)
        var history = response.history
        while response.status == credentials.challenger.status, isMeant(response) {
            do {
                guard try await renew(&hop.request, after: response, within: call) else { break }
                guard isRepeatable(), await call.canSendAgain(body, after: response, on: loop) else {
                    response.retryStop = .notRepeatable
                    call.log?.attemptsEnded(.notRepeatable)
                    break
                }
                await response.body.drain()
                history.append(call.logging(Hop(.authentication, hop.request.method, response)))
                // This one would fail where the earlier request failed.
                if !response.history.isEmpty { hop.request.failedEndpoints.record(response.history) }
                response = try await next.send(hop)
            } catch let error as HTTPError {
                throw error.after(history)
            }
            history += response.history
        }
        if response.status != credentials.challenger.status { credentials.accept() }
        response.history = history
        return response
    }

    /// Puts a new value into the request. If there is none, the request keeps the one that it has.
    ///
    /// - Parameter refusal: the response with a challenge; `nil` without one.
    /// - Returns: whether there was a new value.
    @discardableResult
    fileprivate func renew(
        _ request: inout Request,
        after refusal: Response? = nil,
        within call: Call
    ) async throws -> Bool {
        let value = try await credentials.renew(after: refusal?.headers) { source in
            try await ask(source, about: refusal, within: call)
        }
        if let value { request.headers.set(credentials.challenger.field, bytes: value) }
        return value != nil
    }

    /// Asks the authenticator, and returns its answer.
    private func ask(
        _ source: @escaping @Sendable () async throws -> [UInt8]?,
        about refusal: Response?,
        within call: Call
    ) async throws -> [UInt8]? {
        let isProxy = credentials.challenger == .proxy
        let phase: HTTPError.Phase = isProxy ? .proxy : refusal == nil ? .request : .response
        let answer: Result<[UInt8]?, any Error> = try await call.answer(
            about: refusal,
            to: url,
            phase,
            on: loop
        ) {
            do { return .success(try await source()) } catch { return .failure(error) }
        }
        switch answer {
        case .success(let value): return value
        case .failure(let error):
            if error is CancellationError, Task.isCancelled { throw error }
            let reason: HTTPError.Reason = isProxy ? .proxy(.authenticator(error)) : .authenticator(error)
            throw HTTPError(phase, reason, name: url.host.description)
        }
    }
}

extension RenewedCredentials {
    /// Makes the credentials that the authenticator has for the request.
    convenience init(_ authenticator: any Authenticator, for request: AuthenticationRequest) {
        let isProxy = request.proxyTarget != nil
        self.init(for: isProxy ? .proxy : .origin, accepted: { request.pending.accept() }) {
            refusal,
            refused in
            let value: String?
            if let refusal {
                value = try await authenticator.authorization(
                    for: request,
                    answering: Challenge.all(in: refusal, proxy: isProxy),
                    after: refused.map { String(fieldText: $0) }
                )
            } else {
                value = try await authenticator.authorization(for: request)
            }
            return value.map(request.pending.bytes)
        }
    }
}

extension HopRequest {
    /// Puts new credentials into a request that is sent once more, if an authenticator made the former ones.
    ///
    /// They may be those of another account. The cache has seen only the former ones, so it is told.
    mutating func renewCredentials() async throws {
        guard let credentials else { return }
        let former = request.headers["Authorization"]
        try await credentials.renew(&request, within: call)
        if request.headers["Authorization"] != former { sent?.noteUnknown() }
    }
}
