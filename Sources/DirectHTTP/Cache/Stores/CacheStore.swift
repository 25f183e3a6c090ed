internal import DirectHTTP1

/// The storage of a cache.
///
/// No operation makes a request fail, except when its time limit expires: a response that cannot be stored is
/// not stored, and one that cannot be read counts as missing. Only damage in large content, found while it is
/// being read, is an error of the body.
protocol CacheStore: AnyObject, Sendable {
    /// The key of the digests that tell the variants of a URL apart; empty where nothing leaves the memory.
    var digestKey: [UInt8] { get }

    /// Returns the latest response for a URL that the request selects.
    func find(_ key: CacheKey, fields: VaryFields, wait: DiskWait) async throws -> (any CacheEntry)?

    /// Returns the present state of a URL, for a response to a request that is sent from now on; `nil` if it
    /// is unknown, and no response can be stored.
    func mark(_ key: CacheKey, wait: DiskWait) async throws -> CacheMark?

    /// Begins to store a response; `nil` if its announced length is too large or there is no room.
    func draft(_ plan: DraftPlan, wait: DiskWait) -> (any CacheDraft)?

    /// Replaces the head of a stored response, unless the response has been removed or replaced in the
    /// meantime.
    func replaceHead(_ entry: any CacheEntry, with head: CachedHead, wait: DiskWait) async

    /// Removes all responses for a URL. The removal takes place even if the caller stops waiting for it.
    func remove(_ key: CacheKey, wait: DiskWait) async

    /// Removes all responses.
    func removeAll() async
}

/// The state of a URL before a request is sent. A removal of the URL's responses ends it, whichever process
/// removes them: the response to a request that was sent before must not be stored afterwards (RFC 9111,
/// section 4.4).
struct CacheMark: Equatable, Sendable {
    /// A random number or a count. Several URLs share one, which only means that some responses are not
    /// stored.
    let number: UInt64
}

/// A response that is about to be stored.
struct DraftPlan: Sendable {
    let key: CacheKey
    let variant: CacheVariant
    /// The state of the URL when the request was sent.
    let mark: CacheMark
    let head: CachedHead
    /// The length of the content; `nil` if it is not known yet.
    let length: UInt64?
}

/// A stored response. Its content can be read for as long as the entry is alive, even after its removal from
/// the store.
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

    /// Completes the response, if the plan's mark still holds: from now on requests can find it. No removal
    /// can come between the question and the completion: so a removal finds the response, or prevents it.
    func commit() async
}
