internal import DirectHTTP1
internal import DirectIO

/// What a request carries.
public struct RequestBody: Sendable {
    enum Content: Sendable {
        case none
        case bytes([UInt8])
        case stream(StreamedBody)
    }

    let content: Content
    /// What `Content-Type` says of it, unless the request has that field itself.
    public let contentType: String?

    init(_ content: Content, contentType: String? = nil) {
        self.content = content
        self.contentType = contentType
    }

    /// No body at all.
    public static let none = RequestBody(.none)

    /// These bytes.
    public static func bytes(_ bytes: [UInt8], contentType: String? = nil) -> RequestBody {
        RequestBody(.bytes(bytes), contentType: contentType)
    }

    /// This text, as UTF-8.
    public static func text(
        _ text: String,
        contentType: String? = "text/plain; charset=utf-8"
    ) -> RequestBody {
        RequestBody(.bytes(Array(text.utf8)), contentType: contentType)
    }

    /// The fields of a form, as `application/x-www-form-urlencoded`.
    public static func form(_ fields: [(name: String, value: String)]) -> RequestBody {
        RequestBody(.bytes(formEncoded(fields)), contentType: "application/x-www-form-urlencoded")
    }

    /// The fields of a form, as `application/x-www-form-urlencoded`.
    public static func form(_ fields: KeyValuePairs<String, String>) -> RequestBody {
        form(fields.map { (name: $0.key, value: $0.value) })
    }

    /// The parts of a form, files among them, as `multipart/form-data`.
    ///
    /// Its length is known if that of each part is; else it is sent in chunks. The boundary is random, so no
    /// part can be made to contain it.
    public static func multipart(_ parts: [FormPart]) -> RequestBody {
        let form = MultipartForm(parts)
        return RequestBody(.stream(form.body), contentType: form.contentType)
    }

    /// The content of a file, which is read while it is sent. A file that becomes longer or shorter meanwhile is
    /// an error.
    public static func file(_ path: String, contentType: String? = nil) -> RequestBody {
        RequestBody(.stream(.file(path)), contentType: contentType)
    }

    /// The pieces of a sequence, sent as they come and no faster than the peer takes them.
    ///
    /// With a length, exactly that many bytes have to come; without, the body is sent in chunks. It can be sent
    /// once: a request that would have to be repeated fails instead, and so does a second request with the same
    /// body (`RequestBodyFault.alreadySent`). `replayable` makes one that can.
    public static func stream<Pieces: AsyncSequence & Sendable>(
        _ pieces: Pieces,
        length: UInt64? = nil,
        contentType: String? = nil
    ) -> RequestBody where Pieces.Element == [UInt8] {
        let body = StreamedBody(isReplayable: false, length: length) { _ in
            var iterator = pieces.makeAsyncIterator()
            return BodySource { try await iterator.next(isolation: #isolation) }
        }
        return RequestBody(.stream(body), contentType: contentType)
    }

    /// The pieces of a sequence that can be made again, should the request have to be sent again: after a
    /// redirect, a refusal or on another connection. Each time it has to give the same bytes.
    public static func replayable<Pieces: AsyncSequence & SendableMetatype>(
        length: UInt64? = nil,
        contentType: String? = nil,
        _ makePieces: @escaping @Sendable () async throws -> Pieces
    ) -> RequestBody where Pieces.Element == [UInt8], Pieces.AsyncIterator: SendableMetatype {
        let body = StreamedBody(isReplayable: true, length: length) { _ in
            var iterator = try await makePieces().makeAsyncIterator()
            return BodySource { try await iterator.next(isolation: #isolation) }
        }
        return RequestBody(.stream(body), contentType: contentType)
    }

    /// The same body with trailer fields behind it, which are asked for when its last byte has been sent. It is
    /// sent in chunks, as only those can have trailers; a `Trailer` field, if any, is the caller's to add.
    public func followed(by trailers: @escaping @Sendable () async throws -> Headers) -> RequestBody {
        let body: StreamedBody
        switch content {
        case .none: body = .bytes([], trailers)
        case .bytes(let bytes): body = .bytes(bytes, trailers)
        case .stream(let streamed): body = streamed.followed(by: trailers)
        }
        return RequestBody(.stream(body), contentType: contentType)
    }

    /// Whether sending it a second time is sure to send the same.
    var isReplayable: Bool {
        if case .stream(let body) = content { body.isReplayable } else { true }
    }
}
