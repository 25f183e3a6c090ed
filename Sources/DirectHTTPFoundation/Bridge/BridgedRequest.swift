internal import DirectHTTP
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// A request of Foundation's on its way through a client of ours.
struct BridgedRequest: Sendable {
    private let request: Request
    private let hasCache: Bool
    let url: URL?
    /// The caller wants an answer from a cache or none at all.
    private let isForCacheOnly: Bool

    init(
        _ original: URLRequest,
        _ settings: HTTPClient.Settings,
        body: RequestBody? = nil,
        _ session: URLSessionConfiguration? = nil
    ) {
        var request = Request(original)
        if let body { request.body = body }
        if let timeouts = settings.timeouts.limited(by: original.timeoutInterval, session) {
            request.timeouts = RequestTimeouts(timeouts)
        }
        if !original.httpShouldHandleCookies { request.cookies = NoCookies() }
        self.request = request
        hasCache = settings.cache != nil
        url = original.url
        isForCacheOnly = original.cachePolicy == .returnCacheDataDontLoad
    }

    /// The request, unless there can be no answer.
    func checked() throws(URLError) -> Request {
        guard !isForCacheOnly || hasCache else {
            throw URLError(.resourceUnavailable, "the client has no cache to answer from", for: url)
        }
        return request
    }

    /// Runs the call; its errors become Foundation's. The progress is told how far it is, and may cancel it.
    func perform<Value: Sendable>(
        _ progress: Progress?,
        _ call: @Sendable @escaping (BridgedRequest, Request) async throws -> Value
    ) async throws -> Value {
        do {
            return try await perform(checked(), progress, call)
        } catch {
            throw asURLError(error)
        }
    }

    private func perform<Value: Sendable>(
        _ request: Request,
        _ progress: Progress?,
        _ call: @Sendable @escaping (BridgedRequest, Request) async throws -> Value
    ) async throws -> Value {
        guard let progress else { return try await call(self, request) }
        let sum = TransferSum(progress)
        var request = request
        sum.watch(&request)
        let work = Task { [request] in try await call(self, request) }
        progress.cancellationHandler = { work.cancel() }
        defer { progress.cancellationHandler = nil }
        if progress.isCancelled { work.cancel() }
        let value = try await withTaskCancellationHandler {
            try await work.value
        } onCancel: {
            work.cancel()
        }
        sum.complete()
        return value
    }

    func asURLError(_ error: any Error) -> URLError {
        (error as? URLError) ?? URLError(error, for: url)
    }

    func head(_ response: Response, headers: Headers? = nil) throws -> HTTPURLResponse {
        let url = try responseURL(response.url, response.history)
        let head = HTTPURLResponse(
            status: response.status,
            version: response.version,
            headers: headers ?? response.headers,
            url: url
        )
        return try checked(head, isLocal: response.transaction == nil)
    }

    func head(_ response: FullResponse) throws -> HTTPURLResponse {
        let url = try responseURL(response.url, response.history)
        let head = HTTPURLResponse(
            status: response.status,
            version: response.version,
            headers: response.headers,
            url: url
        )
        return try checked(head, isLocal: response.transaction == nil)
    }

    /// The caller's own URL, to the letter, unless the response came from another one: after a redirect, or because the
    /// host wants to be asked over TLS only.
    private func responseURL(_ url: HTTPURL, _ history: [Hop]) throws -> URL {
        let isOwn = try request.url.withoutCredentials == url
        let hasMoved = !isOwn || history.contains { $0.reason == .redirect }
        guard let found = hasMoved ? URL(url) : self.url else {
            throw URLError(
                .cannotParseResponse,
                "Foundation cannot read the URL of the response",
                for: self.url
            )
        }
        return found
    }

    private func checked(_ head: HTTPURLResponse?, isLocal: Bool) throws -> HTTPURLResponse {
        guard let head else {
            throw URLError(.cannotParseResponse, "Foundation cannot hold the head of the response", for: url)
        }
        // A cache that has nothing says so with 504 (RFC 9111, section 5.2.1.7).
        guard !isForCacheOnly || isLocal && head.statusCode != 504 else {
            throw URLError(.resourceUnavailable, "it is not in the cache", for: url)
        }
        return head
    }
}

extension Timeouts {
    /// What `timeoutInterval` of a request asks for, else the session's: that is how long nothing may happen. The
    /// session may also bound the whole.
    ///
    /// Where nobody has set anything it says 60 seconds, and a week for the whole: then the client's limits hold.
    func limited(by interval: TimeInterval, _ session: URLSessionConfiguration?) -> Timeouts? {
        let intervals = [interval, session?.timeoutIntervalForRequest ?? URLRequest.defaultTimeout]
        let limit = intervals.first { $0 != URLRequest.defaultTimeout }.flatMap(Duration.init(sane:))
        let whole = session.map(\.timeoutIntervalForResource).flatMap(Duration.init(sane:))
        guard limit != nil || whole != nil else { return nil }
        var timeouts = self
        if let limit { timeouts.limitPhases(limit) }
        if let whole { timeouts.total = min(total ?? whole, whole) }
        return timeouts
    }

    private mutating func limitPhases(_ limit: Duration) {
        queue = limit
        resolve = min(resolve ?? limit, limit)
        connect = min(connect ?? limit, limit)
        tls = min(tls ?? limit, limit)
        write = limit
        response = limit
        read = limit
    }
}

extension Duration {
    /// Nothing for what means no limit at all, as a week does to URLSession.
    fileprivate init?(sane interval: TimeInterval) {
        guard interval > 0, interval < 604_800 else { return nil }
        self = .seconds(interval)
    }
}

extension URLRequest {
    fileprivate static let defaultTimeout: TimeInterval = 60
}
