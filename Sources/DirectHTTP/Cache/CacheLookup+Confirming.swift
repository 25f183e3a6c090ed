internal import DirectCore
internal import DirectHTTP1

/// What a 304, or a response to HEAD, says of a stored response (RFC 9111, sections 4.3.4 and 4.3.5).
extension CacheLookup {
    /// Handles a 304 to a condition of the caller's own. It may also confirm the entry.
    func passNotModified(
        _ response: Response,
        stored: (any CacheEntry)?,
        times: (sent: UnixTime, received: UnixTime)
    ) async -> Response {
        if let stored, let tag = EntityTag(response.head.headers), !tag.isWeak, tag == stored.head.entityTag,
            mayChangeCache(response, selecting: stored.variant.names)
        {
            let head = stored.head.updated(
                by: response.head,
                requestTime: times.sent,
                responseTime: times.received
            )
            await refresh(stored, with: head)
        }
        return response.with(.miss)
    }

    /// Returns the entry's response after a 304; `nil` if the 304 is about another version, which removes the
    /// entry.
    func revalidated(
        _ stored: any CacheEntry,
        by response: Response,
        times: (sent: UnixTime, received: UnixTime)
    ) async -> Response? {
        guard stored.head.isMeant(by: response.head) else {
            // Otherwise later requests would ask about the same version again.
            if mayChangeCache(response, selecting: stored.variant.names) {
                await cache.store.remove(key, wait: wait)
            }
            return nil
        }
        guard let content = try? await stored.content(0..<stored.length, wait: wait) else { return nil }
        let head = stored.head.updated(
            by: response.head,
            requestTime: times.sent,
            responseTime: times.received
        )
        if !question.control.noStore, !head.control.noStore,
            mayChangeCache(response, selecting: stored.variant.names)
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

    /// Updates the entry from the response to a HEAD request, or removes it if the response does not match
    /// it.
    func learn(
        fromHead response: Response,
        _ stored: any CacheEntry,
        times: (sent: UnixTime, received: UnixTime)
    ) async {
        let head = response.head
        guard head.status == .ok, mayChangeCache(response, selecting: stored.variant.names) else { return }
        guard stored.head.isConfirmed(byHead: head, length: stored.length) else {
            return await cache.store.remove(key, wait: wait)
        }
        let fresh = stored.head.updated(by: head, requestTime: times.sent, responseTime: times.received)
        await refresh(stored, with: fresh)
    }

    /// Replaces the head of the entry by a newer one.
    ///
    /// If the newer head names other fields in `Vary`, the entry is removed instead, since it may no longer
    /// be for the requests that it was stored for.
    private func refresh(_ stored: any CacheEntry, with head: CachedHead) async {
        guard VaryNames(head.headers, to: question.fields) == stored.variant.names else {
            return await cache.store.remove(key, wait: wait)
        }
        await cache.store.replaceHead(stored, with: head, wait: wait)
    }
}
