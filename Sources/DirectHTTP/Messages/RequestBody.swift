internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// The body of a request.
public struct RequestBody: Sendable {
    let content: BodyContent
    /// The value of `Content-Type`, unless the request or the client's default fields have that field.
    public let contentType: String?
    /// Whether the bytes of the content are compressed with gzip; see ``gzipped(level:)``.
    public internal(set) var isGzipped = false

    package init(_ content: BodyContent, contentType: String? = nil) {
        self.content = content
        self.contentType = contentType
    }

    /// No body.
    public static let none = RequestBody(.none)

    /// A body of bytes in memory.
    public static func bytes(_ bytes: [UInt8], contentType: String? = nil) -> RequestBody {
        RequestBody(.bytes(bytes), contentType: contentType)
    }

    /// A body of text, as UTF-8.
    public static func text(
        _ text: String,
        contentType: String? = "text/plain; charset=utf-8"
    ) -> RequestBody {
        RequestBody(.bytes(Array(text.utf8)), contentType: contentType)
    }

    /// The pieces of a sequence, sent as they arrive and no faster than the peer takes them.
    ///
    /// The body can be sent once: a request that would have to be sent again, after a piece was taken from
    /// it, fails, and so does a second request with this body (``RequestBodyError/alreadySent``). Use
    /// ``replayable(length:contentType:_:)`` for a body that can be sent again.
    ///
    /// A body with a length has to keep it, wherever it is used: with trailers, compressed, in a form. The
    /// server may answer when the announced bytes are sent, and the response can be read then. But the call
    /// does not end, and no redirect is followed, before the sequence has ended: what it gives beyond its
    /// length, and an error that it throws there, are errors of the call. If it does not end within
    /// ``Timeouts/write`` after the response, that is a timeout.
    ///
    /// - Parameters:
    ///   - pieces: The sequence.
    ///   - length: The exact number of bytes. `nil` sends the body in chunks.
    ///   - contentType: The value of `Content-Type`, unless the request has that field.
    public static func stream<Pieces: AsyncSequence & Sendable>(
        _ pieces: Pieces,
        length: UInt64? = nil,
        contentType: String? = nil
    ) -> RequestBody where Pieces.Element == [UInt8] {
        let body = StreamedBody(isReplayable: false, length: length) { _ in
            var iterator = pieces.makeAsyncIterator()
            return RequestBodySource { try await iterator.next(isolation: #isolation) }
        }
        return RequestBody(.stream(body), contentType: contentType)
    }

    /// The pieces of a sequence that can be made again if the request has to be sent again: after a redirect,
    /// after a refusal or on another connection. That may begin while an earlier sequence is still being
    /// read, and a hedged request reads two at the same time: they must share nothing, such as the position
    /// in a file.
    ///
    /// - Parameters:
    ///   - length: The exact number of bytes. `nil` sends the body in chunks.
    ///   - contentType: The value of `Content-Type`, unless the request has that field.
    ///   - makePieces: Makes the sequence; each must give the same bytes.
    public static func replayable<Pieces: AsyncSequence & SendableMetatype>(
        length: UInt64? = nil,
        contentType: String? = nil,
        _ makePieces: @escaping @Sendable () async throws -> Pieces
    ) -> RequestBody where Pieces.Element == [UInt8], Pieces.AsyncIterator: SendableMetatype {
        .replayable(length: length, contentType: contentType, renew: nil, makePieces)
    }

    /// The same, of a program that may have no second sequence.
    ///
    /// - Parameter renew: Returns whether there is one; see ``StreamedBody/renew``.
    package static func replayable<Pieces: AsyncSequence & SendableMetatype>(
        length: UInt64?,
        contentType: String?,
        renew: (@Sendable () async -> Bool)?,
        _ makePieces: @escaping @Sendable () async throws -> Pieces
    ) -> RequestBody where Pieces.Element == [UInt8], Pieces.AsyncIterator: SendableMetatype {
        let body = StreamedBody(isReplayable: true, length: length, renew: renew) { _ in
            var iterator = try await makePieces().makeAsyncIterator()
            return RequestBodySource { try await iterator.next(isolation: #isolation) }
        }
        return RequestBody(.stream(body), contentType: contentType)
    }

    /// Returns the body with trailer fields behind it. It is sent in chunks, because only chunked bodies have
    /// trailers. The caller adds a `Trailer` field, if there is to be one. Trailer fields that the body has
    /// already stay in front. A part of a form may have none (``RequestBodyError/partWithTrailers(part:)``).
    ///
    /// - Parameter trailers: called when the last byte of the body has been sent.
    public func followed(by trailers: @escaping @Sendable () async throws -> HTTPHeaders) -> RequestBody {
        let body: StreamedBody
        switch content {
        case .none: body = .bytes([], trailers: trailers)
        case .bytes(let bytes): body = .bytes(bytes, trailers: trailers)
        case .stream(let streamed): body = streamed.followed(by: trailers)
        }
        var followed = RequestBody(.stream(body), contentType: contentType)
        followed.isGzipped = isGzipped
        return followed
    }

    /// The path of the file that the body is; `nil` for any other body, also for what is made of a file.
    package var filePath: String? {
        if case .stream(let streamed) = content { streamed.filePath } else { nil }
    }

    /// Whether the body is sent in chunks.
    package var isChunked: Bool {
        if case .stream(let streamed) = content { streamed.isChunked } else { false }
    }

    /// Whether the body can be sent a second time with the same bytes.
    var isReplayable: Bool { content.isReplayable }

    /// Whether the body can be sent now; see ``BodyContent/canBeSent``.
    var canBeSent: Bool { content.canBeSent }
}
