/// How large content may become. All limits hold for every step of a chain of codings, not for the last alone.
package struct DecodingLimits: Hashable, Sendable {
    /// How many bytes may come out.
    package var size: UInt64?
    /// How many bytes may come out for each that went into the first step.
    package var ratio: UInt64?
    /// So much may come out whatever the ratio: a few kilobytes of blanks are no attack.
    package var unratedSize: UInt64
    /// How many bytes in a row may go in of which nothing comes. It is noticed after a piece of input, so some more
    /// may go in.
    package var inputWithoutOutput: UInt64?

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

    /// How much of `room` a step may fill that has made `made` bytes so far. It may make one byte too many:
    /// otherwise nobody would know that there is more.
    func room(_ room: Int, after made: UInt64) -> Int {
        guard let size, size < .max else { return room }
        return Int(clamping: min(UInt64(room), size - min(size, made) + 1))
    }

    /// Whether `made` bytes may have come of `wireBytes`.
    func check(_ made: UInt64, from wireBytes: UInt64) throws(CodingError) {
        if let size, made > size { throw .tooLarge(limit: size) }
        guard let ratio, made > unratedSize else { return }
        let (bound, overflows) = wireBytes.multipliedReportingOverflow(by: ratio)
        guard overflows || made <= bound else { throw .ratioTooHigh(limit: ratio) }
    }

    /// Whether so many bytes may have gone in since something came out.
    func check(inputWithoutOutput count: UInt64) throws(CodingError) {
        guard let limit = inputWithoutOutput, count > limit else { return }
        throw .inputWithoutOutput(limit: limit)
    }
}
