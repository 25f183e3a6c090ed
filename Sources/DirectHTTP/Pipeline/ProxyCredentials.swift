internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// Sends the requests that a proxy forwards with the credentials of its authenticator, and again with new
/// ones if the proxy answers 407. Tunnels get theirs when they are opened (`Dialler`).
final class ProxyCredentials: NetworkLayer {
    private let roundTrip: RoundTrip
    private let loop: EventLoop

    /// `nil` if no proxy has an authenticator.
    init?(_ configuration: HTTPClient.Configuration, roundTrip: RoundTrip) {
        guard !configuration.proxyAuthenticators.isEmpty else { return nil }
        self.roundTrip = roundTrip
        loop = configuration.loop
    }

    func send(_ request: Request, trail: Trail?, call: Call, detour: Detour?) async throws -> Response {
        guard case .success(let url) = request.parsedURL, !request.headers.contains(Self.field),
            let authorizer = roundTrip.forwardingAuthorizer(of: request, to: url)
        else { return try await roundTrip.send(request, trail: trail, call: call, detour: detour) }
        let (method, body) = (request.method, request.body)
        let (bytes, _) = url.targetAndAuthority(of: method, isForwarded: true)
        let target = String(decoding: bytes, as: UTF8.self)
        var request = request
        var value = try await call.proxyAuthorization(for: url, on: loop) {
            try await authorizer.authorization(method: method, target: target, body: body.bytesInMemory)
        }
        request.headers[Self.field] = value
        var response = try await roundTrip.send(request, trail: trail, call: call, detour: detour)
        var history = response.history
        for _ in 0..<Self.credentialLimit {
            // A server behind a tunnel may answer 407, too. It gets no credentials.
            guard response.status == .proxyAuthenticationRequired, body.canBeSent,
                response.transaction?.source == .proxy
            else { break }
            let (refusal, refused) = (response.headers, value)
            do {
                let answer = try await call.proxyAuthorization(for: url, on: loop) {
                    try await authorizer.authorization(
                        method: method,
                        target: target,
                        body: body.bytesInMemory,
                        answering: refusal,
                        after: refused
                    )
                }
                guard let answer else { break }
                await response.body.drain()
                history.append(call.logging(Hop(.authentication, method, response)))
                value = answer
                request.headers[Self.field] = answer
                response = try await roundTrip.send(request, trail: trail, call: call, detour: detour)
            } catch let error as HTTPError {
                throw error.after(history)
            }
            history += response.history
        }
        response.history = history
        return response
    }

    private static let field = "Proxy-Authorization"

    /// The number of times that a request is sent again for a 407, as for a 401.
    private static let credentialLimit = 2
}

extension Call {
    /// Asks the authenticator of a proxy. Its error becomes the same reason as for a tunnel.
    fileprivate func proxyAuthorization(
        for url: HTTPURL,
        on loop: EventLoop,
        ask: @escaping @Sendable () async throws -> String?
    ) async throws -> String? {
        try await authorization(
            for: url,
            .proxy,
            on: loop,
            failingWith: { .proxy(.authenticator($0)) },
            ask: ask
        )
    }
}

/// The authenticator of one proxy.
struct ProxyAuthentication: ProxyAuthorizer {
    private let authenticator: any Authenticator
    private let url: HTTPURL

    /// `nil` if there is no authenticator for the proxy, and for a proxy that speaks no HTTP.
    init?(_ authenticators: [Origin: any Authenticator], for proxy: Proxy) {
        guard proxy.scheme != .socks5, let url = try? HTTPURL("\(proxy)"),
            let authenticator = authenticators[url.origin]
        else { return nil }
        self.url = url
        self.authenticator = authenticator
    }

    func authorization(method: HTTPMethod, target: String, body: [UInt8]?) async throws -> String? {
        try await authenticator.authorization(for: request(method, target, body))
    }

    func authorization(
        method: HTTPMethod,
        target: String,
        body: [UInt8]?,
        answering refusal: HTTPHeaders,
        after refused: String?
    ) async throws -> String? {
        try await authenticator.authorization(
            for: request(method, target, body),
            answering: Challenge.all(in: refusal, proxy: true),
            after: refused
        )
    }

    private func request(_ method: HTTPMethod, _ target: String, _ body: [UInt8]?) -> AuthenticationRequest {
        AuthenticationRequest(method: method, url: url, body: body, proxyTarget: target)
    }
}
