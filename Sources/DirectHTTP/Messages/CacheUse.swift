/// The part that a cache had in a response.
public enum CacheUse: String, Hashable, Sendable {
    /// The response came from the cache, without a request to the origin.
    case hit
    /// The response came from the cache and was stale. The request or the response allowed that, or no newer
    /// response was available.
    case stale
    /// The response came from the cache, after the origin had confirmed it.
    case revalidated
    /// The response came from the origin.
    case miss
    /// The cache was not consulted, and the response was not stored.
    case bypassed
}
