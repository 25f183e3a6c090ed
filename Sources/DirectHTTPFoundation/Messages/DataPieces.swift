internal import Dispatch
internal import Foundation

/// Bytes in memory that may lie in several places.
protocol ScatteredBytes: RandomAccessCollection<UInt8>, SendableMetatype where Index == Int {
    /// Copies all of a range at once. A slice of `DispatchData` finds the place of each byte anew.
    func copyBytes(to pointer: UnsafeMutablePointer<UInt8>, from range: Range<Int>)
}

extension Data: ScatteredBytes {}
#if canImport(FoundationNetworking)
extension DispatchData: ScatteredBytes {}
#endif

extension ScatteredBytes {
    /// A copy of the bytes in a range.
    func bytes(in range: Range<Int>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            if let base = buffer.baseAddress { copyBytes(to: base, from: range) }
            count = range.count
        }
    }
}

/// Bytes in memory in pieces: a large body need not be copied as a whole.
struct DataPieces<Bytes: ScatteredBytes>: AsyncSequence, AsyncIteratorProtocol, @unchecked Sendable {
    // `Data` or `DispatchData`, which are values. The latter is not marked `Sendable`.
    private let bytes: Bytes
    private var position: Int

    static var pieceSize: Int { 256 * 1024 }

    init(_ bytes: Bytes) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    func makeAsyncIterator() -> Self { self }

    mutating func next() async -> [UInt8]? {
        guard position < bytes.endIndex else { return nil }
        let end = Swift.min(position + Self.pieceSize, bytes.endIndex)
        defer { position = end }
        return bytes.bytes(in: position..<end)
    }
}
