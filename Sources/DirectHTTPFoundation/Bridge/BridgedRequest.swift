internal import DirectCore
internal import DirectHTTP
internal import DirectIO
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// A `URLRequest` converted for one of this package's clients, together with what its response has to become.
struct BridgedRequest: Sendable {
    private let request: Request
    private let hasCache: Bool
    /// The caller's URL as it was written.
    let url: URL?
    /// Whether the caller wants a response from the cache or none at all.
    private let isForCacheOnly: Bool

    /// Converts a request; its problems are reported when it is sent.
    ///
    /// - Parameter body: Replaces the body of the request.
    /// - Parameter session: The session whose time limits, cache policy and additional fields hold as well.
    init(
        _ original: URLRequest,
        _ settings: HTTPClient.Configuration,
        body: RequestBody? = nil,
        _ session: URLSessionConfiguration? = nil
    ) {
        var original = original
        if let session, original.cachePolicy == .useProtocolCachePolicy {
            original.cachePolicy = session.requestCachePolicy
        }
        var request = Request(original, over: session?.httpAdditionalHeaders ?? [:])
        if let languages = Self.languages, !request.headers.contains("Accept-Language"),
            !settings.headers.contains("Accept-Language")
        {
            request.headers.add("Accept-Language", languages)
        }
        if let body { request.body = body }
        if let timeouts = settings.timeouts.limited(by: original.timeoutInterval, session) {
            request.timeouts = RequestTimeouts(timeouts)
        }
        self.request = request
        hasCache = settings.cache != nil
        url = original.url
        isForCacheOnly = original.cachePolicy == .returnCacheDataDontLoad
    }

    /// The user's languages. URLSession names them in each request, and servers choose the text by them.
    private static let languages: String? = {
        let names = Locale.preferredLanguages.prefix(6)
        guard !names.isEmpty else { return nil }
        // The same weights as in Alamofire's default fields.
        return names.enumerated().map { $0 == 0 ? $1 : "\($1);q=0.\(10 - $0)" }.joined(separator: ", ")
    }()

    /// Returns the request, or throws if no response is possible: cached only, and the client has no cache.
    func checked() throws(URLError) -> Request {
        guard !isForCacheOnly || hasCache else {
            throw URLError(.resourceUnavailable, "the client has no cache to answer from", for: url)
        }
        return request
    }

    /// Runs a call, reports its progress, and converts its errors to `URLError`. Cancelling the progress
    /// cancels the call.
    ///
    /// - Parameter client: The client that the call is made with.
    func perform<Value: Sendable>(
        _ progress: Progress?,
        with client: HTTPClient,
        call: @Sendable @escaping (BridgedRequest, Request) async throws -> Value
    ) async throws -> Value {
        do {
            let request = try checked()
            if let progress {
                return try await perform(request, progress, threads: client.threads, call: call)
            }
            guard client.configuration.cookies is FoundationCookies, preferredExecutor() == nil else {
                return try await call(self, request)
            }
            // A reader of a storage waits while it writes its file: not on Swift's own threads.
            return try await withTaskExecutorPreference(client.threads) { try await call(self, request) }
        } catch {
            throw asURLError(error)
        }
    }

    private func perform<Value: Sendable>(
        _ request: Request,
        _ progress: Progress,
        threads: BlockingWork,
        call: @Sendable @escaping (BridgedRequest, Request) async throws -> Value
    ) async throws -> Value {
        guard !progress.isCancelled else { throw CancellationError() }
        let sum = TransferSum(progress)
        var request = request
        sum.watch(&request)
        // A task can be cancelled from outside. It stays where the caller's runs.
        let work = Task(executorPreference: preferredExecutor() ?? threads) { [request] in
            try await call(self, request)
        }
        let former = progress.cancellationHandler
        progress.cancellationHandler = {
            former?()
            work.cancel()
        }
        defer { progress.cancellationHandler = former }
        if progress.isCancelled { work.cancel() }
        let value = try await withTaskCancellationHandler {
            try await work.value
        } onCancel: {
            work.cancel()
        }
        sum.complete()
        return value
    }

    /// Converts an error to a `URLError`.
    func asURLError(_ error: any Error) -> URLError {
        (error as? URLError) ?? URLError(error, for: url)
    }

    /// Returns the head of a response as Foundation's type, optionally with other fields.
    ///
    /// Its URL is the caller's own, exactly as it was written, unless the response came from another one:
    /// after a redirect, or because HSTS changed http to https.
    func head(_ response: Response, headers: HTTPHeaders? = nil) throws -> HTTPURLResponse {
        let isOwn = try request.url.withoutCredentials == response.url
        let hasMoved = !isOwn || response.history.contains { $0.reason == .redirect }
        guard let url = hasMoved ? URL(response.url) : url,
            let head = HTTPURLResponse(response, headers: headers ?? response.headers, url: url)
        else {
            throw URLError(.cannotParseResponse, "Foundation cannot hold the head of the response", for: url)
        }
        // A cache without a response says so with 504 (RFC 9111, section 5.2.1.7).
        guard !isForCacheOnly || response.transaction == nil && head.statusCode != 504 else {
            throw URLError(.resourceUnavailable, "it is not in the cache", for: url)
        }
        return head
    }
}

extension Timeouts {
    /// Foundation's default of `timeoutInterval`.
    private static let foundations: TimeInterval = 60

    /// Applies the request's `timeoutInterval`, otherwise the session's, to each phase of the request, and
    /// the session's `timeoutIntervalForResource` to the whole request.
    ///
    /// Foundation's defaults, 60 seconds and a week, cannot be told from limits that were not set: then the
    /// client's limits hold, and the result is `nil`.
    func limited(by interval: TimeInterval, _ session: URLSessionConfiguration?) -> Timeouts? {
        let intervals = [interval, session?.timeoutIntervalForRequest ?? Self.foundations]
        let limit = intervals.first { $0 != Self.foundations }.flatMap(Duration.init(sane:))
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
    /// Fails for the values that mean no limit; a week is one of them to URLSession.
    fileprivate init?(sane interval: TimeInterval) {
        guard interval > 0, interval < 604_800 else { return nil }
        self = .seconds(interval)
    }
}
