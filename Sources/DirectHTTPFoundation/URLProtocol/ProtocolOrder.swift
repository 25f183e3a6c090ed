#if canImport(FoundationNetworking)
internal import DirectCore
internal import DirectHTTP
internal import DirectIO
internal import Dispatch
internal import Foundation
internal import FoundationNetworking

/// A session's request together with the session's settings for it, as far as FoundationNetworking makes them
/// accessible: body, additional fields, cookies, redirects and credentials.
struct ProtocolOrder: @unchecked Sendable {
    /// The URL of the request.
    let url: URL?
    // Used on the task's queue only.
    private let inside: SessionInside?
    private let bridged: BridgedRequest
    private let body: BodySource
    private let delegate: SessionDelegate?
    private let cookies: SessionCookies?
    private let redirects: RedirectPolicy
    private let authenticator: CredentialAuthenticator?

    private enum BodySource {
        case ofRequest
        case upload(SessionInside.Body, announced: UInt64?, formType: String?)
        case failure(URLError)
    }

    /// Collects the settings. Called on the task's queue.
    init(
        _ request: URLRequest,
        _ task: URLSessionTask?,
        _ inside: SessionInside?,
        _ settings: HTTPClient.Configuration
    ) {
        url = request.url
        self.inside = inside
        let configuration = inside?.session?.configuration
        cookies = configuration.map { SessionCookies($0, request) }
        bridged = BridgedRequest(cookies?.taken(from: request) ?? request, settings, configuration)
        body = Self.body(of: task, inside, request)
        delegate = inside.flatMap { [cookies] in SessionDelegate($0, cookies) }
        redirects = settings.redirects.asking(delegate)
        authenticator = configuration?.urlCredentialStorage?.authenticator(for: request.url)
    }

    /// Returns the request to send.
    func request() async throws -> Request {
        var request = try bridged.checked()
        switch body {
        case .ofRequest: break
        case .failure(let error): throw error
        case .upload(let body, let length, let type): try await request.take(body, length, type, delegate)
        }
        prepare(&request)
        // A user in the URL is meant for this request.
        if url?.user == nil, url?.password == nil { request.authenticator = authenticator }
        return request
    }

    private func prepare(_ request: inout Request) {
        if let cookies { request.cookies = cookies.store }
        request.redirects = redirects
    }

    /// Sends the request. The client follows redirects, and the delegate decides about those to a URL that is
    /// not one of HTTP, such as that of an app.
    func send(_ request: Request, with client: HTTPClient) async throws -> Response {
        var response = try await client.send(request)
        var redirects = redirects
        while redirects.isFollowing, let other = response.otherScheme {
            let proposed = URLRequest(url: other)
            let decided = try await delegate?.decide(on: proposed, after: head(response))
            guard let next = delegate == nil ? proposed : decided else { return response }
            guard let url = next.url, (try? HTTPURL(url)) != nil else {
                throw URLError(.unsupportedURL, "a redirect leads to a URL that is not http", for: next.url)
            }
            // All redirects of a task have one limit: the server may name the app again for ever.
            redirects.limit -= 1 + response.history.count { $0.reason == .redirect }
            guard redirects.limit >= 0 else {
                throw URLError(.httpTooManyRedirects, "too many redirects", for: self.url)
            }
            await response.body.drain()
            var request = Request(next)
            prepare(&request)
            request.redirects = redirects
            response = try await client.sendContinued(request)
        }
        return response
    }

    /// Returns the head of the response for the session.
    func head(_ response: Response) throws -> HTTPURLResponse {
        try bridged.head(response, headers: response.headers.withoutFatalChallenge(response.status))
    }

    /// Whether the session takes the body in pieces.
    func isStreaming() async -> Bool {
        guard let inside, let queue = inside.queue else { return false }
        return await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: self.inside?.isStreaming ?? false) }
        }
    }

    /// Waits until the delegate has handled the data it was given. Otherwise a fast server would fill the
    /// memory. The end of the task ends the wait: a delegate may be busy for long, and its connection is
    /// wanted.
    func consumerHasTakenAll() async throws {
        guard let inside, let queue = inside.queue, let session = inside.session else { return }
        try await answer { reply in
            // The task's queue comes first, because it passes the data on to the delegate's queue.
            queue.async { session.delegateQueue.addOperation { reply(()) } }
        }
    }

    private static func body(
        of task: URLSessionTask?,
        _ inside: SessionInside?,
        _ request: URLRequest
    ) -> BodySource {
        if task is URLSessionDownloadTask {
            // FoundationNetworking ends a download by force-unwrapping a file that only its own classes can
            // name.
            let words = "FoundationNetworking takes no file from a URLProtocol: use HTTPClient.download(for:)"
            return .failure(URLError(.cannotCreateFile, words, for: request.url))
        }
        guard task is URLSessionUploadTask else { return .ofRequest }
        guard let body = inside?.body else {
            let words =
                "the body of the upload is not accessible in this version of FoundationNetworking: "
                + "put it into httpBody of a data task, or use HTTPClient.upload(for:from:)"
            return .failure(URLError(.requestBodyStreamExhausted, words, for: request.url))
        }
        let length = request.value(forHTTPHeaderField: "Content-Length").flatMap(UInt64.init)
        return .upload(body, announced: length, formType: request.formType)
    }
}

extension Request {
    /// Takes over the body of an upload.
    fileprivate mutating func take(
        _ upload: SessionInside.Body,
        _ length: UInt64?,
        _ formType: String?,
        _ delegate: SessionDelegate?
    ) async throws {
        switch upload {
        case .data(let data): body = .upload(data)
        case .file(let file): body = try .file(at: file)
        case .stream(let stream):
            body = .stream(InputPieces(stream), length: length, contentType: formType)
        case .ofDelegate:
            body = try await delegate?.body(of: length, type: formType) ?? body
        }
    }
}

extension RedirectPolicy {
    /// The client's policy. If it does not decide about redirects itself, the delegate decides.
    fileprivate func asking(_ delegate: SessionDelegate?) -> RedirectPolicy {
        var policy = self
        policy.deliversOtherSchemes = true
        guard let delegate, decide == nil else { return policy }
        policy.decide = { try await delegate.decide($0) }
        return policy
    }
}

extension HTTPHeaders {
    /// Renames the challenge of a 401. FoundationNetworking handles `WWW-Authenticate` by itself: without a
    /// credential the task never ends, with one it sends the request again with its own network stack.
    fileprivate func withoutFatalChallenge(_ status: HTTPStatus) -> HTTPHeaders {
        guard status == .unauthorized, contains("WWW-Authenticate") else { return self }
        var headers = self
        for challenge in values(for: "WWW-Authenticate") { headers.add("X-WWW-Authenticate", challenge) }
        headers.remove("WWW-Authenticate")
        return headers
    }
}
#endif
