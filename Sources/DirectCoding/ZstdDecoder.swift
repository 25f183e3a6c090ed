#if Zstd
internal import CDirectZstd

/// Decodes `zstd` (RFC 8878): one frame after the other, skippable frames included.
final class ZstdDecoder: StreamDecoder {
    /// The largest window of web content, as a power of two (RFC 9659, section 3).
    static let largestWindowLog: Int32 = 23

    private let stream: OpaquePointer
    private var isAtFrameStart = true
    private var hasEndedFrame = false
    /// The number of bytes, at the beginning of a frame, that libzstd still gets one at a time.
    private var headerLeft = 0
    private var blocks = ZstdBlockCheck()
    /// The number of bytes that the present frame has made.
    private var made: UInt64 = 0

    /// The magic number, and the longest frame header (RFC 8878, section 3.1.1.1).
    private static let longestHeader = 18

    var isAtEnd: Bool { isAtFrameStart && hasEndedFrame }

    init() throws(CodingError) {
        guard let stream = ZSTD_createDStream() else { throw .outOfMemory(.zstd) }
        self.stream = stream
        ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, Self.largestWindowLog)
    }

    deinit {
        ZSTD_freeDStream(stream)
    }

    func decode(
        _ input: UnsafeRawBufferPointer,
        isLast: Bool,
        into room: UnsafeMutableRawBufferPointer
    ) throws(CodingError) -> DecodingProgress {
        var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var sink = ZSTD_outBuffer(dst: room.baseAddress, size: room.count, pos: 0)
        while true {
            if isAtFrameStart {
                // If libzstd is called after the end of the last frame, it expects another one.
                if input.count == source.pos { break }
                headerLeft = Self.longestHeader
            }
            // If libzstd gets a whole small frame in one call, it does not check the window size. If a call
            // begins in the middle of a header and completes it, libzstd takes what the call begins with for
            // the frame, if it has the form of one.
            source.size = headerLeft > 0 ? min(input.count, source.pos + 1) : input.count
            let before = (source.pos, sink.pos)
            let result = ZSTD_decompressStream(stream, &sink, &source)
            guard ZSTD_isError(result) == 0 else { throw fault(result) }
            headerLeft = max(0, headerLeft - (source.pos - before.0))
            source.size = input.count
            try blocks.add(UnsafeRawBufferPointer(rebasing: input[before.0..<source.pos]))
            made += UInt64(sink.pos - before.1)
            // libzstd stops at the end of every frame, when all of its output is written.
            isAtFrameStart = result == 0
            hasEndedFrame = hasEndedFrame || isAtFrameStart
            if isAtFrameStart {
                guard made == blocks.announced ?? made else {
                    throw .corrupt(.zstd, detail: "a frame announces another size")
                }
                made = 0
            }
            if !isAtFrameStart, source.pos == source.size || sink.pos == sink.size { break }
            if before == (source.pos, sink.pos) { break }
        }
        return DecodingProgress(used: source.pos, made: sink.pos)
    }

    private func fault(_ result: Int) -> CodingError {
        switch ZSTD_getErrorCode(result) {
        case ZSTD_error_frameParameter_windowTooLarge:
            .windowTooLarge(.zstd, limit: 1 << Int(Self.largestWindowLog))
        case ZSTD_error_memory_allocation: .outOfMemory(.zstd)
        // An unknown magic number after a complete frame.
        case ZSTD_error_prefix_unknown where hasEndedFrame: .trailingBytes(.zstd)
        default: .corrupt(.zstd, detail: String(cString: ZSTD_getErrorName(result)))
        }
    }
}
#endif
