public import DirectHTTP1

/// The body of a response: pieces of bytes, each as it arrives.
///
/// Nothing is read ahead: who does not ask for the next piece keeps the server waiting. The body is read
/// once, by one task. Letting go of it before its end closes the connection, unless little is left of it that
/// comes at once.
public struct ResponseBody: AsyncSequence, Sendable {
    public typealias Element = [UInt8]

    enum Content: Sendable {
        /// All of it came together with the head.
        case complete([UInt8], Headers, ConnectionFacts?)
        case arriving(any BodyPieces)
    }

    var content: Content
    var coding = Coding.none

    public func makeAsyncIterator() -> Iterator {
        Iterator(content)
    }

    /// The whole body, unless it is larger than `limit`.
    @concurrent
    public func collect(upTo limit: Int) async throws -> [UInt8] {
        if let bytes = try completeBytes(upTo: limit) { return bytes }
        guard case .arriving(let stream) = content else { return [] }
        return try await stream.collect(upTo: limit)
    }

    /// The whole body, if it came together with the head.
    package func completeBytes(upTo limit: Int) throws(HTTPError) -> [UInt8]? {
        guard case .complete(let bytes, _, let facts) = content else { return nil }
        guard bytes.count <= limit else {
            throw HTTPError(.body, .bodyTooLarge(limit: limit), name: facts?.name, endpoint: facts?.endpoint)
        }
        return bytes
    }

    /// Reads over the rest if that is little and comes soon, so that the connection can serve again; else closes
    /// it. To let go of the body does the same without waiting for it.
    func drain() async {
        if case .arriving(let pieces) = content { await pieces.drain() }
    }

    /// The same body, to be had only once also if all of it is there: as it is with one that is still to come.
    var readableOnce: ResponseBody {
        guard case .complete(let bytes, let trailers, let facts) = content else { return self }
        var body = self
        body.content = .arriving(WholeBody(bytes, trailers, facts))
        return body
    }

    /// The fields that came behind a body sent in chunks; there once the body has been read to its end.
    public var trailers: Headers {
        switch content {
        case .complete(_, let trailers, _): trailers
        case .arriving(let stream): stream.trailers
        }
    }

    /// Hands out the pieces.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        private var content: Content?

        fileprivate init(_ content: Content) {
            self.content = content
        }

        /// The next piece, never empty; nothing at the end.
        @concurrent
        public mutating func next() async throws -> [UInt8]? {
            switch content {
            case .none: return nil
            case .complete(let bytes, _, _):
                content = nil
                return bytes.isEmpty ? nil : bytes
            case .arriving(let stream):
                if let piece = try await stream.next() { return piece }
                content = nil
                return nil
            }
        }
    }
}
