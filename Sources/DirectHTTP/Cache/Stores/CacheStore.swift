internal import DirectHTTP1

/// Where responses are kept. Nothing in here ever fails a request, but that its time is over: what cannot be kept is not
/// kept, and what cannot be read is not there.
protocol CacheStore: AnyObject, Sendable {
    /// Of the responses kept for that URL the newest that the request selects.
    func find(_ key: CacheKey, _ fields: SelectingFields, _ wait: DiskWait) async throws -> (any CacheEntry)?

    /// Begins to keep a response, whose content has that length as far as is known; `nil` if it is too large.
    func draft(_ plan: DraftPlan, _ wait: DiskWait) -> (any CacheDraft)?

    /// Gives a response that is kept another head; one that has gone meanwhile stays away.
    func replaceHead(_ entry: any CacheEntry, with head: CachedHead, _ wait: DiskWait) async

    /// Forgets all responses for that URL, also where the caller does not wait for it.
    func remove(_ key: CacheKey, _ wait: DiskWait) async

    /// Forgets everything.
    func removeAll() async
}

/// A response that is to be kept.
struct DraftPlan: Sendable {
    let key: CacheKey
    let variant: CacheVariant
    let head: CachedHead
    /// Of its content, as far as is known.
    let length: UInt64?
}

/// A response that is kept. Its content can be read for as long as the entry lives, whatever becomes of the
/// store.
protocol CacheEntry: AnyObject, Sendable {
    var head: CachedHead { get }
    var variant: CacheVariant { get }
    var length: Int { get }

    /// The content, or a part of it that lies within.
    func content(_ range: Range<Int>, _ wait: DiskWait) async throws -> ResponseBody.Content
}

/// A response whose content is still coming. Letting go of it forgets it.
protocol CacheDraft: AnyObject, Sendable {
    /// Takes the next piece; false if it gives up.
    func append(_ piece: [UInt8]) async -> Bool

    /// All has come: from now on the response is found.
    func commit() async
}
