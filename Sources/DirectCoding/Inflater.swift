internal import CDirectZlib

/// One `z_stream` that zlib inflates, at an address that never changes: zlib's state points back to it.
final class Inflater {
    /// The format around the deflated data, as zlib encodes it in the window bits.
    enum Format: Int32 {
        /// Bare deflated data (RFC 1951).
        case raw = -15
        /// A zlib stream (RFC 1950).
        case zlib = 15
        /// A gzip member (RFC 1952).
        case gzip = 31
    }

    /// The result of one call of zlib.
    struct Step {
        var progress = DecodingProgress()
        /// Whether the stream has ended, with correct check values.
        var hasEnded = false
    }

    private let coding: ContentCoding
    private let stream: UnsafeMutablePointer<z_stream>

    init(_ format: Format, for coding: ContentCoding) throws(CodingError) {
        self.coding = coding
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // The call that the macro inflateInit2 expands to.
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit2_(stream, format.rawValue, ZLIB_VERSION, size) == Z_OK else {
            throw .outOfMemory(coding)
        }
    }

    deinit {
        // Has no effect on a stream that was not initialised.
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Starts another stream of the same format.
    func reset() {
        inflateReset(stream)
    }

    /// Sets whether zlib compares the check values of the stream's header and end. It does at first.
    func setChecking(_ isChecking: Bool) {
        inflateValidate(stream, isChecking ? 1 : 0)
    }

    /// Reads at most the header, and returns whether it is complete.
    func readHeader(_ input: UnsafeRawBufferPointer) throws(CodingError) -> (used: Int, isDone: Bool) {
        // zlib demands a non-null output pointer, though it writes nothing before the first block.
        let somewhere = UnsafeMutableRawBufferPointer(start: stream, count: 0)
        let step = try inflate(input, flush: Z_BLOCK, into: somewhere)
        // Bit 7 is set when zlib has reached the start of a block.
        return (step.progress.used, stream.pointee.data_type & 128 != 0)
    }

    /// Inflates until the room is full, the input is used up, or the stream has ended.
    func inflate(
        _ input: UnsafeRawBufferPointer,
        isLast: Bool,
        into room: UnsafeMutableRawBufferPointer
    ) throws(CodingError) -> Step {
        // With Z_FINISH zlib keeps no window if there is room for all of the output.
        try inflate(input, flush: isLast ? Z_FINISH : Z_SYNC_FLUSH, into: room)
    }

    private func inflate(
        _ input: UnsafeRawBufferPointer,
        flush: Int32,
        into room: UnsafeMutableRawBufferPointer
    ) throws(CodingError) -> Step {
        let offered = UInt32(clamping: input.count), free = UInt32(clamping: room.count)
        // zlib does not write to its input; older headers do not declare it const.
        stream.pointee.next_in = UnsafeMutableRawPointer(mutating: input.baseAddress)?
            .assumingMemoryBound(to: Bytef.self)
        stream.pointee.avail_in = offered
        stream.pointee.next_out = room.baseAddress?.assumingMemoryBound(to: Bytef.self)
        stream.pointee.avail_out = free
        let result = CDirectZlib.inflate(stream, flush)
        var step = Step()
        step.progress.used = Int(offered - stream.pointee.avail_in)
        step.progress.made = Int(free - stream.pointee.avail_out)
        switch result {
        // Z_BUF_ERROR means that zlib needs more input or more room, which is no error.
        case Z_OK, Z_BUF_ERROR: break
        case Z_STREAM_END: step.hasEnded = true
        case Z_NEED_DICT: throw .corrupt(coding, detail: "needs a dictionary")
        case Z_MEM_ERROR: throw .outOfMemory(coding)
        default: throw .corrupt(coding, detail: stream.pointee.msg.map { String(cString: $0) } ?? "invalid")
        }
        return step
    }
}
