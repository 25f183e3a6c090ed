/// A body that is made piece by piece, with pauses.
struct UploadPieces: AsyncSequence, Sendable {
    let world: World
    let body: Int
    let count: Int
    let pause: Int
    /// Whether the pieces can be had once only, as those of a pipe.
    let isOneShot: Bool

    func makeAsyncIterator() -> Iterator {
        if isOneShot, !world.begunUploads.insert(body).inserted {
            world.fault("twice", "the body of call \(body) is asked for a second time")
        }
        return Iterator(pieces: self)
    }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let pieces: UploadPieces
        private var sent = 0

        fileprivate init(pieces: UploadPieces) {
            self.pieces = pieces
        }

        mutating func next() async throws -> [UInt8]? {
            guard sent < pieces.count else { return nil }
            if pieces.pause > 0 { await pieces.world.kernel.sleep(microseconds: pieces.pause) }
            let size = Swift.min(10_000, pieces.count - sent)
            let piece = Pattern.bytes(pieces.body, from: sent, count: size)
            sent += size
            return piece
        }
    }
}
