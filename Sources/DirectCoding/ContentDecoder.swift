/// Decodes a chain of content codings piece by piece.
///
/// Each coding of the chain is one stage. The stages form a pull pipeline: the last stage asks the one before
/// it for bytes, and the first one takes them from the input that `feed` gave.
///
/// The decoder works only when it is asked: `next` decodes at most one piece and does a bounded amount of
/// work, after which it returns even without output (`unfinished`), so that the caller can check its deadline
/// and let other tasks run. When it answers `needsInput`, the caller calls `feed` or `endInput`. The output
/// of every stage is counted and checked against the limits before the next stage, or the caller, sees it.
package final class ContentDecoder {
    /// The result of one call of `next`.
    package enum Step {
        /// The next decoded bytes, at least one.
        case piece([UInt8])
        /// The input so far yields no more output: call `feed` or `endInput`.
        case needsInput
        /// The call has used up its share of work without output. Call `next` again to continue.
        case unfinished
        /// All content is decoded, and it was complete.
        case end
    }

    /// The largest number of bytes that one call decodes.
    package static let pieceSize = 64 * 1024

    /// The number of bytes that all stages together may consume and produce before a call returns, whatever
    /// its output: a stage in the middle can turn a little input into gigabytes of which the last stage makes
    /// no output.
    private static let workOfQuestion = 4 * pieceSize

    /// The number of bytes that have been fed.
    package private(set) var wireBytes: UInt64 = 0
    /// The number of bytes that have been handed out.
    package private(set) var decodedBytes: UInt64 = 0
    /// The number of bytes that all stages together consumed and produced in the last call.
    package private(set) var lastWork = 0

    /// The stages in the order of decoding, the one next to the wire first. They are made when the first
    /// bytes are there.
    private var stages: [Stage] = []
    private let codings: [ContentCoding]
    private let limits: DecodingLimits
    private var input: [UInt8] = []
    /// The number of bytes of the input that have been used.
    private var position = 0
    private var hasInputEnded = false
    /// The number of bytes that the first stage has used.
    private var usedBytes: UInt64 = 0

    /// One stage of the chain, and the bytes it works on.
    private struct Stage {
        let coding: ContentCoding
        let decoder: any StreamDecoder
        var made: UInt64 = 0
        /// The number of bytes it has used since its last output.
        var emptyInput: UInt64 = 0
        /// The output of the stage before, for this one to decode. The first stage works on the input itself.
        var buffer: UnsafeMutableRawBufferPointer
        var unused: Range<Int> = 0..<0
        /// Whether no more bytes will come into the buffer.
        var hasInputEnded = false
        /// Whether it filled its room, so that it may have more output without more input.
        var mayHoldMore = false
    }

    /// The result of pulling bytes from a stage.
    private enum Pull {
        case made(Int)
        case needsInput
        case unfinished
        case end
    }

    /// Creates a decoder for `codings`, at least one, in the order of `Content-Encoding`: the one applied
    /// last at the end.
    package init(undoing codings: [ContentCoding], within limits: DecodingLimits = DecodingLimits()) {
        precondition(!codings.isEmpty, "there are no codings to decode")
        self.codings = codings
        self.limits = limits
    }

    deinit {
        for stage in stages { stage.buffer.deallocate() }
    }

    /// Gives the decoder the next coded bytes. All earlier input must be used up.
    package func feed(_ piece: [UInt8]) {
        precondition(position == input.count && !hasInputEnded, "input was given before it was asked for")
        input = piece
        position = 0
        wireBytes += UInt64(piece.count)
    }

    /// Marks the end of the coded bytes.
    package func endInput() {
        hasInputEnded = true
    }

    /// Decodes the next piece.
    package func next() throws(CodingError) -> Step {
        // Empty content is empty, coded or not: the response to HEAD says how the content would be coded.
        lastWork = 0
        if wireBytes == 0 { return hasInputEnded ? .end : .needsInput }
        if stages.isEmpty { try makeStages() }
        var pull = Pull.needsInput
        var failure: CodingError?
        let piece = [UInt8](unsafeUninitializedCapacity: capacity) { memory, count in
            do throws(CodingError) {
                pull = try self.pull(from: stages.count - 1, into: UnsafeMutableRawBufferPointer(memory))
                if case .made(let made) = pull { count = made }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        switch pull {
        case .needsInput: return .needsInput
        case .unfinished: return .unfinished
        case .end: return .end
        case .made:
            decodedBytes += UInt64(piece.count)
            // A small piece in a large buffer is copied: the caller may keep it for long.
            return .piece(piece.count < piece.capacity / 2 ? piece.withUnsafeBytes { [UInt8]($0) } : piece)
        }
    }

    /// The capacity for a piece. If all of the input is there, the end of a gzip member says how much it
    /// decodes to (RFC 1952, section 2.3.1): only a hint, but a good one.
    private var capacity: Int {
        guard codings == [.gzip], hasInputEnded, position == 0, input.count >= 18 else {
            return Self.pieceSize
        }
        let size = input.suffix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
        return min(Self.pieceSize, max(64, Int(size)))
    }

    private func makeStages() throws(CodingError) {
        for coding in codings.reversed() {
            let decoder = try coding.makeDecoder()
            let size = stages.isEmpty ? 0 : Self.pieceSize / 2
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
            stages.append(Stage(coding: coding, decoder: decoder, buffer: buffer))
        }
    }

    /// Fills the room with the stage's output, as far as the input reaches.
    private func pull(from index: Int, into room: UnsafeMutableRawBufferPointer) throws(CodingError) -> Pull {
        var filled = 0
        while filled < room.count {
            let hasWork = try stages[index].mayHoldMore ? true : hasInput(for: index)
            if lastWork >= Self.workOfQuestion { return filled > 0 ? .made(filled) : .unfinished }
            if !hasWork {
                if filled > 0 { break }
                guard hasInputEnded(before: index) else { return .needsInput }
                guard stages[index].decoder.isAtEnd else { throw .truncated(stages[index].coding) }
                return .end
            }
            filled += try decode(index, into: UnsafeMutableRawBufferPointer(rebasing: room[filled...]))
        }
        return .made(filled)
    }

    /// Whether the stage has input. Lets the stage before it work if it has none.
    private func hasInput(for index: Int) throws(CodingError) -> Bool {
        guard index > 0 else { return position < input.count }
        guard stages[index].unused.isEmpty, !stages[index].hasInputEnded else {
            return !stages[index].unused.isEmpty
        }
        switch try pull(from: index - 1, into: stages[index].buffer) {
        case .made(let count): stages[index].unused = 0..<count
        case .needsInput, .unfinished: return false
        case .end: stages[index].hasInputEnded = true
        }
        return !stages[index].unused.isEmpty
    }

    private func hasInputEnded(before index: Int) -> Bool {
        index == 0 ? hasInputEnded : stages[index].hasInputEnded
    }

    /// Calls the stage's decoder once, with no more room than the limits allow.
    private func decode(_ index: Int, into room: UnsafeMutableRawBufferPointer) throws(CodingError) -> Int {
        let room = UnsafeMutableRawBufferPointer(
            rebasing: room[..<limits.room(room.count, after: stages[index].made)]
        )
        let progress = try index == 0 ? decodeInput(into: room) : decodeBuffer(of: index, into: room)
        stages[index].mayHoldMore = progress.made == room.count
        stages[index].made += UInt64(progress.made)
        lastWork += progress.used + progress.made
        try limits.check(stages[index].made, from: usedBytes)
        stages[index].emptyInput = progress.made > 0 ? 0 : stages[index].emptyInput + UInt64(progress.used)
        try limits.check(inputWithoutOutput: stages[index].emptyInput)
        return progress.made
    }

    /// Decodes at most one piece of the input: the limits are checked after each.
    private func decodeInput(into room: UnsafeMutableRawBufferPointer) throws(CodingError) -> DecodingProgress
    {
        let decoder = stages[0].decoder
        let end = min(input.count, position + Self.pieceSize)
        let isLast = hasInputEnded && end == input.count
        let outcome = input.withUnsafeBytes { bytes in
            Result { () throws(CodingError) in
                let unused = UnsafeRawBufferPointer(rebasing: bytes[position..<end])
                return try decoder.decode(unused, isLast: isLast, into: room)
            }
        }
        let progress = try outcome.get()
        position += progress.used
        usedBytes += UInt64(progress.used)
        return progress
    }

    private func decodeBuffer(
        of index: Int,
        into room: UnsafeMutableRawBufferPointer
    ) throws(CodingError) -> DecodingProgress {
        let unused = UnsafeRawBufferPointer(rebasing: stages[index].buffer[stages[index].unused])
        let progress = try stages[index].decoder.decode(unused, isLast: false, into: room)
        stages[index].unused.removeFirst(progress.used)
        return progress
    }
}
