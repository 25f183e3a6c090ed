internal import DirectHTTP
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// A request of Foundation's on its way through a client of ours.
struct BridgedRequest: Sendable {
    let request: Request
    let url: URL?
    /// The caller wants an answer from a cache or none at all.
    private let isForCacheOnly: Bool

    init(_ original: URLRequest, _ settings: HTTPClient.Settings, body: RequestBody? = nil) {
        var request = Request(original)
        if let body { request.body = body }
        request.timeouts = settings.timeouts.limited(by: original.timeoutInterval)
        self.request = request
        url = original.url
        isForCacheOnly = original.cachePolicy == .returnCacheDataDontLoad
    }

    /// Runs the call; its errors become Foundation's, and cancelling the progress cancels it.
    func perform<Value: Sendable>(
        _ progress: Progress?,
        _ call: @Sendable @escaping () async throws -> Value
    ) async throws -> Value {
        do {
            guard let progress else { return try await call() }
            let work = Task { try await call() }
            progress.cancellationHandler = { work.cancel() }
            defer { progress.cancellationHandler = nil }
            if progress.isCancelled { work.cancel() }
            return try await withTaskCancellationHandler {
                try await work.value
            } onCancel: {
                work.cancel()
            }
        } catch {
            throw asURLError(error)
        }
    }

    func asURLError(_ error: any Error) -> URLError {
        (error as? URLError) ?? URLError(error, for: url)
    }

    func head(_ response: Response) throws -> HTTPURLResponse {
        try head(url.flatMap { HTTPURLResponse(response, url: $0) }, isLocal: response.transaction == nil)
    }

    func head(_ response: FullResponse) throws -> HTTPURLResponse {
        try head(url.flatMap { HTTPURLResponse(response, url: $0) }, isLocal: response.transaction == nil)
    }

    private func head(_ head: HTTPURLResponse?, isLocal: Bool) throws -> HTTPURLResponse {
        guard let head else {
            throw URLError(.cannotParseResponse, "the head cannot be said in Foundation's words", for: url)
        }
        // A cache that has nothing says so with 504 (RFC 9111, section 5.2.1.7).
        guard !isForCacheOnly || isLocal && head.statusCode != 504 else {
            throw URLError(.resourceUnavailable, "it is not in the cache", for: url)
        }
        return head
    }
}

extension Timeouts {
    /// What `URLRequest.timeoutInterval` asks for: that is how long nothing may happen.
    ///
    /// A request that nobody has set it for says 60 seconds; then the client's own limits hold.
    func limited(by interval: TimeInterval) -> Timeouts? {
        guard interval != URLRequest.defaultTimeout, interval > 0, interval < 1e9 else { return nil }
        let limit = Duration.seconds(interval)
        var timeouts = self
        timeouts.queue = limit
        timeouts.resolve = min(resolve ?? limit, limit)
        timeouts.connect = min(connect ?? limit, limit)
        timeouts.tls = min(tls ?? limit, limit)
        timeouts.write = limit
        timeouts.response = limit
        timeouts.read = limit
        return timeouts
    }
}

extension URLRequest {
    fileprivate static let defaultTimeout: TimeInterval = 60
}

extension Progress {
    func expect(_ head: HTTPURLResponse) {
        totalUnitCount = head.expectedContentLength
        kind = .file
    }

    /// Also where nobody knew before how much it would be.
    func complete() {
        if totalUnitCount != completedUnitCount { totalUnitCount = completedUnitCount }
    }
}
