#if !canImport(FoundationNetworking)
internal import DirectCore
internal import DirectHTTP
internal import DirectIO
internal import Foundation

/// A session's request on Apple's platforms, which contains what the session tells a protocol class.
///
/// The session follows redirects itself, with a new object of the protocol class for each hop. No property of
/// a task names its session: so the cookies are those of the client.
struct ProtocolOrder: Sendable {
    /// The URL of the request.
    let url: URL?
    private let original: URLRequest
    private let bridged: BridgedRequest
    private let policy: RedirectPolicy
    private let hops: EarlierHops
    private let next = Locked<URLRequest?>(nil)

    /// Converts the request.
    init(_ request: URLRequest, _ settings: HTTPClient.Configuration) {
        url = request.url
        original = request
        bridged = BridgedRequest(request, settings)
        policy = settings.redirects
        hops = EarlierHops(of: request)
    }

    /// Returns the request to send. Its redirects are not followed but noted for the session.
    func request() async throws -> Request {
        var request = try bridged.checked()
        // A session makes a stream of `httpBody`.
        if original.httpBody == nil, let stream = original.httpBodyStream {
            let length = original.value(forHTTPHeaderField: "Content-Length").flatMap(UInt64.init)
            request.body = try await .read(stream, length: length, contentType: original.formType)
        }
        request.redirects = policy
        request.redirects?.decide = { redirect in
            let decided = if let decide = policy.decide { try await decide(redirect) } else { redirect.next }
            guard let proposed = decided else { return nil }
            // The session cannot repeat a body that `URLRequest` cannot hold: then the client follows the
            // redirect.
            guard let request = URLRequest(proposed) else { return proposed }
            return try deliver(to: request, leavingOrigin: redirect.crossesOrigins)
        }
        // The session asks its delegate, and is the one to judge the scheme.
        request.redirects?.decideOnOtherScheme = { location, _ in
            guard let other = URL(escaped: location) else { return nil }
            return try deliver(to: URLRequest(url: other), leavingOrigin: true)
        }
        return request
    }

    /// Notes the redirect for the session, and delivers it.
    private func deliver(to request: URLRequest, leavingOrigin: Bool) throws -> Request? {
        guard hops.count < policy.limit else {
            throw URLError(.httpTooManyRedirects, "more than \(policy.limit) redirects", for: url)
        }
        let followed = hops.followed(leavingOrigin: leavingOrigin)
        next.withLock { $0 = original.redirected(to: request, followed) }
        return nil
    }

    /// Sends the request. The session follows redirects, so only it knows whether an earlier hop has left the
    /// origin.
    func send(_ request: Request, with client: HTTPClient) async throws -> Response {
        hops.hasLeftOrigin ? try await client.sendContinued(request) : try await client.send(request)
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
    func consumerHasTakenAll() async throws {}
}

/// The redirects before a hop, which are kept as properties of its request: each hop has an object of its
/// own.
private struct EarlierHops {
    private(set) var count = 0
    /// Whether one of them has left the origin: then no secret of the client's is sent any more, wherever the
    /// request goes (CVE-2024-45336).
    private(set) var hasLeftOrigin = false

    private static let countKey = "direct-http redirects"
    private static let leftKey = "direct-http has left its origin"

    init(of request: URLRequest) {
        count = URLProtocol.property(forKey: Self.countKey, in: request) as? Int ?? 0
        hasLeftOrigin = URLProtocol.property(forKey: Self.leftKey, in: request) != nil
    }

    func followed(leavingOrigin: Bool) -> EarlierHops {
        var hops = self
        hops.count += 1
        hops.hasLeftOrigin = hasLeftOrigin || leavingOrigin
        return hops
    }

    func mark(_ request: NSMutableURLRequest) {
        URLProtocol.setProperty(count, forKey: Self.countKey, in: request)
        if hasLeftOrigin { URLProtocol.setProperty(true, forKey: Self.leftKey, in: request) }
    }
}

extension URLRequest {
    /// Returns this request with the URL, method, fields and body of the next hop. Its settings and the
    /// properties that other code has set hold for the whole task.
    fileprivate func redirected(to next: URLRequest, _ hops: EarlierHops) -> URLRequest {
        var request = self
        request.url = next.url
        request.httpMethod = next.httpMethod
        request.httpBodyStream = nil
        request.httpBody = next.httpBody
        let fields = next.allHTTPHeaderFields ?? [:]
        for name in (allHTTPHeaderFields ?? [:]).keys where fields[name] == nil {
            request.setValue(nil, forHTTPHeaderField: name)
        }
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        guard let marked = (request as NSURLRequest).mutableCopy() as? NSMutableURLRequest else {
            return request
        }
        hops.mark(marked)
        return marked as URLRequest
    }
}
#endif
