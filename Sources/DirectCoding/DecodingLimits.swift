/// Limits on the growth of content when decoded. All limits hold for every stage of a chain of codings, not
/// only for the last.
package struct DecodingLimits: Equatable, Sendable {
    /// The largest number of bytes that may come out; `nil` means no limit.
    package var size: UInt64?
    /// The largest number of bytes that may come out for each byte that went into the first stage; `nil`
    /// means no limit.
    package var ratio: UInt64?
    /// The size up to which the ratio is not checked: a few kilobytes of blanks are no attack.
    package var unratedSize: UInt64
    /// The largest number of bytes in a row that may go in without output; `nil` means no limit. It is
    /// checked after each piece of input, so somewhat more may go in.
    package var inputWithoutOutput: UInt64?

    /// Creates limits, by default those of a client.
    package init(
        size: UInt64? = nil,
        ratio: UInt64? = 200,
        unratedSize: UInt64 = 1 << 20,
        inputWithoutOutput: UInt64? = 1 << 20
    ) {
        self.size = size
        self.ratio = ratio
        self.unratedSize = unratedSize
        self.inputWithoutOutput = inputWithoutOutput
    }

    /// The part of `room` that a stage may fill after it has made `made` bytes. It may make one byte more
    /// than the limit: otherwise there would be no way to see that the content goes on.
    func room(_ room: Int, after made: UInt64) -> Int {
        guard let size, size < .max else { return room }
        return Int(clamping: min(UInt64(room), size - min(size, made) + 1))
    }

    /// Throws if `wireBytes` bytes of input may not decode to `made` bytes.
    func check(_ made: UInt64, from wireBytes: UInt64) throws(CodingError) {
        if let size, made > size { throw .tooLarge(limit: size) }
        guard let ratio, made > unratedSize else { return }
        let (bound, overflows) = wireBytes.multipliedReportingOverflow(by: ratio)
        guard overflows || made <= bound else { throw .ratioTooHigh(limit: ratio) }
    }

    /// Throws if more bytes than allowed have gone in since the last output.
    func check(inputWithoutOutput count: UInt64) throws(CodingError) {
        guard let limit = inputWithoutOutput, count > limit else { return }
        throw .inputWithoutOutput(limit: limit)
    }
}
