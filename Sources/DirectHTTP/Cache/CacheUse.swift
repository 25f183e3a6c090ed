/// What a cache had to do with a response.
public enum CacheUse: String, Hashable, Sendable {
    /// It came from the cache, and nobody was asked.
    case hit
    /// It came from the cache and was out of date: the request, or the response, allowed that, or nothing newer
    /// could be had.
    case stale
    /// It came from the cache, after the origin had said that it still holds.
    case revalidated
    /// It came from the origin.
    case miss
    /// Neither was the cache asked, nor the response kept.
    case bypassed
}
