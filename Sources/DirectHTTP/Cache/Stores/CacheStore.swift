internal import DirectHTTP1

/// The storage of a cache.
///
/// No operation makes a request fail, except when its time limit expires: a response that cannot be stored is not
/// stored, and one that cannot be read counts as missing. Only damage in large content, found while it is being
/// read, is an error of the body.
protocol CacheStore: AnyObject, Sendable {
    /// Returns the latest response for a URL that the request selects.
    func find(_ key: CacheKey, fields: VaryFields, wait: DiskWait) async throws -> (any CacheEntry)?

    /// Begins to store a response; `nil` if its announced length is too large or there is no room.
    func draft(_ plan: DraftPlan, wait: DiskWait) -> (any CacheDraft)?

    /// Replaces the head of a stored response, unless the response has been removed or replaced in the meantime.
    func replaceHead(_ entry: any CacheEntry, with head: CachedHead, wait: DiskWait) async

    /// Removes all responses for a URL. The removal takes place even if the caller stops waiting for it.
    func remove(_ key: CacheKey, wait: DiskWait) async

    /// Removes all responses.
    func removeAll() async
}

/// A response that is about to be stored.
struct DraftPlan: Sendable {
    let key: CacheKey
    let variant: CacheVariant
    let head: CachedHead
    /// The length of the content; `nil` if it is not known yet.
    let length: UInt64?
}

/// A stored response. Its content can be read for as long as the entry is alive, even after its removal from the
/// store.
protocol CacheEntry: AnyObject, Sendable {
    var head: CachedHead { get }
    var variant: CacheVariant { get }
    var length: Int { get }

    /// Returns the content, or the part of it in `range`, which must lie within it.
    func content(_ range: Range<Int>, wait: DiskWait) async throws -> ResponseBody.Storage
}

/// A response whose content is still being received. Releasing it without a commit discards it.
protocol CacheDraft: AnyObject, Sendable {
    /// Adds the next piece. Returns `false` if the response cannot be stored after all.
    func append(_ piece: [UInt8]) async -> Bool

    /// Completes the response, if it is still wanted: from now on requests can find it.
    ///
    /// - Parameter isWanted: Returns `false` as soon as a removal of the response's URL has been announced. It is asked
    ///   when no removal can come between the question and the completion: so a removal finds the response, or prevents it.
    func commit(if isWanted: @escaping @Sendable () -> Bool) async
}
