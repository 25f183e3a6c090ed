/// Undoes one coding, as much as there is input and room for.
protocol StreamDecoder: AnyObject {
    /// Goes on until the room is full or the input is used up and nothing more comes of it.
    ///
    /// `isLast` says that nothing will follow this input.
    func decode(
        _ input: UnsafeRawBufferPointer,
        isLast: Bool,
        into room: UnsafeMutableRawBufferPointer
    ) throws(CodingError) -> DecodingProgress

    /// Whether the input may end here.
    var isAtEnd: Bool { get }
}

/// How many bytes of the input were used, and how many came out.
struct DecodingProgress {
    var used = 0
    var made = 0
}

extension ContentCoding {
    /// A decoder for one stream of this coding, which has to be among the available ones.
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
