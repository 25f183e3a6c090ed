#if !canImport(FoundationNetworking)
internal import DirectCore
internal import DirectHTTP
internal import DirectIO
internal import Foundation

/// A session's request on Apple's platforms, which contains all of the session's settings and the body of an
/// upload.
///
/// The session follows redirects itself, with a new object of the protocol class for each hop.
struct ProtocolOrder: Sendable {
    /// The URL of the request.
    let url: URL?
    private let original: URLRequest
    private let bridged: BridgedRequest
    private let policy: RedirectPolicy
    private let hasCrossedOrigin: Bool
    private let next = Locked<URLRequest?>(nil)

    /// Converts the request.
    init(_ request: URLRequest, _ settings: HTTPClient.Configuration) {
        url = request.url
        original = request
        bridged = BridgedRequest(request, settings)
        policy = settings.redirects
        hasCrossedOrigin = URLProtocol.property(forKey: Self.away, in: request) != nil
    }

    /// Returns the request to send. Its redirects are not followed but noted for the session.
    func request() async throws -> Request {
        var request = try bridged.checked()
        request.redirects = policy
        request.redirects?.decide = { [decide = policy.decide, next, original, hasCrossedOrigin] redirect in
            let decision = try await decide?(redirect) ?? .follow(redirect.next)
            guard case .follow(let proposed) = decision else { return .deliver }
            let request = URLRequest(proposed)?.withSettings(of: original)
            next.withLock {
                $0 = hasCrossedOrigin || redirect.crossesOrigins ? request?.leavingHome() : request
            }
            // The session cannot repeat a body that `URLRequest` cannot hold: then the client follows the
            // redirect.
            return request == nil ? decision : .deliver
        }
        return request
    }

    /// Sends the request. The session follows redirects, so only it knows whether an earlier hop has left the
    /// origin.
    func send(_ request: Request, with client: HTTPClient) async throws -> Response {
        hasCrossedOrigin ? try await client.sendContinued(request) : try await client.send(request)
    }

    /// Returns the head of the response for the session.
    func head(_ response: Response) throws -> HTTPURLResponse {
        try bridged.head(response)
    }

    /// The request to which the session has to redirect; `nil` if the response is not a redirect to follow.
    var redirect: URLRequest? { next.withLock { $0 } }

    /// Always `true`: the session takes the body in pieces.
    func isStreaming() async -> Bool { true }

    /// Returns immediately: the session buffers by itself.
    func consumerHasTakenAll() async {}

    /// Marks the request of a hop after the origin was left: no secret of the client's is sent with it,
    /// wherever it goes.
    fileprivate static let away = "direct-http away from home"
}

extension URLRequest {
    /// Returns the request with the settings of the one that is redirected, which hold for the whole task.
    fileprivate func withSettings(of original: URLRequest) -> URLRequest {
        var request = self
        request.cachePolicy = original.cachePolicy
        request.timeoutInterval = original.timeoutInterval
        request.httpShouldHandleCookies = original.httpShouldHandleCookies
        return request
    }

    /// Returns the request with the mark.
    fileprivate func leavingHome() -> URLRequest? {
        guard let request = (self as NSURLRequest).mutableCopy() as? NSMutableURLRequest else { return nil }
        URLProtocol.setProperty(true, forKey: ProtocolOrder.away, in: request)
        return request as URLRequest
    }
}
#endif
