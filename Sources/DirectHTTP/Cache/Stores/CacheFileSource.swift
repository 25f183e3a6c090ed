internal import DirectCore
internal import DirectHTTP1
internal import DirectTransport

/// Content that is read from a cache's file block by block.
final class CacheFileSource: ResponseBodySource {
    private let range: Range<Int>
    private let wait: DiskWait
    /// The open file; `nil` once all of the content has been read.
    private var entry: DirectoryEntry?
    /// The position of the next piece in the content.
    private var position: Int

    init(_ entry: DirectoryEntry, _ range: Range<Int>, _ wait: DiskWait) {
        self.entry = entry
        self.range = range
        self.wait = wait
        position = range.lowerBound
    }

    var limit: CallLimit { wait.limit }

    var bytesLeft: UInt64? { UInt64(range.upperBound - position) }

    var location: BodyLocation { BodyLocation(name: wait.name) }

    func next() async throws -> [UInt8]? {
        guard let entry, position < range.upperBound else { return nil }
        let piece = try await piece(of: entry)
        position += piece.count
        // The reader may never ask for the end.
        if position == range.upperBound { self.entry = nil }
        return piece
    }

    func drain() async { entry = nil }

    /// Reads the rest of the block at the position, as far as it is in the range.
    private func piece(of entry: DirectoryEntry) async throws -> [UInt8] {
        let index = position / EntryFile.blockSize
        let first = index * EntryFile.blockSize
        let (start, end) = (position - first, min(range.upperBound - first, EntryFile.blockSize))
        let piece = try await wait.run(on: entry.files.work, .body) { () -> [UInt8]? in
            guard let part = entry.block(index)?.dropFirst(start).prefix(end - start) else { return nil }
            return part.count == end - start ? Array(part) : nil
        }
        guard let piece else { throw location.error(.cache(.damaged(file: entry.name))) }
        return piece
    }
}
