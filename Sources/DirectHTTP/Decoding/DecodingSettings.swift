public import DirectCoding

/// How the content of responses is decoded, and how much it may grow.
public struct DecodingSettings: Hashable, Sendable {
    /// Whether content is asked for in coded form and decoded at all.
    ///
    /// A request that has an `Accept-Encoding` of its own, or a client whose default fields have one, gets its
    /// content as it comes, whatever stands here.
    public var isEnabled = true
    /// What to ask for. Whatever else comes is decoded as well if this build can.
    public var codings = ContentCoding.available
    /// How many bytes of decoded content a response may have; nothing: any number.
    ///
    /// The limit of what is collected in memory, `maximumBufferedBody`, holds for decoded bytes as well.
    public var maximumSize: UInt64?
    /// By which factor content may grow; nothing: by any.
    public var maximumRatio: UInt64? = 200
    /// Content may become so large whatever the ratio.
    public var unratedSize: UInt64 = 1 << 20
    /// How many bytes of coded content in a row may decode to nothing, as empty members of gzip do; `nil`: any number.
    ///
    /// No limit of decoded bytes ends a response of such content, which may be endless.
    public var maximumInputWithoutOutput: UInt64? = 1 << 20
    /// How many codings, one over the other, a response may have.
    public var maximumCodings = 5

    /// The defaults.
    public init() {}

    var limits: DecodingLimits {
        DecodingLimits(
            size: maximumSize,
            ratio: maximumRatio,
            unratedSize: unratedSize,
            inputWithoutOutput: maximumInputWithoutOutput
        )
    }

    /// The value of `Accept-Encoding`; nothing if there is nothing to ask for.
    var acceptEncoding: String? {
        let names = codings.filter(\.isAvailable).map(\.name)
        return isEnabled && !names.isEmpty ? names.joined(separator: ", ") : nil
    }
}
