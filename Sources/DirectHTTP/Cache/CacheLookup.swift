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
    /// - Parameter asker: The asker; `nil` to see only what the request itself shows.
    /// - Parameter wait: How long to wait for the disk.
    /// - Parameter refresh: Sends a request for which no caller waits; `nil` for `forward`.
    /// - Parameter forward: Sends a request to the origin. Only this request contains the conditions that the
    ///   cache adds to revalidate an entry.
    package func send(
        _ request: Request,
        defaults: HTTPHeaders = HTTPHeaders(),
        asker: Asker? = nil,
        wait: DiskWait = .unlimited,
        refresh: CacheForward? = nil,
        forward: @escaping CacheForward
    ) async throws -> Response {
        let url = try request.checkedURL()
        let asker = asker ?? Asker(request.headers, own: defaults.identifying)
        let policy = CacheRequestPolicy(request, defaults: defaults, asker: asker)
        guard let key = CacheKey(url) else { return try await forward(request, SentRequests()) }
        let lookup = CacheLookup(
            cache: self,
            key: key,
            url: url,
            request: request,
            policy: policy,
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
/// - Pass: the request is not one that a cache can answer. Its response may still invalidate entries.
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
    let policy: CacheRequestPolicy
    let wait: DiskWait
    let refresh: CacheForward
    let forward: CacheForward
    /// The requests that were sent below the cache for this one.
    let sentRequests = SentRequests()

    func run() async throws -> Response {
        guard !policy.passes else { return try await policy.control.onlyIfCached ? refusal() : pass() }
        let stored = try await cache.store.find(key, fields: policy.fields, wait: wait)
        switch policy.plan(stored?.head, at: cache.clock()) {
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

    /// Forwards a request that the cache cannot answer. The response may still invalidate entries.
    private func pass() async throws -> Response {
        let response = try await forward(request, sentRequests)
        for url in Invalidation.urls(of: request.method, url, response: response.head) {
            if let changed = CacheKey(url) { await cache.store.remove(changed, wait: wait) }
        }
        return response.with(.bypassed)
    }

    /// Sends the request to the origin. Its answer confirms the entry or replaces it, or the entry is used
    /// although stale.
    func fetch(_ stored: (any CacheEntry)?) async throws -> Response {
        let mark = policy.mayBeStored ? try await cache.store.mark(key, wait: wait) : nil
        let (sent, number) = (cache.clock(), CachedHead.nextRequestNumber())
        var request = request
        let validated = stored.flatMap { policy.canValidate($0.head) ? $0 : nil }
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
        let times = Times(sent: sent, received: cache.clock(), number: number)
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
    @inline(never)
    private func take(
        _ response: Response,
        stored: (any CacheEntry)?,
        times: Times,
        mark: CacheMark?
    ) async -> Response {
        if request.method == .head {
            if let stored { await learn(fromHead: response, stored, times: times) }
            return response.with(.miss)
        }
        var head = CachedHead(received: response.head, requestTime: times.sent, responseTime: times.received)
        head.requestNumber = times.number
        // What a transport brought from elsewhere is no response to this request.
        let isFromElsewhere = response.url.withoutFragment != url.withoutFragment
        guard !isFromElsewhere else { return response.with(.miss) }
        if head.isStorable(policy, at: times.received),
            let kept = await keep(response, head: head, mark: mark, insteadOf: stored)
        {
            return kept.with(.miss)
        }
        if let stored { await supersede(stored, by: response) }
        return response.with(.miss)
    }

    /// Removes the entry in whose place the response would be if it could be stored. The program has seen
    /// this one, and would go back in time.
    private func supersede(_ stored: any CacheEntry, by response: Response) async {
        guard response.status.tellsOfResource, mayChangeCache(response, selecting: stored.variant.names)
        else { return }
        // A part of it is no news, nor is the whole in place of a part.
        if policy.range != nil, response.status.isSuccess, stored.head.isMeant(by: response.head) { return }
        await cache.store.remove(key, wait: wait)
    }

    /// Whether the response answers the request that the cache has seen, and its server has proved to be the
    /// host. Otherwise it is for the caller alone, and no cache entry is made or changed by it.
    ///
    /// - Parameter names: The fields that select the response, or the entry that it is about.
    func mayChangeCache(_ response: Response, selecting names: VaryNames) -> Bool {
        response.isFromProvedHost(of: url) && sentRequests.agree(with: policy, for: url, selecting: names)
    }

    /// Returns the stale entry in place of a failure, if that is allowed; otherwise `nil`.
    private func serveStaleOnError(_ stored: any CacheEntry, failure: CacheFailure) async -> Response? {
        guard policy.conditions.isEmpty, policy.range == nil,
            policy.servesStaleOnError(
                by: stored.head,
                at: cache.clock(),
                failure,
                staleLimits: cache.staleLimits
            )
        else { return nil }
        return await serve(stored, isStale: true, isStandIn: true)
    }
}

/// When a request was sent and its response came, and the number of the request.
private struct Times {
    let sent, received: UnixTime
    let number: UInt64
}

extension CachedHead {
    fileprivate func updated(by head: ResponseHead, _ times: Times) -> CachedHead {
        var updated = updated(by: head, requestTime: times.sent, responseTime: times.received)
        updated.requestNumber = times.number
        return updated
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
    /// Whether the answer says how the resource is now, or that it is there no more for the one who asks.
    fileprivate var tellsOfResource: Bool {
        switch code {
        case 200..<400, 401, 403, 404, 410, 451: true
        default: false
        }
    }

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

/// A 304, or a response to HEAD, and the stored response that it speaks of (RFC 9111, sections 4.3.4, 4.3.5).
extension CacheLookup {
    /// Handles a 304 to a condition of the caller's own. It may also confirm the entry.
    private func passNotModified(
        _ response: Response,
        stored: (any CacheEntry)?,
        times: Times
    ) async -> Response {
        if let stored, let tag = EntityTag(response.head.headers), !tag.isWeak, tag == stored.head.entityTag,
            mayChangeCache(response, selecting: stored.variant.names)
        {
            await refresh(stored, with: stored.head.updated(by: response.head, times))
        } else if let stored, !stored.head.isMeant(by: response.head) {
            await supersede(stored, by: response)
        }
        return response.with(.miss)
    }

    /// Returns the entry's response after a 304; `nil` if the 304 is about another version, which removes the
    /// entry.
    private func revalidated(
        _ stored: any CacheEntry,
        by response: Response,
        times: Times
    ) async -> Response? {
        guard stored.head.isMeant(by: response.head) else {
            // Otherwise later requests would ask about the same version again.
            if mayChangeCache(response, selecting: stored.variant.names) {
                await cache.store.remove(key, wait: wait)
            }
            return nil
        }
        guard let content = try? await stored.content(0..<stored.length, wait: wait) else { return nil }
        let head = stored.head.updated(by: response.head, times)
        if mayChangeCache(response, selecting: stored.variant.names) { await refresh(stored, with: head) }
        return Response(
            head: head.served(at: times.received, confirmed: true),
            body: ResponseBody(content: content),
            url: url,
            transaction: response.transaction
        ).with(.revalidated, history: response.history)
    }

    /// Updates the entry from the response to a HEAD request, or removes it if the response does not match
    /// it.
    private func learn(
        fromHead response: Response,
        _ stored: any CacheEntry,
        times: Times
    ) async {
        let head = response.head
        guard head.status == .ok, stored.head.isConfirmed(byHead: head, length: stored.length) else {
            return await supersede(stored, by: response)
        }
        guard mayChangeCache(response, selecting: stored.variant.names) else { return }
        await refresh(stored, with: stored.head.updated(by: head, times))
    }

    /// Replaces the head of the entry by a newer one.
    ///
    /// If the newer head names other fields in `Vary`, the entry is removed instead, since it may no longer
    /// be for the requests that it was stored for. With `no-store` nothing of it is kept.
    private func refresh(_ stored: any CacheEntry, with head: CachedHead) async {
        guard !policy.control.noStore, !head.control.noStore else { return }
        guard VaryNames(head.headers, to: policy.fields) == stored.variant.names else {
            return await cache.store.remove(key, wait: wait)
        }
        await cache.store.replaceHead(stored, with: head, wait: wait)
    }
}

extension CacheLookup {
    /// Returns the response from the cache entry, or `nil` if the entry cannot answer the request.
    ///
    /// - Parameter isStandIn: Whether the response stands in for one that could not be had.
    func serve(_ stored: any CacheEntry, isStale: Bool, isStandIn: Bool = false) async -> Response? {
        let now = cache.clock()
        let use = isStale ? CacheUse.stale : .hit
        if policy.conditions.hold(for: stored.head, now: now) {
            return response(stored.head.notModified(at: now), content: .none).with(use)
        }
        if request.method == .head {
            return response(stored.head.served(at: now, confirmed: false), content: .none).with(use)
        }
        var head = stored.head.served(at: now, confirmed: false)
        var range = 0..<stored.length
        if let asked = policy.range, stored.head.head.status == .ok {
            guard let part = ByteRange.parse(asked, length: stored.length) else { return nil }
            head = stored.head.partial(part, of: stored.length, at: now)
            range = part
        }
        let wait = isStandIn ? wait.forStandIn : wait
        guard let content = try? await stored.content(range, wait: wait) else { return nil }
        return response(head, content: content).with(use)
    }

    private func response(_ head: ResponseHead, content: ResponseBody.Storage?) -> Response {
        let content = content ?? .complete([], HTTPHeaders(), nil)
        return Response(head: head, body: ResponseBody(content: content), url: url, transaction: nil)
    }

    /// Returns the response with a body that is copied into the cache as the caller reads it.
    ///
    /// Returns `nil` if it cannot be cached.
    private func keep(
        _ response: Response,
        head: CachedHead,
        mark: CacheMark?,
        insteadOf stored: (any CacheEntry)?
    ) async -> Response? {
        guard let mark, response.isMadeWhole || head.hasCertainEnd(response.headers, url: url),
            let names = VaryNames(response.headers, to: policy.fields),
            let variant = CacheVariant(names, policy.fields, key: cache.store.digestKey),
            mayChangeCache(response, selecting: names)
        else { return nil }
        func plan(_ length: UInt64?) -> DraftPlan {
            DraftPlan(key: key, variant: variant, mark: mark, head: head, length: length)
        }
        switch response.body.content {
        case .complete(let bytes, _, _):
            guard let draft = cache.store.draft(plan(UInt64(bytes.count)), wait: wait),
                bytes.isEmpty ? true : await draft.append(bytes)
            else { return nil }
            await draft.commit()
            return response
        case .arriving(let body):
            let length = head.headers["Content-Length"].flatMap { UInt64($0) }
            guard let draft = cache.store.draft(plan(length), wait: wait) else { return nil }
            var kept = response
            var supersede: (@Sendable () async -> Void)?
            if let stored, !stored.head.isMeant(by: response.head) {
                supersede = { [cache, key, wait] in await cache.store.remove(key, wait: wait) }
            }
            let fill = CacheFill(body, into: draft, length: length, otherwise: supersede)
            kept.body = ResponseBody(content: .arriving(GuardedBody(fill)))
            return kept
        }
    }

    /// Fetches a newer response in the background for later requests, at most once at a time for each key.
    func revalidateMeanwhile(_ stored: any CacheEntry) {
        var request = request
        request.method = .get
        for name in ["Range", "If-None-Match", "If-Modified-Since", "Cache-Control", "Pragma"] {
            request.headers.remove(name)
        }
        let lookup = CacheLookup(
            cache: cache,
            key: key,
            url: url,
            request: request,
            policy: CacheRequestPolicy(
                request,
                defaults: policy.fields.defaults,
                asker: policy.fields.asker
            ),
            wait: wait,
            refresh: refresh,
            forward: refresh
        )
        cache.background.start([key.digest, stored.variant.digest], on: wait.limit.threads) {
            guard let response = try? await lookup.fetch(stored) else { return }
            guard case .arriving(let body) = response.body.content else { return }
            // A body that is not being cached has no reader here.
            guard let fill = body.idleSource as? CacheFill else { return await body.drain() }
            while fill.isCopying, (try? await body.next()) != nil {}
        }
    }
}
