internal import DirectCore
package import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// Sends a request to the origin, past the cache.
///
/// It notes in the ``SentRequests`` each request as it is sent, if that may differ from the one that the
/// cache has seen.
package typealias CacheForward = @Sendable (Request, SentRequests) async throws -> Response

/// The cache as a step in the processing of a request.
extension ResponseCache {
    /// Answers a request from the cache, or forwards it and stores the response.
    ///
    /// - Parameter request: The request as the caller made it.
    /// - Parameter defaults: The fields that later steps add if the request has none of that name.
    /// - Parameter owner: Whose cookies the request carries.
    /// - Parameter wait: How long to wait for the disk.
    /// - Parameter refresh: Sends a request for which no caller waits; `nil` for `forward`.
    /// - Parameter forward: Sends a request to the origin. Only this request contains the conditions that the
    ///   cache adds to revalidate an entry.
    package func send(
        _ request: Request,
        defaults: HTTPHeaders = HTTPHeaders(),
        owner: CookieOwner = .client,
        wait: DiskWait = .unlimited,
        refresh: CacheForward? = nil,
        forward: @escaping CacheForward
    ) async throws -> Response {
        let url = try request.checkedURL()
        let question = CacheRequestPolicy(request, defaults: defaults, owner: owner)
        guard let key = CacheKey(url) else { return try await forward(request, SentRequests()) }
        let lookup = CacheLookup(
            cache: self,
            key: key,
            url: url,
            request: request,
            question: question,
            wait: wait,
            refresh: refresh ?? forward,
            forward: forward
        )
        var response = try await lookup.run()
        let use = response.cacheUse ?? .bypassed
        response.cacheUse = use
        count(use)
        return response
    }
}

/// The processing of one request by a cache.
///
/// `run` looks for a cache entry and asks `CacheRequestPolicy.plan` what to do with it (RFC 9111):
///
/// - Pass: the request is not one that a cache can answer. Its response may still invalidate or add entries.
/// - Serve: the entry is fresh, or the request allows it to be stale. With `stale-while-revalidate`, a newer
///   response is fetched in the background.
/// - Ask: the origin gets the request, with the entry's validators if the caller sent no conditions of its
///   own. A 304 refreshes the entry and returns it; a new response is stored; if the origin fails or cannot
///   be reached, a stale entry may be returned (`stale-if-error`).
/// - Refuse: 504, since the caller asked for `only-if-cached`.
///
/// If the entry turns out to be unusable before the response begins, because a range cannot be cut out of it
/// or its file is damaged, the origin is asked instead. Damage found later, in large content, ends the body
/// with an error. A response to a request that was sent before its URL was invalidated must not be stored
/// (`CacheMark`), nor bring back an entry that has been removed (`CacheStore.replaceHead`). A response to a
/// request that an interceptor changed in a way that matters is for the caller alone (`SentRequests`), and so
/// is that of a server that has not proved to be the host.
struct CacheLookup: Sendable {
    let cache: ResponseCache
    let key: CacheKey
    let url: HTTPURL
    let request: Request
    let question: CacheRequestPolicy
    let wait: DiskWait
    let refresh: CacheForward
    let forward: CacheForward
    /// The requests that were sent below the cache for this one.
    let sentRequests = SentRequests()

    func run() async throws -> Response {
        guard !question.passes else { return try await question.control.onlyIfCached ? refusal() : pass() }
        let stored = try await cache.store.find(key, fields: question.fields, wait: wait)
        switch question.plan(stored?.head, at: cache.clock()) {
        case .serve(let isStale):
            // The entry may not contain the requested range, or its file may be damaged. Then the origin has
            // to answer.
            if let stored, let response = await serve(stored, isStale: isStale) { return response }
            return try await fetch(nil)
        case .serveAndRevalidate:
            guard let stored, let response = await serve(stored, isStale: true) else {
                return try await fetch(nil)
            }
            revalidateMeanwhile(stored)
            return response
        case .ask: return try await fetch(stored)
        case .refuse: return try refusal()
        }
    }

    /// The response to `only-if-cached` without a suitable entry.
    private func refusal() throws -> Response {
        try Response(to: request, .gatewayTimeout).with(.miss)
    }

    /// Forwards a request that the cache cannot answer. The response may still invalidate entries, or add
    /// one.
    private func pass() async throws -> Response {
        let sent = cache.clock()
        let response = try await forward(request, sentRequests)
        for url in Invalidation.urls(of: request.method, url, response: response.head) {
            if let key = CacheKey(url) { await cache.store.remove(key, wait: wait) }
        }
        guard request.method == .post, !question.isApart, !question.control.noStore else {
            return response.with(.bypassed)
        }
        let head = CachedHead(received: response.head, requestTime: sent, responseTime: cache.clock())
        guard head.standsForGet(of: url, at: cache.clock()) else { return response.with(.bypassed) }
        let mark = try? await cache.store.mark(key, wait: wait)
        return await keep(response, head: head, mark: mark)
    }

