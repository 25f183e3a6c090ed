internal import DirectCore
internal import DirectHTTP1
internal import DirectTransport
internal import Synchronization

/// Content that is read from its file block by block. It can be read once, by one task, as a body from the
/// network.
///
/// Without an `outcome` the content is being read, and the file is open; the outcome closes it and is final.
/// One task at a time may read: `isBusy` guards all other state, and a second task gets the error
/// ``HTTPError/Reason/bodyAlreadyRead``.
final class FilePieces: ResponseBodySource, @unchecked Sendable {
    private let range: Range<Int>
    private let wait: DiskWait
    private let isBusy = Atomic<Bool>(false)
    /// Only the task that has set `isBusy` may touch the mutable properties below. `nil` once the content has
    /// been read, or can no longer be.
    private var entry: DirectoryEntry?
    /// The position of the next piece in the content.
    private var position: Int
    private var outcome: Outcome?

    private enum Outcome {
        case complete
        /// The error for all later readers.
        case failed(any Error)
    }

    init(_ entry: DirectoryEntry, _ range: Range<Int>, _ wait: DiskWait) {
        self.entry = entry
        self.range = range
        self.wait = wait
        position = range.lowerBound
    }

    var trailers: HTTPHeaders { HTTPHeaders() }

    var limit: CallLimit { CallLimit(end: wait.end, total: wait.total) }

    var bytesLeft: UInt64? {
        guard enter() else { return nil }
        defer { leave() }
        return UInt64(range.upperBound - position)
    }

    func error(_ reason: HTTPError.Reason) -> HTTPError { HTTPError(.body, reason, name: wait.name) }

    func next() async throws -> [UInt8]? {
        try await exclusively { try await nextPiece() }
    }

    func collect(upTo limit: Int) async throws -> [UInt8] {
        try await exclusively {
            // The length is known, so content that is too large is refused without reading it.
            let left = range.upperBound - position
            if outcome == nil, left > limit { throw fail(error(.bodyTooLarge(limit: limit))) }
            var all: [UInt8] = []
            all.reserveCapacity(left)
            while let piece = try await nextPiece() { all += piece }
            return all
        }
    }

    func drain() async {
        try? await exclusively {
            if outcome == nil { _ = fail(error(.bodyAlreadyRead)) }
        }
    }

    private func nextPiece() async throws -> [UInt8]? {
        switch outcome {
        // A second reader would take an empty body for the real one.
        case .complete: throw error(.bodyAlreadyRead)
        case .failed(let error): throw error
        case nil: break
        }
        do {
            guard let entry, position < range.upperBound else {
                outcome = .complete
                return nil
            }
            let piece = try await piece(of: entry)
            position += piece.count
            // The reader may never ask for the end.
            if position == range.upperBound { self.entry = nil }
            return piece
        } catch {
            throw fail(error)
        }
    }

    /// Reads the rest of the block at the position, as far as it is in the range.
    private func piece(of entry: DirectoryEntry) async throws -> [UInt8] {
        let index = position / EntryFile.blockSize
        let first = index * EntryFile.blockSize
        let (start, end) = (position - first, min(range.upperBound - first, EntryFile.blockSize))
        let piece = try await wait.run(on: entry.files.work, .body) { () -> [UInt8]? in
            guard let part = entry.block(index)?.dropFirst(start).prefix(end - start) else { return nil }
            return part.count == end - start ? Array(part) : nil
        }
        guard let piece else { throw error(.cache(.damaged(file: entry.name))) }
        return piece
    }

    /// Ends the content with this error, and closes its file.
    private func fail(_ error: any Error) -> any Error {
        outcome = .failed(error)
        entry = nil
        position = range.upperBound
        return error
    }

    private func exclusively<Value>(_ body: () async throws -> Value) async throws -> Value {
        guard enter() else { throw error(.bodyAlreadyRead) }
        defer { leave() }
        return try await body()
    }

    private func enter() -> Bool {
        isBusy.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged
    }

    private func leave() {
        isBusy.store(false, ordering: .releasing)
    }
}
