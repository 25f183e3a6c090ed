/// What a request carries.
public struct RequestBody: Sendable {
    enum Content: Sendable {
        case none
        case bytes([UInt8])
        case stream(length: UInt64?, @Sendable () -> Source)
    }

    /// Where a streamed body comes from: asked for more only when the last piece is on its way.
    final class Source {
        private let nextPiece: () async throws -> [UInt8]?

        init(_ nextPiece: @escaping () async throws -> [UInt8]?) {
            self.nextPiece = nextPiece
        }

        func next() async throws -> [UInt8]? {
            try await nextPiece()
        }
    }

    let content: Content

    /// No body at all.
    public static let none = RequestBody(content: .none)

    /// These bytes.
    public static func bytes(_ bytes: [UInt8]) -> RequestBody {
        RequestBody(content: .bytes(bytes))
    }

    /// This text, as UTF-8.
    public static func text(_ text: String) -> RequestBody {
        .bytes(Array(text.utf8))
    }

    /// The pieces of a sequence, sent as they come and no faster than the peer takes them.
    ///
    /// With a length, exactly that many bytes have to come; without, the body is sent in chunks.
    public static func stream<Pieces: AsyncSequence & Sendable>(
        _ pieces: Pieces,
        length: UInt64? = nil
    ) -> RequestBody where Pieces.Element == [UInt8] {
        RequestBody(
            content: .stream(length: length) {
                var iterator = pieces.makeAsyncIterator()
                return Source { try await iterator.next(isolation: #isolation) }
            }
        )
    }

    /// Whether sending it a second time is sure to send the same.
    var isReplayable: Bool {
        if case .stream = content { false } else { true }
    }
}
