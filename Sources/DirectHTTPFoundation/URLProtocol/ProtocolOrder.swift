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
    private let original: URLRequest
    // Used on the task's queue only.
    private let inside: SessionInside?
    private let bridged: BridgedRequest
    /// The body of an upload; `nil` if it is the request's.
    private let upload: Result<SessionInside.Body?, URLError>
    private let delegate: SessionDelegate?
    private let cookies: SessionCookies?
    private let credentials: URLCredentialStorage?
    private let redirects: RedirectPolicy

    /// The URL of the request.
    var url: URL? { original.url }

    /// Collects the settings. Called on the task's queue.
    init(
        _ request: URLRequest,
        _ task: URLSessionTask?,
        _ inside: SessionInside?,
        _ settings: HTTPClient.Configuration
    ) {
        original = request
        self.inside = inside
        let configuration = inside?.session?.configuration
        cookies = configuration.map { SessionCookies($0, request) }
        bridged = BridgedRequest(cookies?.taken(from: request) ?? request, settings, configuration)
        upload = Self.upload(of: task, inside, request.url)
        delegate = inside.flatMap { [cookies] in SessionDelegate($0, cookies) }
        redirects = settings.redirects
        credentials = configuration?.urlCredentialStorage
    }

    /// Returns the request to send.
    func request() async throws -> Request {
        var request = try bridged.checked()
        if let upload = try upload.get() { request.body = try body(of: upload) }
        if let cookies { request.cookies = cookies.store }
        if let credentials { request.authenticators = { credentials.authenticator(for: $0) } }
        request.redirects = redirects.asking(delegate, for: self)
        return request
    }

    /// Sends the request. The client follows its redirects.
    func send(_ request: Request, with client: HTTPClient) async throws -> Response {
        try await client.send(request)
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

    private static func upload(
        of task: URLSessionTask?,
        _ inside: SessionInside?,
        _ url: URL?
    ) -> Result<SessionInside.Body?, URLError> {
        if task is URLSessionDownloadTask {
            // FoundationNetworking ends a download by force-unwrapping a file that only its own classes can
            // name.
            let words = "FoundationNetworking takes no file from a URLProtocol: use HTTPClient.download(for:)"
            return .failure(URLError(.cannotCreateFile, words, for: url))
        }
        guard task is URLSessionUploadTask else { return .success(nil) }
        if let body = inside?.body { return .success(body) }
        let words =
            "the body of the upload is not accessible in this version of FoundationNetworking: "
            + "put it into httpBody of a data task, or use HTTPClient.upload(for:from:)"
        return .failure(URLError(.requestBodyStreamExhausted, words, for: url))
    }

    private func body(of upload: SessionInside.Body) throws -> RequestBody {
        let length = original.value(forHTTPHeaderField: "Content-Length").flatMap(UInt64.init)
        return switch upload {
        case .data(let data): .upload(data)
        case .file(let file): try .file(at: file)
        case .stream(let stream):
            .stream(InputPieces(stream), length: length, contentType: original.formType)
        case .ofDelegate: delegate?.body(of: length, type: original.formType) ?? .none
        }
    }
}

extension RedirectPolicy {
    /// The client's policy. If it does not decide about redirects itself, the delegate decides; in any case
    /// about those to a URL that is not one of HTTP, such as that of an app.
    fileprivate func asking(_ delegate: SessionDelegate?, for order: ProtocolOrder) -> RedirectPolicy {
        guard let delegate else { return self }
        var policy = self
        policy.decide = decide ?? { try await delegate.decide($0) }
        policy.decideOnOtherScheme = { location, response in
            guard let other = URL(escaped: location),
                let next = try await delegate.decide(on: URLRequest(url: other), after: order.head(response))
            else { return nil }
            guard let url = next.url, (try? HTTPURL(url)) != nil else {
                throw URLError(.unsupportedURL, "a redirect leads to a URL that is not http", for: next.url)
            }
            return Request(next)
        }
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
