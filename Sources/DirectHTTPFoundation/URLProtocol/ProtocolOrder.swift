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

    private enum BodySource {
        case ofRequest
        case data(Data)
        case file(URL)
        case stream(InputStream)
        /// Asks the session's delegate for it.
        case delegate(URLSession, any URLSessionTaskDelegate, URLSessionTask)
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
    }

    func request() async throws -> Request {
        var request = bridged.request
        switch try body.get() {
        case .ofRequest: break
        case .data(let data): request.body = .data(data)
        case .file(let file): request.body = try await .file(at: file)
        case .stream(let stream): request.body = .stream(stream)
        case .delegate(let session, let delegate, let task):
            guard let stream = await delegate.bodyStream(session, task) else { break }
            request.body = .stream(stream)
        }
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
        case .elsewhere:
            guard let session = inside?.session,
                let delegate = session.delegate as? any URLSessionTaskDelegate,
                let task
            else { break }
            return .success(.delegate(session, delegate, task))
        case nil: break
        }
        let words =
            "the body of the upload cannot be reached in this version of FoundationNetworking: "
            + "put it into httpBody of a data task, or use HTTPClient.upload(for:from:)"
        return .failure(URLError(.requestBodyStreamExhausted, words, for: url))
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

extension URLSessionTaskDelegate {
    fileprivate func bodyStream(_ session: URLSession, _ task: URLSessionTask) async -> InputStream? {
        await withCheckedContinuation { continuation in
            session.delegateQueue.addOperation {
                self.urlSession(session, task: task) { stream in
                    nonisolated(unsafe) let stream = stream
                    continuation.resume(returning: stream)
                }
            }
        }
    }
}
#endif
