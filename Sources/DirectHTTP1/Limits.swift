/// Limits on the framing of a response. A response that exceeds one of them fails with an ``HTTP1Error``.
public struct HTTP1Limits: Hashable, Sendable {
    /// The largest number of bytes in a final head together with all interim heads before it.
    public var headBytes = 64 * 1024
    /// The largest number of field lines in one head.
    public var fieldCount = 200
    /// The largest number of bytes in one line of a head or trailer section.
    public var lineBytes = 32 * 1024
    /// The largest number of interim (1xx) responses before the final one.
    package var interimCount = 32
    /// The largest number of bytes of chunk extensions in one body (CVE-2023-39326).
    package var chunkExtensionBytes = 16 * 1024
    /// The largest number of bytes in one trailer section.
    package var trailerBytes = 16 * 1024
    /// The largest number of fields in one trailer section.
    package var trailerCount = 64

    /// Creates the default limits.
    public init() {}

    /// The same limits, raised to the least that any response needs, and lowered to what positions of 32 bits
    /// can hold.
    var sensible: HTTP1Limits {
        var limits = self
        limits.headBytes = min(max(headBytes, 64), 1 << 30)
        limits.lineBytes = min(max(lineBytes, 32), 1 << 30)
        limits.trailerBytes = min(max(trailerBytes, 2), 1 << 30)
        limits.fieldCount = max(fieldCount, 0)
        limits.trailerCount = max(trailerCount, 0)
        return limits
    }
}

/// Faults of old servers that the client may tolerate, each by its own setting. All are off by default.
public struct HTTP1Leniency: Hashable, Sendable {
    /// Accepts lines of a head or trailer section that end in a bare LF (RFC 9112, section 2.2).
    public var acceptsBareLineFeeds = false
    /// Accepts contradictory framing by `Transfer-Encoding`, as RFC 9112 allows in sections 6.1 and 6.3:
    /// beside a `Content-Length`, in HTTP/1.0, and with `chunked` repeated. `identity` before `chunked`, or
    /// alone, is ignored. Any other coding is an error, with or without this setting. The connection is not
    /// reused, because a smuggled response looks the same.
    public var acceptsDoubtfulFraming = false
    /// Accepts lines of the chunked coding that end in a bare LF. The connection is not reused: readers that
    /// disagree about this see different responses (CVE-2025-22871).
    public var acceptsBareLineFeedsInChunks = false
    /// Accepts spaces and tabs between the size of a chunk and the end of its line, as Apache 1.3 sent them.
    /// The connection is not reused: the grammar has no such space (RFC 9112, section 7.1), and readers
    /// disagree about it.
    public var acceptsWhitespaceAfterChunkSizes = false

    /// Creates the strict settings, which tolerate none of these faults.
    public init() {}
}
