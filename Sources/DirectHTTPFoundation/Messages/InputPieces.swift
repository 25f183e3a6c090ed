internal import DirectCore
internal import DirectIO
internal import Foundation

/// The bytes of an `InputStream` in pieces. Its `read` blocks: each call runs on a thread for blocking work.
struct InputPieces: AsyncSequence, @unchecked Sendable {
    typealias Element = [UInt8]

    // Used by one thread at a time: the task that sends waits for each read.
    private let stream: InputStream

    /// Creates a sequence over a stream that is not open yet.
    init(_ stream: InputStream) {
        self.stream = stream
    }

    func makeAsyncIterator() -> Iterator {
        Iterator(Reader(stream))
    }

    struct Iterator: AsyncIteratorProtocol {
        private let reader: Reader

        fileprivate init(_ reader: Reader) {
            self.reader = reader
        }

        mutating func next() async throws -> [UInt8]? {
            let reader = reader
            let outcome: Result<[UInt8], any Error>
            do {
                outcome = try await InputPieces.readers.run(until: .never, on: .shared) { reader.read() }
            } catch {
                throw CancellationError()
            }
            let piece = try outcome.get()
            return piece.isEmpty ? nil : piece
        }
    }

    /// Opens the stream for the first read, and closes it when the last reference to the reader is released.
    fileprivate final class Reader: @unchecked Sendable {
        private let stream: InputStream
        private var isEnded = false

        init(_ stream: InputStream) {
            self.stream = stream
        }

        deinit {
            stream.close()
        }

        /// Reads the next piece, which is empty at the end.
        func read() -> Result<[UInt8], any Error> {
            guard !isEnded else { return .success([]) }
            if stream.streamStatus == .notOpen { stream.open() }
            var count = 0
            let piece = [UInt8](unsafeUninitializedCapacity: InputPieces.pieceSize) { buffer, used in
                if let base = buffer.baseAddress { count = stream.read(base, maxLength: buffer.count) }
                used = Swift.max(0, count)
            }
            if count <= 0 { isEnded = true }
            return count >= 0 ? .success(piece) : .failure(StreamFailure(cause: stream.streamError))
        }
    }

    private static let pieceSize = 128 * 1024
    // A stream may block for as long as its writer does. Threads of its own keep that from delaying name
    // look-ups.
    private static let readers = BlockingWork(threadLimit: 64)
}

/// An `InputStream` that could not be read to its end.
struct StreamFailure: Error, CustomStringConvertible {
    let cause: (any Error)?

    var description: String { cause.map { "\($0)" } ?? "the stream failed without an error of its own" }
}
