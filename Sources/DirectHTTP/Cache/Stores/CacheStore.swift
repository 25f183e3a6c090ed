internal import DirectHTTP1

/// Where responses are kept. Nothing in here ever fails a request: what cannot be kept is not kept, and what
/// cannot be read is not there.
protocol CacheStore: AnyObject, Sendable {
    /// Of the responses kept for that URL the newest that the request selects.
    func find(_ key: CacheKey, _ fields: SelectingFields) async -> (any CacheEntry)?

    /// Begins to keep a response, whose content has that length as far as is known; nothing if it is too large.
    func draft(_ key: CacheKey, _ variant: CacheVariant, _ head: CachedHead, length: UInt64?) -> (
        any CacheDraft
    )?

    /// Gives a response that is kept another head; one that has gone meanwhile stays away.
    func replaceHead(_ entry: any CacheEntry, with head: CachedHead) async

    /// Forgets all responses for that URL.
    func remove(_ key: CacheKey) async

    /// Forgets everything.
    func removeAll() async
}

/// A response that is kept. Its content can be read for as long as the entry lives, whatever becomes of the
/// store.
protocol CacheEntry: AnyObject, Sendable {
    var head: CachedHead { get }
    var variant: CacheVariant { get }
    var length: Int { get }

    /// The content, or a part of it that lies within.
    func content(_ range: Range<Int>) async throws -> ResponseBody.Content
}

/// A response whose content is still coming. Letting go of it forgets it.
protocol CacheDraft: AnyObject, Sendable {
    /// Takes the next piece; false if it gives up.
    func append(_ piece: [UInt8]) async -> Bool

    /// All has come: from now on the response is found.
    func commit() async
}
