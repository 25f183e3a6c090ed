#if canImport(FoundationNetworking)
internal import DirectHTTP
internal import DirectIO
internal import Foundation
internal import FoundationNetworking

/// What a session wants of a URLProtocol, found out where FoundationNetworking lets one look.
struct ProtocolOrder: @unchecked Sendable {
    let url: URL?
    // Asked on the task's queue only.
    private let inside: SessionInside?
    private let bridged: BridgedRequest
    private let body: Result<BodySource, URLError>
    private let delegate: SessionDelegate?
    /// The session leaves it to its own classes to add them.
    private let additionalFields: [(name: String, value: String)]
    private let cookies: SessionCookies?
    private let redirects: RedirectPolicy
    private let authenticator: CredentialAuthenticator?

    private enum BodySource {
        case ofRequest
        case data(Data)
        case file(URL)
        case stream(InputStream)
        /// Asks the session's delegate for it.
        case delegate
    }

    /// To be made on the task's queue.
    init(
        _ request: URLRequest,
        _ task: URLSessionTask?,
        _ inside: SessionInside?,
        _ settings: HTTPClient.Settings
    ) {
        url = request.url
        self.inside = inside
        let configuration = inside?.session?.configuration
        bridged = BridgedRequest(request, settings, configuration)
        body = Self.body(of: task, inside, request.url)
        delegate = inside.flatMap(SessionDelegate.init)
        additionalFields = (configuration?.httpAdditionalHeaders ?? [:]).compactMap { name, value in
            (name.base as? String).map { ($0, "\(value)") }
        }
        cookies = configuration.flatMap { SessionCookies($0, request, settings.cookies) }
        redirects = settings.redirects.asking(delegate)
        authenticator = configuration?.urlCredentialStorage.flatMap(CredentialAuthenticator.init(ifFilled:))
    }

    func request() async throws -> Request {
        var request = try bridged.checked()
        switch try body.get() {
        case .ofRequest: break
        case .data(let data): request.body = .data(data)
        case .file(let file): request.body = try .file(at: file)
        case .stream(let stream): request.body = .stream(stream)
        case .delegate:
            if let stream = await delegate?.bodyStream() { request.body = .stream(stream) }
        }
        for (name, value) in additionalFields where !request.headers.contains(name) {
            request.headers.add(name, value)
        }
        cookies?.prepare(&request)
        request.redirects = redirects
        request.authenticator = authenticator
        return request
    }

    func head(_ response: Response) throws -> HTTPURLResponse {
        try bridged.head(response, headers: response.headers.withoutFatalChallenge(response.status))
    }

    func isStreaming() async -> Bool {
        guard let inside, let queue = inside.queue else { return false }
        return await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: self.inside?.isStreaming ?? false) }
        }
    }

    /// Suspends until the delegate has dealt with what it was given: else a fast server would fill the memory.
    func consumerHasTakenAll() async {
        guard let inside, let queue = inside.queue, let session = inside.session else { return }
        await withCheckedContinuation { continuation in
            // First the task's queue, which passes the data on to the delegate's.
            queue.async { session.delegateQueue.addOperation { continuation.resume() } }
        }
    }

    private static func body(
        of task: URLSessionTask?,
        _ inside: SessionInside?,
        _ url: URL?
    ) -> Result<BodySource, URLError> {
        if task is URLSessionDownloadTask {
            // It ends a download by force-unwrapping a file that only its own classes can name.
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
            "the body of the upload cannot be reached in this version of FoundationNetworking: "
            + "put it into httpBody of a data task, or use HTTPClient.upload(for:from:)"
        return .failure(URLError(.requestBodyStreamExhausted, words, for: url))
    }
}

extension RedirectPolicy {
    /// The client's policy. Where it leaves the decision open, the delegate decides.
    fileprivate func asking(_ delegate: SessionDelegate?) -> RedirectPolicy {
        guard let delegate, decide == nil else { return self }
        var policy = self
        policy.decide = { await delegate.decide($0) }
        return policy
    }
}

extension CredentialAuthenticator {
    fileprivate convenience init?(ifFilled storage: URLCredentialStorage) {
        guard !storage.allCredentials.isEmpty else { return nil }
        self.init(storage)
    }
}

extension Headers {
    /// FoundationNetworking answers a 401 by itself, and for ever: without a credential the task never ends, with one
    /// it goes past us to its own network stack. Under another name the challenge passes.
    fileprivate func withoutFatalChallenge(_ status: Status) -> Headers {
        guard status == .unauthorized, contains("WWW-Authenticate") else { return self }
        var headers = self
        for challenge in values(for: "WWW-Authenticate") { headers.add("X-WWW-Authenticate", challenge) }
        headers.remove("WWW-Authenticate")
        return headers
    }
}
#endif
