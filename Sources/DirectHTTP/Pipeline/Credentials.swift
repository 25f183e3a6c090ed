internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// Sends requests with the credentials of their origins, and again with new ones if a server answers 401.
final class Credentials: Layer {
    /// The client's authenticators; a request's own comes before them.
    private let authenticators: [Origin: any Authenticator]
    /// Whether other code may send other requests than those that this layer knows.
    private let isIntercepted: Bool
    private let loop: EventLoop
    private let next: any Layer

    init(_ configuration: HTTPClient.Configuration, next: any Layer) {
        authenticators = configuration.authenticators
        isIntercepted = !configuration.networkInterceptors.isEmpty
        loop = configuration.loop
        self.next = next
    }

    func send(_ request: Request, trail: Trail?, call: Call) async throws -> Response {
        let url = try request.checkedURL()
        guard let authenticator = trail?.authenticator ?? authenticators[url.origin],
            !request.headers.contains("Authorization")
        else { return try await next.send(request, trail: trail, call: call) }
        return try await sendAuthenticated(request, trail: trail, url: url, call: call, as: authenticator)
    }

    /// Sends a request with an authenticator's credentials, and again with new ones if the server answers
    /// 401.
    private func sendAuthenticated(
        _ original: Request,
        trail: Trail?,
        url: HTTPURL,
        call: Call,
        as authenticator: any Authenticator
    ) async throws -> Response {
        let (method, body) = (original.method, original.body)
        let subject = AuthenticationRequest(method: method, url: url, body: body.bytesInMemory)
        var request = original
        let credentials = RenewedCredentials { [loop, call] in
            try await call.authorization(for: url, .request, on: loop) {
                try await authenticator.authorization(for: subject)
            }
        }
        try await credentials.renew(&request)
        var call = call
        call.credentials = credentials
        if isIntercepted { call.repeatability = Repeatability() }
        var response = try await next.send(request, trail: trail, call: call)
        var history = response.history
        for _ in 0..<Self.credentialLimit {
            guard response.status == .unauthorized, body.canBeSent,
                call.repeatability?.canBeSent ?? true
            else { break }
            let challenges = Challenge.all(in: response.headers)
            let refused = credentials.latest
            do {
                let answer = try await call.authorization(for: url, .response, on: loop) {
                    try await authenticator.authorization(for: subject, answering: challenges, after: refused)
                }
                guard let answer else { break }
                await response.body.drain()
                history.append(call.logging(Hop(.authentication, method, response)))
                credentials.set(answer, for: &request)
                // Where the earlier request failed, this one would fail as well.
                if !response.history.isEmpty { request.failedEndpoints.record(response.history) }
                response = try await next.send(request, trail: trail, call: call)
            } catch let error as HTTPError {
                throw error.after(history)
            }
            history += response.history
        }
        response.history = history
        return response
    }

    /// The number of times that a request is sent again for a 401: a wrong password stays wrong, but a nonce
    /// may have expired.
    private static let credentialLimit = 2
}

/// The credentials of one request, made anew for each time that it is sent.
///
/// A server may take an answer to its challenge for a replay if it comes twice: each has a count (RFC 7616,
/// section 3.4).
final class RenewedCredentials: Sendable {
    private let make: @Sendable () async throws -> String?
    private let sent = Locked<String?>(nil)

    init(_ make: @escaping @Sendable () async throws -> String?) {
        self.make = make
    }

    /// The value that was made last; `nil` if there was none.
    var latest: String? { sent.withLock { $0 } }

    /// Puts a new value into the request. If the authenticator has none, the request keeps the one that it
    /// has.
    func renew(_ request: inout Request) async throws {
        if let value = try await make() { set(value, for: &request) }
    }

    /// Puts this value into the request.
    func set(_ value: String, for request: inout Request) {
        sent.withLock { $0 = value }
        request.headers["Authorization"] = value
    }
}

extension Call {
    /// Asks an authenticator, and returns its answer.
    ///
    /// - Parameter reason: makes the reason of the call's error of the authenticator's.
    func authorization(
        for url: HTTPURL,
        _ phase: HTTPError.Phase,
        on loop: EventLoop,
        failingWith reason: (any Error) -> HTTPError.Reason = HTTPError.Reason.authenticator,
        ask: @escaping @Sendable () async throws -> String?
    ) async throws -> String? {
        let answer: Result<String?, any Error> = try await answer(to: url, phase, on: loop) {
            do { return .success(try await ask()) } catch { return .failure(error) }
        }
        switch answer {
        case .success(let value): return value
        case .failure(let error):
            if error is CancellationError, Task.isCancelled { throw error }
            throw HTTPError(phase, reason(error), name: url.host.description)
        }
    }

    /// Puts new credentials into a request that is sent once more, if an authenticator made the former ones.
    ///
    /// They may be those of another account. The cache has seen only the former ones, so it is told.
    func renewCredentials(of request: inout Request) async throws {
        guard let credentials else { return }
        let former = request.headers["Authorization"]
        try await credentials.renew(&request)
        if request.headers["Authorization"] != former { sent?.noteOtherCredentials() }
    }
}
