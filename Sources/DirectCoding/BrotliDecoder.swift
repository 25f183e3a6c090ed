#if Brotli
internal import CDirectBrotli

/// Decodes `br` (RFC 7932).
final class BrotliDecoder: StreamDecoder {
    private let state: OpaquePointer
    private(set) var isAtEnd = false

    init() throws(CodingError) {
        guard let state = BrotliDecoderCreateInstance(nil, nil, nil) else { throw .outOfMemory(.brotli) }
        self.state = state
    }

    deinit {
        BrotliDecoderDestroyInstance(state)
    }

    func decode(
        _ input: UnsafeRawBufferPointer,
        isLast: Bool,
        into room: UnsafeMutableRawBufferPointer
    ) throws(CodingError) -> DecodingProgress {
        if isAtEnd {
            guard input.isEmpty else { throw .trailingBytes(.brotli) }
            return DecodingProgress()
        }
        var (nextInput, offered) = (input.baseAddress?.assumingMemoryBound(to: UInt8.self), input.count)
        var (nextRoom, free) = (room.baseAddress?.assumingMemoryBound(to: UInt8.self), room.count)
        let result = BrotliDecoderDecompressStream(state, &offered, &nextInput, &free, &nextRoom, nil)
        switch result {
        case BROTLI_DECODER_RESULT_SUCCESS:
            isAtEnd = true
            guard offered == 0 else { throw .trailingBytes(.brotli) }
        case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT, BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: break
        default: throw fault
        }
        return DecodingProgress(used: input.count - offered, made: room.count - free)
    }

    private var fault: CodingError {
        let code = BrotliDecoderGetErrorCode(state)
        // These codes say which allocation failed.
        if (-30 ... -21).contains(code.rawValue) { return .outOfMemory(.brotli) }
        return .corrupt(.brotli, detail: String(cString: BrotliDecoderErrorString(code)))
    }
}
#endif
