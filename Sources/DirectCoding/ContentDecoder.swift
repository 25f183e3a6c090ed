/// Undoes a chain of codings piece by piece.
///
/// Nothing is decoded before it is asked for, and a question decodes at most one piece. Whatever a step of the
/// chain makes is counted and checked before the next step, or anybody else, sees it.
package final class ContentDecoder {
    /// What a question leads to.
    package enum Step {
        /// The next decoded bytes, never none.
        case piece([UInt8])
        /// Nothing more comes of the input so far: `feed` or `endInput`.
        case needsInput
        /// Nothing has come of the work of one question, and there is more to do: the next question goes on with it.
        case unfinished
        /// All is decoded, and it was complete.
        case end
    }

    /// How many bytes at most a question decodes.
    package static let pieceSize = 64 * 1024

    /// How many bytes the steps of the chain use and make, taken together, before a question ends, whatever has come
    /// of it: a step in the middle can make gigabytes of a little input, of which the last step makes nothing.
    private static let workOfQuestion = 4 * pieceSize

    /// How many bytes have been fed.
    package private(set) var wireBytes: UInt64 = 0
    /// How many bytes have been handed out.
    package private(set) var decodedBytes: UInt64 = 0
    /// How many bytes the steps of the chain used and made, taken together, for the last question.
    package private(set) var lastWork = 0

    /// In the order in which they undo, the first one next to the wire; made when there is something to undo.
    private var stages: [Stage] = []
    private let codings: [ContentCoding]
    private let limits: DecodingLimits
    private var input: [UInt8] = []
    /// How much of the input has been used.
    private var position = 0
    private var hasInputEnded = false
    /// How many bytes the first stage has used.
    private var usedBytes: UInt64 = 0

    /// One step of the chain, and what it works on.
    private struct Stage {
        let coding: ContentCoding
        let decoder: any StreamDecoder
        var made: UInt64 = 0
        /// How many bytes it has used since it last made something.
        var usedInVain: UInt64 = 0
        /// What the step before has made for this one; the first works on the input itself.
        var buffer: UnsafeMutableRawBufferPointer
        var unused: Range<Int> = 0..<0
        /// Whether nothing will follow in the buffer.
        var hasInputEnded = false
        /// Whether it filled its room, so that more may come without more input.
        var mayHoldMore = false
    }

    private enum Pull {
        case made(Int)
        case needsInput
        case unfinished
        case end
    }

    /// Undoes `codings`, one at least, which are given as `Content-Encoding` has them: the last one applied last.
    package init(undoing codings: [ContentCoding], within limits: DecodingLimits = DecodingLimits()) {
        precondition(!codings.isEmpty, "nothing to undo")
        self.codings = codings
        self.limits = limits
    }

    deinit {
        for stage in stages { stage.buffer.deallocate() }
    }

    /// Gives the next coded bytes. Those before must be used up.
    package func feed(_ piece: [UInt8]) {
        precondition(position == input.count && !hasInputEnded, "there is input that has not been asked for")
        input = piece
        position = 0
        wireBytes += UInt64(piece.count)
    }

    /// Says that no more coded bytes will come.
    package func endInput() {
        hasInputEnded = true
    }

    /// The next piece.
    package func next() throws(CodingError) -> Step {
        // No content at all is none, coded or not: the answer to HEAD says how the content would be coded.
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
            // Little in much memory: the caller may keep it for long.
            return .piece(piece.count < piece.capacity / 2 ? piece.withUnsafeBytes { [UInt8]($0) } : piece)
        }
    }

    /// Enough for a piece. Where all the input is there, gzip says at its end how much comes of it
    /// (RFC 1952, section 2.3.1): no more than a hint, but a good one.
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

    /// Fills the room with what the stage makes, as far as the input reaches.
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

    /// Whether the stage has something to work on; makes the stage before it work if need be.
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

    /// One call of the stage's decoder, which may not make more than the limits allow.
    private func decode(_ index: Int, into room: UnsafeMutableRawBufferPointer) throws(CodingError) -> Int {
        let room = UnsafeMutableRawBufferPointer(
            rebasing: room[..<limits.room(room.count, after: stages[index].made)]
        )
        let progress = try index == 0 ? decodeInput(into: room) : decodeBuffer(of: index, into: room)
        stages[index].mayHoldMore = progress.made == room.count
        stages[index].made += UInt64(progress.made)
        lastWork += progress.used + progress.made
        try limits.check(stages[index].made, from: usedBytes)
        stages[index].usedInVain = progress.made > 0 ? 0 : stages[index].usedInVain + UInt64(progress.used)
        try limits.check(inputWithoutOutput: stages[index].usedInVain)
        return progress.made
    }

    /// One piece of the input, no more: the limits are looked at behind each.
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
