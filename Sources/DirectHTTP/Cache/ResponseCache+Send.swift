package import DirectHTTP1
internal import DirectIO

/// Sends a request on its way past a cache, and notes what goes out where that may be something else.
package typealias CacheForward = @Sendable (Request, SentRequests) async throws -> Response

/// The way of a request through the cache.
extension ResponseCache {
    /// Answers the request with what is kept, or forwards it and keeps the answer.
    ///
    /// `defaults` are the fields that the rest of the way adds where the request has none of that name. Conditions
    /// of the cache's own are in no request but the one that is forwarded.
    package func send(
        _ request: Request,
        url: HTTPURL,
        defaults: Headers = Headers(),
        _ forward: @escaping CacheForward
    ) async throws -> Response {
        let question = CacheQuestion(request, defaults: defaults)
        guard let key = CacheKey(url) else { return try await forward(request, SentRequests()) }
        let trip = CacheTrip(
            cache: self,
            key: key,
            url: url,
            request: request,
            question: question,
            forward: forward
        )
        var response = try await trip.run()
        let use = response.cacheUse ?? .bypassed
        response.cacheUse = use
        count(use)
        return response
    }
}

/// One request, the cache and the rest of the way.
struct CacheTrip: Sendable {
    let cache: ResponseCache
    let key: CacheKey
    let url: HTTPURL
    let request: Request
    let question: CacheQuestion
    let forward: CacheForward
    /// What went out for it.
    let sentRequests = SentRequests()

