internal import DirectHTTP1

/// The part of a body that has been received and not been read yet.
struct BufferedContent {
    var content: [UInt8] = []
    /// The trailer fields; `nil` if there were none.
    var trailers: HTTPHeaders?
    /// Whether the body ends here.
    var isAtEnd = false
}

extension Exchange {
    /// Takes the content among the bytes that have been received; stops where more bytes are needed.
    func takeBuffered() throws(TransportError) -> BufferedContent {
        var taken = BufferedContent()
        while !taken.isAtEnd {
            switch try nextEvent(.body) {
            case .content(let range):
                let content = unsafe UnsafeRawBufferPointer(rebasing: connection.buffer[range])
                // An array made from a buffer has exactly its size; most bodies arrive in one piece.
                if taken.content.isEmpty {
                    taken.content = unsafe [UInt8](content)
                } else {
                    unsafe taken.content += content
                }
            case .trailers(let fields): taken.trailers = fields
            case .end: taken.isAtEnd = true
            case .needsMore, .interim, .head: return taken
            }
        }
        return taken
    }
}
