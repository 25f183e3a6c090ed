#if !canImport(FoundationNetworking)
internal import DirectHTTP
internal import DirectIO
internal import Foundation

/// What a session of Apple's wants of a URLProtocol: all of it stands in the request, the body of an upload too.
///
/// The session follows redirects itself, with an object of its own for each hop.
struct ProtocolOrder: Sendable {
    let url: URL?
    private let bridged: BridgedRequest
    private let policy: RedirectPolicy
    private let isAwayFromHome: Bool
    private let next = Locked<URLRequest?>(nil)

    init(_ request: URLRequest, _ settings: HTTPClient.Settings) {
        url = request.url
        bridged = BridgedRequest(request, settings)
        policy = settings.redirects
        isAwayFromHome = URLProtocol.property(forKey: Self.away, in: request) != nil
    }

    func request() async throws -> Request {
        var request = try bridged.checked()
        request.redirects = policy
        request.redirects?.decide = { [decide = policy.decide, next, isAwayFromHome] redirect in
            let decision = try await decide?(redirect) ?? .follow(redirect.next)
            guard case .follow(let proposed) = decision else { return .deliver }
            let request = URLRequest(proposed)
            next.withLock {
                $0 = isAwayFromHome || redirect.crossesOrigins ? request?.leavingHome() : request
            }
            // A body that cannot be said again has to be asked for by us.
            return request == nil ? decision : .deliver
        }
        return request
    }

    /// Sends the request. The session follows redirects itself, so only it knows that they have left an origin.
    func send(_ request: Request, with client: HTTPClient) async throws -> Response {
        isAwayFromHome ? try await client.sendContinued(request) : try await client.send(request)
    }

    func head(_ response: Response) throws -> HTTPURLResponse {
        try bridged.head(response)
    }

    /// Where the response points and the session is to go, if so.
    var redirect: URLRequest? { next.withLock { $0 } }

    func isStreaming() async -> Bool { true }

    /// The session takes what it is given, as it always does.
    func consumerHasTakenAll() async {}

    /// On the request of a hop: no secret of the client's goes along any more, wherever it leads.
    fileprivate static let away = "direct-http away from home"
}

extension URLRequest {
    fileprivate func leavingHome() -> URLRequest? {
        guard let request = (self as NSURLRequest).mutableCopy() as? NSMutableURLRequest else { return nil }
        URLProtocol.setProperty(true, forKey: ProtocolOrder.away, in: request)
        return request as URLRequest
    }
}
#endif
