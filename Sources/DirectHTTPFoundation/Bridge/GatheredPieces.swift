internal import DirectHTTP

extension ResponseBody {
    /// The same bytes in fewer pieces: each but the last has at least so many bytes.
    func gathered(upTo size: Int) -> GatheredPieces {
        GatheredPieces(body: self, size: size)
    }
}

struct GatheredPieces: AsyncSequence {
    let body: ResponseBody
    let size: Int

    func makeAsyncIterator() -> Iterator {
        Iterator(pieces: body.makeAsyncIterator(), size: size)
    }

    struct Iterator: AsyncIteratorProtocol {
        var pieces: ResponseBody.Iterator
        let size: Int

        mutating func next() async throws -> [UInt8]? {
            guard var gathered = try await pieces.next() else { return nil }
            while gathered.count < size, let piece = try await pieces.next() {
                gathered.reserveCapacity(size + piece.count)
                gathered += piece
            }
            return gathered
        }
    }
}
