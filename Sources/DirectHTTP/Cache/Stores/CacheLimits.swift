/// The size limits of a cache.
public struct CacheLimits: Hashable, Sendable {
    /// The size of all responses together, in bytes.
    public var bytes: Int
    /// The number of responses.
    public var objects: Int
    /// The size of the largest response, in bytes.
    public var objectBytes: Int

    /// Creates limits.
    ///
    /// - Parameter bytes: The size of all responses together, in bytes.
    /// - Parameter objects: The number of responses.
    /// - Parameter objectBytes: The size of the largest response, in bytes.
    public init(bytes: Int, objects: Int = 20_000, objectBytes: Int) {
        self.bytes = bytes
        self.objects = objects
        self.objectBytes = objectBytes
    }
}
