internal import DirectHTTP1
internal import DirectTransport

extension CacheLookup {
    /// Returns the response from the cache entry, or `nil` if the entry cannot answer the request.
    ///
    /// - Parameter isStandIn: Whether the response stands in for one that could not be had.
    func serve(_ stored: any CacheEntry, isStale: Bool, isStandIn: Bool = false) async -> Response? {
        let now = cache.clock()
        let use = isStale ? CacheUse.stale : .hit
        if question.conditions.hold(for: stored.head, now: now) {
            return response(stored.head.notModified(at: now), content: .none).with(use)
        }
        if request.method == .head {
            return response(stored.head.served(at: now, confirmed: false), content: .none).with(use)
        }
        var head = stored.head.served(at: now, confirmed: false)
        var range = 0..<stored.length
        if let asked = question.range, stored.head.head.status == .ok {
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
    /// Returns it unchanged if it cannot be cached.
    func keep(_ response: Response, head: CachedHead, mark: CacheMark?) async -> Response {
        let response = response.with(.miss)
        guard let mark, head.hasCertainEnd(response.headers, url: url),
            let names = VaryNames(response.headers, to: question.fields),
            let variant = CacheVariant(names, question.fields),
            mayChangeCache(response, selecting: names)
        else { return response }
        func plan(_ length: UInt64?) -> DraftPlan {
            DraftPlan(key: key, variant: variant, mark: mark, head: head, length: length)
        }
        switch response.body.content {
        case .complete(let bytes, _, _):
            guard let draft = cache.store.draft(plan(UInt64(bytes.count)), wait: wait),
                bytes.isEmpty ? true : await draft.append(bytes)
            else { return response }
            await draft.commit()
            return response
        case .arriving(let body):
            let length = response.headers["Content-Length"].flatMap { UInt64($0) }
            guard let draft = cache.store.draft(plan(length), wait: wait) else { return response }
            var kept = response
            let fill = CacheFill(body, into: draft, length: length)
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
            question: CacheRequestPolicy(
                request,
                defaults: question.fields.defaults,
                owner: question.fields.owner
            ),
            wait: wait,
            refresh: refresh,
            forward: refresh
        )
        cache.background.start(key.digest) {
            guard let response = try? await lookup.fetch(stored) else { return }
            guard case .arriving(let body) = response.body.content else { return }
            // A body that is not being cached has no reader here.
            guard let fill = body.idleSource as? CacheFill else { return await body.drain() }
            while fill.isCopying, (try? await body.next()) != nil {}
        }
    }
}
