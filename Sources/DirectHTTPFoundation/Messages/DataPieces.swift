/// Bytes in memory, of any type, in pieces: a large body need not be copied as a whole.
struct DataPieces<Bytes: RandomAccessCollection & SendableMetatype>: AsyncSequence, @unchecked Sendable
where Bytes.Element == UInt8, Bytes.Index == Int {
    typealias Element = [UInt8]

    // `Data` or `DispatchData`, which are values. The latter is not marked `Sendable`.
    private let bytes: Bytes

    static var pieceSize: Int { 256 * 1024 }

    init(_ bytes: Bytes) {
        self.bytes = bytes
    }

    func makeAsyncIterator() -> Iterator {
        Iterator(bytes: bytes, position: bytes.startIndex)
    }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let bytes: Bytes
        fileprivate var position: Int

        mutating func next() async -> [UInt8]? {
            guard position < bytes.endIndex else { return nil }
            let end = Swift.min(position + DataPieces.pieceSize, bytes.endIndex)
            defer { position = end }
            return Array(bytes[position..<end])
        }
    }
}
