internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// Sends the requests that a proxy forwards with the credentials of its authenticator, and again with new
/// ones if the proxy answers 407. Tunnels get theirs when they are opened (`Dialler`).
final class ProxyCredentials: Layer {
    private let roundTrip: RoundTrip
    private let loop: EventLoop

    init(_ roundTrip: RoundTrip) {
        self.roundTrip = roundTrip
        loop = roundTrip.planner.loop
    }

    func send(_ hop: borrowing HopRequest) async throws -> Response {
        let request = hop.request
        // A request without a plan fails when it is sent.
        guard case .success(let url) = request.parsedURL, !request.headers.contains(Challenger.proxy.field),
            let proxy = try? roundTrip.planner.proxy(of: hop, to: url),
            let authorizer = proxy.forwardingAuthorizer(for: url)
        else { return try await roundTrip.send(hop) }
        let (method, body) = (request.method, request.body.bytesInMemory)
        let (target, _) = url.targetAndAuthority(of: method, isForwarded: true)
        let text = String(decoding: target, as: UTF8.self)
        let credentials = authorizer.credentials(method: method, target: text, body: body)
        // A server behind a tunnel may answer 407, too. It gets no credentials.
        return try await RequestCredentials(credentials, to: url, on: loop)
            .send(copy hop, through: roundTrip, isMeant: { $0.transaction?.source == .proxy })
    }
}
