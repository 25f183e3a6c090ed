/// Decodes one content coding, as far as input and room reach.
protocol StreamDecoder: AnyObject {
    /// Decodes until the room is full, or the input is used up and yields no more output.
    ///
    /// `isLast` is true if no input follows this one.
    func decode(
        _ input: UnsafeRawBufferPointer,
        isLast: Bool,
        into room: UnsafeMutableRawBufferPointer
    ) throws(CodingError) -> DecodingProgress

    /// Whether the input may end here.
    var isAtEnd: Bool { get }
}

/// The numbers of input bytes used and output bytes made.
struct DecodingProgress {
    var used = 0
    var made = 0
}

extension ContentCoding {
    /// Creates a decoder for one stream of this coding. The coding must be available in this build.
    func makeDecoder() throws(CodingError) -> any StreamDecoder {
        switch self {
        case .gzip: return try GzipDecoder()
        case .deflate: return DeflateDecoder()
        case .brotli:
            #if Brotli
            return try BrotliDecoder()
            #else
            throw .corrupt(self, detail: "built without it")
            #endif
        case .zstd:
            #if Zstd
            return try ZstdDecoder()
            #else
            throw .corrupt(self, detail: "built without it")
            #endif
        }
    }
}