    func run() async throws -> Response {
        guard !question.passes else { return try await question.control.onlyIfCached ? refusal() : pass() }
        let stored = await cache.store.find(key, question.fields)
        switch question.plan(stored?.head, at: cache.clock()) {
        case .serve(let isStale):
            // A part may not be had of it, or its file may be broken: then the origin has to answer.
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

    private func refusal() throws -> Response {
        try Response(to: request, .gatewayTimeout).with(.miss)
    }

    /// Not a question for a cache, but perhaps news for it.
    private func pass() async throws -> Response {
        let sent = cache.clock()
        let response = try await forward(request, sentRequests)
        for url in Invalidation.urls(of: request.method, url, response.head) {
            if let key = CacheKey(url) { await cache.forget(key) }
        }
        guard request.method == .post, !question.control.noStore else { return response.with(.bypassed) }
        let head = CachedHead(received: response.head, requestTime: sent, responseTime: cache.clock())
        guard head.standsForGet(of: url, at: cache.clock()) else { return response.with(.bypassed) }
        return await keep(response, head, cache.changes.mark(key))
    }

    /// Asks the origin; what is kept may be confirmed by it, replaced, or the best that can be had.
    func fetch(_ stored: (any CacheEntry)?) async throws -> Response {
        let mark = cache.changes.mark(key)
        let sent = cache.clock()
        var request = request
        let validated = stored.flatMap { question.canValidate($0.head) ? $0 : nil }
        validated?.head.addValidators(to: &request.headers)
        let response: Response
        do {
            response = try await forward(request, sentRequests)
        } catch {
            guard let stored, error.isFailureToReach,
                let consolation = await console(stored, .unreachable)
            else { throw error }
            return consolation
        }
        let times = (sent: sent, received: cache.clock())
        if response.status == .notModified {
            guard let validated else { return await passNotModified(response, stored, times) }
            if let fresh = await revalidated(validated, by: response, times, mark) { return fresh }
            // It speaks of something that we do not have.
            await response.body.drain()
            return try await fetch(nil)
        }
        if response.status.isFailureOfServer, let stored,
            let consolation = await console(stored, .serverError)
        {
            await response.body.drain()
            return consolation
        }
        return await take(response, stored, times, mark)
    }

    /// A response of the origin's own.
    private func take(
        _ response: Response,
        _ stored: (any CacheEntry)?,
        _ times: (sent: UnixTime, received: UnixTime),
        _ mark: KeyChanges.Mark
    ) async -> Response {
        if request.method == .head {
            if let stored { await learn(fromHead: response.head, stored, times) }
            return response.with(.miss)
        }
        let head = CachedHead(received: response.head, requestTime: times.sent, responseTime: times.received)
        guard head.isStorable(question, at: times.received) else { return response.with(.miss) }
        return await keep(response, head, mark)
    }

    /// The caller's own condition held. That may be news about what is kept, too.
    private func passNotModified(
        _ response: Response,
        _ stored: (any CacheEntry)?,
        _ times: (sent: UnixTime, received: UnixTime)
    ) async -> Response {
        if let stored, let tag = EntityTag(response.head.headers), !tag.isWeak, tag == stored.head.entityTag,
            wasSentAsSeen(stored.variant.names)
        {
            let head = stored.head.freshened(
                by: response.head,
                requestTime: times.sent,
                responseTime: times.received
            )
            await refresh(stored, with: head)
        }
        return response.with(.miss)
    }

    /// Whether what came back is an answer to the request that the cache has seen. Else it is for the caller alone, and
    /// nothing that is kept is changed by it.
    func wasSentAsSeen(_ names: SelectingNames) -> Bool {
        sentRequests.agree(with: question, for: url, selecting: names)
    }

    /// What is kept, confirmed; nothing if the 304 is about something else.
    private func revalidated(
        _ stored: any CacheEntry,
        by response: Response,
        _ times: (sent: UnixTime, received: UnixTime),
        _ mark: KeyChanges.Mark
    ) async -> Response? {
        guard stored.head.isMeant(by: response.head) else { return nil }
        guard let content = try? await stored.content(0..<stored.length) else { return nil }
        let head = stored.head.freshened(
            by: response.head,
            requestTime: times.sent,
            responseTime: times.received
        )
        if !question.control.noStore, !head.control.noStore, cache.changes.mark(key) == mark,
            wasSentAsSeen(stored.variant.names)
        {
            await refresh(stored, with: head)
        }
        return Response(
            head: head.served(at: times.received, confirmed: true),
            body: ResponseBody(content: content),
            url: url,
            transaction: response.transaction
        ).with(.revalidated, history: response.history)
    }

    private func learn(
        fromHead head: ResponseHead,
        _ stored: any CacheEntry,
        _ times: (sent: UnixTime, received: UnixTime)
    ) async {
        guard head.status == .ok, wasSentAsSeen(stored.variant.names) else { return }
        guard stored.head.isConfirmed(byHead: head, length: stored.length) else {
            return await cache.forget(key)
        }
        let fresh = stored.head.freshened(by: head, requestTime: times.sent, responseTime: times.received)
        await refresh(stored, with: fresh)
    }

    /// The newer head takes the older one's place; unless it selects requests in another way, for then what is kept
    /// may not be for those that it was kept for.
    private func refresh(_ stored: any CacheEntry, with head: CachedHead) async {
        guard SelectingNames(head.headers, to: question.fields) == stored.variant.names else {
            return await cache.forget(key)
        }
        await cache.store.replaceHead(stored, with: head)
    }

    private func console(_ stored: any CacheEntry, _ failure: CacheFailure) async -> Response? {
        guard question.conditions.isEmpty, question.range == nil,
            question.isConsoled(by: stored.head, at: cache.clock(), failure, cache.patience)
        else { return nil }
        return await serve(stored, isStale: true)
    }
}

extension Response {
    func with(_ use: CacheUse, history: [Hop]? = nil) -> Response {
        var response = self
        response.cacheUse = use
        if let history { response.history = history }
        return response
    }
}

extension Status {
    /// RFC 5861, section 4.
    fileprivate var isFailureOfServer: Bool {
        switch code {
        case 500, 502, 503, 504: true
        default: false
        }
    }
}

extension Error {
    /// Whether nobody answered. Somebody who cannot prove who he is has, and who may not be asked was not: both
    /// must be seen.
    fileprivate var isFailureToReach: Bool {
        guard let error = self as? HTTPError else { return false }
        if case .refused = error.reason { return false }
        return switch error.phase {
        case .resolve, .connect, .write, .response: true
        default: false
        }
    }
}
