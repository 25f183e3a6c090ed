public import DirectCoding

/// Configures how the content of responses is decoded, and how much it may grow.
public struct DecodingSettings: Hashable, Sendable {
    /// Whether the client asks for coded content and decodes it.
    ///
    /// A request with an `Accept-Encoding` of its own, or a client whose default fields have one, gets its
    /// content as received, whatever this setting says.
    public var isEnabled = true
    /// The codings to ask for. Content in any other coding is decoded as well if this build can decode it;
    /// see ``ContentCoding/available``.
    public var codings: [ContentCoding] = ContentCoding.available
    /// The largest number of decoded bytes that a response may have; `nil` means no limit.
    ///
    /// The limit on content collected in memory, `maximumBufferedBody`, counts decoded bytes as well.
    public var maximumSize: UInt64?
    /// The largest factor by which content may grow when decoded; `nil` means no limit.
    public var maximumRatio: UInt64? = 200
    /// The number of decoded bytes up to which ``maximumRatio`` is not checked.
    package var unratedSize: UInt64 = 1 << 20
    /// The largest number of coded bytes in a row that may decode to nothing, as empty gzip members do; `nil`
    /// means no limit.
    ///
    /// No limit on decoded bytes would end such a response, which may be endless.
    public var maximumInputWithoutOutput: UInt64? = 1 << 20
    /// The largest number of codings, one over the other, that a response may have.
    package var maximumCodings = 5

    /// Creates the default settings.
    public init() {}

    var limits: DecodingLimits {
        DecodingLimits(
            size: maximumSize,
            ratio: maximumRatio,
            unratedSize: unratedSize,
            inputWithoutOutput: maximumInputWithoutOutput
        )
    }

    /// The value of `Accept-Encoding`; `nil` if there is no coding to ask for.
    var acceptEncoding: String? {
        // Every client needs this when it is made, and its first `joined` costs a program 100,000
        // instructions.
        let list = codings.filter(\.isAvailable).reduce("") { $0.isEmpty ? $1.name : "\($0), \($1.name)" }
        return isEnabled && !list.isEmpty ? list : nil
    }
}