    /// Sends the request to the origin. Its answer confirms the entry or replaces it, or the entry is used
    /// although stale.
    func fetch(_ stored: (any CacheEntry)?) async throws -> Response {
        let mark = question.mayBeStored ? try await cache.store.mark(key, wait: wait) : nil
        let sent = cache.clock()
        var request = request
        let validated = stored.flatMap { question.canValidate($0.head) ? $0 : nil }
        validated?.head.addValidators(to: &request.headers)
        let response: Response
        do {
            response = try await forward(request, sentRequests)
        } catch {
            guard let stored, let failure = error as? HTTPError, failure.isFailureToReach,
                let staleOnError = await serveStaleOnError(stored, failure: .unreachable)
            else { throw error }
            return staleOnError.with(.stale, history: failure.history, failure.retryStop)
        }
        let times = (sent: sent, received: cache.clock())
        if response.status == .notModified {
            guard let validated else { return await passNotModified(response, stored: stored, times: times) }
            if let fresh = await revalidated(validated, by: response, times: times) {
                return fresh
            }
            // The 304 is about a response that is not in the cache.
            await response.body.drain()
            return try await fetch(nil)
        }
        if response.status.isFailureOfServer, let stored,
            let staleOnError = await serveStaleOnError(stored, failure: .serverError)
        {
            await response.body.drain()
            return staleOnError.with(.stale, history: response.history, response.retryStop)
        }
        return await take(response, stored: stored, times: times, mark: mark)
    }

    /// Handles a response of the origin that is neither a 304 nor replaced by a stale entry.
    private func take(
        _ response: Response,
        stored: (any CacheEntry)?,
        times: (sent: UnixTime, received: UnixTime),
        mark: CacheMark?
    ) async -> Response {
        if request.method == .head {
            if let stored { await learn(fromHead: response, stored, times: times) }
            return response.with(.miss)
        }
        let head = CachedHead(received: response.head, requestTime: times.sent, responseTime: times.received)
        guard head.isStorable(question, at: times.received) else { return response.with(.miss) }
        return await keep(response, head: head, mark: mark)
    }

    /// Whether the response answers the request that the cache has seen, and its server has proved to be the
    /// host. Otherwise it is for the caller alone, and no cache entry is made or changed by it.
    ///
    /// - Parameter names: The fields that select the response, or the entry that it is about.
    func mayChangeCache(_ response: Response, selecting names: VaryNames) -> Bool {
        response.isFromProvedHost(of: url) && sentRequests.agree(with: question, for: url, selecting: names)
    }

    /// Returns the stale entry in place of a failure, if that is allowed; otherwise `nil`.
    private func serveStaleOnError(_ stored: any CacheEntry, failure: CacheFailure) async -> Response? {
        guard question.conditions.isEmpty, question.range == nil,
            question.servesStaleOnError(
                by: stored.head,
                at: cache.clock(),
                failure,
                staleLimits: cache.staleLimits
            )
        else { return nil }
        return await serve(stored, isStale: true, isStandIn: true)
    }
}

extension Response {
    /// Returns the response with the cache's part in it noted.
    func with(_ use: CacheUse, history: [Hop]? = nil, _ stop: RetryStop? = nil) -> Response {
        var response = self
        response.cacheUse = use
        if let history { response.history = history }
        if let stop { response.retryStop = stop }
        return response
    }
}

extension HTTPStatus {
    /// Whether `stale-if-error` applies to the status (RFC 5861, section 4).
    fileprivate var isFailureOfServer: Bool {
        switch code {
        case 500, 502, 503, 504: true
        default: false
        }
    }
}

extension HTTPError {
    /// Whether no server could be reached or answered, so that a stale response may be used instead.
    ///
    /// A failed TLS handshake does not count, since a server did answer, nor does a destination that the
    /// client's vetting refuses, since it was never asked: the caller must see both errors.
    fileprivate var isFailureToReach: Bool {
        if case .refused = reason { return false }
        switch phase {
        case .resolve, .connect, .write, .response: return true
        case .proxy:
            // Nor one that a proxy refuses, or a proxy that has not proved its name.
            return switch reason {
            case .system, .lookup, .resolver, .timedOut, .connectionClosed: true
            default: false
            }
        default: return false
        }
    }
}
