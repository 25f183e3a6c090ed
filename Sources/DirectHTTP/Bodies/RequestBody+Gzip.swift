public import DirectCoding
internal import DirectCore
internal import DirectIO
internal import DirectTransport

extension RequestBody {
    /// Returns the body compressed with gzip, sent with `Content-Encoding: gzip`, unless the request has that
    /// field itself.
    ///
    /// Only for servers that are known to decode requests: nothing in HTTP asks them first. Bytes in memory
    /// are compressed now, and have a length. Other bodies are compressed while they are sent, in chunks, and
    /// again for each attempt; a body that could be sent again still can. A body without bytes, and one that
    /// is compressed already, stays as it is.
    ///
    /// - Parameter level: From 1 (fast) to 9 (small).
    /// - Throws: ``CodingError/outOfMemory(_:)``.
    public func gzipped(level: Int = 6) throws(CodingError) -> RequestBody {
        guard !isGzipped else { return self }
        var body: RequestBody
        switch content {
        case .none: return self
        case .bytes(let bytes):
            guard !bytes.isEmpty else { return self }
            let compressed = try Gzipper(level: level).compress(bytes, isLast: true)
            body = RequestBody(.bytes(compressed), contentType: contentType)
        case .stream(let streamed):
            body = RequestBody(.stream(streamed.gzipped(level: level)), contentType: contentType)
        }
        body.isGzipped = true
        return body
    }
}

extension StreamedBody {
    /// Returns the same body, compressed while it is sent.
    fileprivate func gzipped(level: Int) -> StreamedBody {
        StreamedBody(
            isReplayable: isReplayable,
            isChunked: true,
            measure: { loop, end in
                // The length of the content is not known, but a body that cannot be sent is.
                _ = try await self.measure(on: loop, until: end)
                return nil
            },
            trailers: trailers,
            open: { loop in
                let source = try await self.open(loop)
                let gzipper = try Gzipper(level: level)
                var isAtEnd = false
                return RequestBodySource {
                    while !isAtEnd {
                        let piece = try await source.next()
                        isAtEnd = piece == nil
                        let compressed = gzipper.compress(piece ?? [], isLast: isAtEnd)
                        if !compressed.isEmpty { return compressed }
                    }
                    return nil
                }
            }
        )
    }
}
