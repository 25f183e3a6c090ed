#if canImport(FoundationNetworking)
internal import DirectCore
internal import DirectHTTP
internal import DirectIO
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
    private let body: Result<BodySource, URLError>
    private let delegate: SessionDelegate?
    /// The session expects its own protocol classes to add these fields.
    private let additionalFields: [(name: String, value: String)]
    private let cookies: SessionCookies?
    private let redirects: RedirectPolicy
    private let authenticator: SessionAuthenticator?

    private enum BodySource {
        case ofRequest
        case data(Data)
        case file(URL)
        case stream(InputStream)
        /// The session's delegate has the body.
        case delegate
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
        bridged = BridgedRequest(request, settings, configuration)
        body = Self.body(of: task, inside, url: request.url)
        delegate = inside.flatMap(SessionDelegate.init)
        additionalFields = (configuration?.httpAdditionalHeaders ?? [:]).compactMap { name, value in
            (name.base as? String).map { ($0, "\(value)") }
        }
        cookies = configuration.map { SessionCookies($0, request) }
        redirects = settings.redirects.asking(delegate)
        authenticator = configuration?.urlCredentialStorage.flatMap {
            SessionAuthenticator(ifFilled: $0, settings.authenticators)
        }
    }

    /// Returns the request to send.
    func request() async throws -> Request {
        var request = try bridged.checked()
        switch try body.get() {
        case .ofRequest: break
        case .data(let data): request.body = .data(data)
        case .file(let file): request.body = try .file(at: file)
        case .stream(let stream): request.body = .stream(stream)
        case .delegate:
            if let body = try await delegate?.body() { request.body = body }
        }
        for (name, value) in additionalFields where !request.headers.contains(name) {
            request.headers.add(name, value)
        }
        cookies?.prepare(&request)
        request.redirects = redirects
        // A user in the URL is meant for this request.
        if url?.user == nil, url?.password == nil { request.authenticator = authenticator }
        return request
    }

    /// Sends the request. The client follows redirects.
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
    /// memory.
    func consumerHasTakenAll() async {
        guard let inside, let queue = inside.queue, let session = inside.session else { return }
        await withCheckedContinuation { continuation in
            // The task's queue comes first, because it passes the data on to the delegate's queue.
            queue.async { session.delegateQueue.addOperation { continuation.resume() } }
        }
    }

    private static func body(
        of task: URLSessionTask?,
        _ inside: SessionInside?,
        url: URL?
    ) -> Result<BodySource, URLError> {
        if task is URLSessionDownloadTask {
            // FoundationNetworking ends a download by force-unwrapping a file that only its own classes can
            // name.
            let words = "FoundationNetworking takes no file from a URLProtocol: use HTTPClient.download(for:)"
            return .failure(URLError(.cannotCreateFile, words, for: url))
        }
        guard task is URLSessionUploadTask else { return .success(.ofRequest) }
        switch inside?.body {
        case .none?: return .success(.ofRequest)
        case .data(let data): return .success(.data(data))
        case .file(let file): return .success(.file(file))
        case .stream(let stream): return .success(.stream(stream))
        case .elsewhere: return .success(.delegate)
        case nil: break
        }
        let words =
            "the body of the upload is not accessible in this version of FoundationNetworking: "
            + "put it into httpBody of a data task, or use HTTPClient.upload(for:from:)"
        return .failure(URLError(.requestBodyStreamExhausted, words, for: url))
    }
}

extension RedirectPolicy {
    /// The client's policy. If it does not decide about redirects itself, the delegate decides.
    fileprivate func asking(_ delegate: SessionDelegate?) -> RedirectPolicy {
        guard let delegate, decide == nil else { return self }
        var policy = self
        policy.decide = { try await delegate.decide($0) }
        return policy
    }
}

/// Answers with the session's credentials if they fit, otherwise with the client's authenticator for the
/// origin.
private struct SessionAuthenticator: Authenticator {
    private let credentials: CredentialAuthenticator
    private let clients: [Origin: any Authenticator]

    /// Fails if the storage is empty.
    init?(ifFilled storage: URLCredentialStorage, _ clients: [Origin: any Authenticator]) {
        guard !storage.allCredentials.isEmpty else { return nil }
        credentials = .ofSessions(with: storage)
        self.clients = clients
    }

    func authorization(for request: AuthenticationRequest) async throws -> String? {
        if let answer = try await credentials.authorization(for: request) { return answer }
        return try await clients[request.url.origin]?.authorization(for: request)
    }

    func authorization(
        for request: AuthenticationRequest,
        answering challenges: [Challenge],
        after refused: String?
    ) async throws -> String? {
        if let answer = try await credentials.authorization(
            for: request,
            answering: challenges,
            after: refused
        ) {
            return answer
        }
        return try await clients[request.url.origin]?.authorization(
            for: request,
            answering: challenges,
            after: refused
        )
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
