/// How much of a response's framing is read before it counts as an attack.
public struct HTTP1Limits: Hashable, Sendable {
    /// Bytes of a final head together with all interim heads before it.
    public var headBytes = 64 * 1024
    /// Field lines in one head.
    public var fieldCount = 200
    /// Bytes of one line of a head or trailer section.
    public var lineBytes = 32 * 1024
    /// Interim (1xx) responses before the final one.
    public var interimCount = 32
    /// Bytes of chunk extensions in one body (CVE-2023-39326).
    public var chunkExtensionBytes = 16 * 1024
    /// Bytes of one trailer section.
    public var trailerBytes = 16 * 1024
    /// Fields in one trailer section.
    public var trailerCount = 64

    /// The defaults.
    public init() {}

    /// The same where no number is too small for any response, or too large for a place in 32 bits.
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

/// Faults of old servers that may be overlooked, each only by its name; all are off by default.
public struct HTTP1Leniency: Hashable, Sendable {
    /// Lets a line of a head or trailer section end in LF alone (RFC 9112, section 2.2).
    public var acceptsBareLineFeeds = false
    /// Reads a folded field line as one line, the fold as spaces (RFC 9112, section 5.2); one before the first
    /// field is passed over (section 2.2).
    public var unfoldsLines = false
    /// Reads what names two framings by `Transfer-Encoding`, as RFC 9112 allows in sections 6.1 and 6.3: beside a
    /// `Content-Length`, in HTTP/1.0, and with `chunked` said twice, if nothing else is said; `identity` is passed
    /// over, except behind `chunked`, where it is a coding like any other also without this. The connection serves nobody else, for this is also what a smuggled response looks like.
    public var acceptsDoubtfulFraming = false
    /// Lets the lines of chunks end in LF alone. The connection serves nobody else: readers that disagree about
    /// this see different responses (CVE-2025-22871).
    public var acceptsBareLineFeedsInChunks = false

    /// Strict.
    public init() {}
}
