internal import DirectCore
internal import DirectIO
internal import Foundation

/// The bytes of an `InputStream` in pieces. Its `read` blocks: each call runs on a thread for blocking work.
struct InputPieces: AsyncSequence, AsyncIteratorProtocol, @unchecked Sendable {
    private let reader: Reader
    private var first: [UInt8]

    /// Creates a sequence over a stream that nothing has been read from.
    init(_ stream: InputStream) {
        self.init(Reader(stream))
    }

    fileprivate init(_ reader: Reader, after first: [UInt8] = []) {
        self.reader = reader
        self.first = first
    }

    /// Whether nothing has been read from the stream.
    var isUnread: Bool { !Self.begun.has(reader.stream) }

    func makeAsyncIterator() -> Self { self }

    mutating func next() async throws -> [UInt8]? {
        if !first.isEmpty {
            defer { first = [] }
            return first
        }
        let piece = try await reader.next(atMost: Self.pieceSize)
        return piece.isEmpty ? nil : piece
    }

    /// Opens the stream for the first read, and closes it when the last reference to the reader is released.
    fileprivate final class Reader: @unchecked Sendable {
        // Used by one thread at a time: the task that sends waits for each read.
        let stream: InputStream
        private var isOpened = false
        private var isEnded = false

        init(_ stream: InputStream) {
            self.stream = stream
        }

        deinit {
            guard isOpened else { return }
            nonisolated(unsafe) let stream = stream
            InputPieces.readers.submit { stream.close() }
        }

        /// Whether the stream is known to have no more bytes.
        var isAtEnd: Bool { isEnded || stream.streamStatus == .atEnd }

        /// Reads the next piece, which is empty at the end.
        func next(atMost count: Int) async throws -> [UInt8] {
            let outcome: Result<[UInt8], any Error>
            do {
                outcome = try await readers.run(until: .never, on: .shared) { self.read(atMost: count) }
            } catch {
                throw CancellationError()
            }
            return try outcome.get()
        }

        private func read(atMost capacity: Int) -> Result<[UInt8], any Error> {
            guard !isEnded else { return .success([]) }
            if !isOpened {
                var isFirst = false
                InputPieces.begun.value(of: stream) { isFirst = true }
                guard isFirst, ![.atEnd, .closed, .error].contains(stream.streamStatus) else {
                    return .failure(StreamFailure.usedUp)
                }
                if stream.streamStatus == .notOpen { stream.open() }
                isOpened = true
            }
            var count = 0
            let piece = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, used in
                if let base = buffer.baseAddress { count = stream.read(base, maxLength: buffer.count) }
                used = Swift.max(0, count)
            }
            if count <= 0 { isEnded = true }
            return count >= 0 ? .success(piece) : .failure(StreamFailure.failed(cause))
        }

        /// The stream's error. On Linux, FoundationNetworking's property ends the process unless it has one,
        /// also that of a subclass which does not override it.
        private var cause: (any Error)? {
            #if canImport(FoundationNetworking)
            guard type(of: stream) == InputStream.self, stream.streamStatus == .error else { return nil }
            #endif
            return stream.streamError
        }
    }

    /// The streams that were read from. Another request with one of them would send its rest: its status may
    /// say for long that it is open, or never anything else.
    private static let begun = WeakTable<Void>()
    private static let pieceSize = 128 * 1024
    // A stream may block for as long as its writer does, so it needs a thread of its own soon.
    private static let readers = BlockingWork.forCode()
}

/// An `InputStream` that could not be read to its end.
enum StreamFailure: Error, CustomStringConvertible {
    /// It had been read or closed before: a stream can be sent once.
    case usedUp
    /// It failed, with the error of its own if it has one.
    case failed((any Error)?)

    var description: String {
        switch self {
        case .usedUp: "the stream has been read or closed before"
        case .failed(let cause): cause.map { "\($0)" } ?? "the stream failed without an error of its own"
        }
    }
}

#if !canImport(FoundationNetworking)
extension RequestBody {
    /// The bytes of a stream. If one read takes them all, as it does from a stream of bytes in memory, the
    /// body has a length and can be sent again.
    static func read(
        _ stream: InputStream,
        length: UInt64?,
        contentType: String?
    ) async throws -> RequestBody {
        let reader = InputPieces.Reader(stream)
        let first = try await reader.next(atMost: 1 << 20)
        guard !reader.isAtEnd else { return .bytes(first, contentType: contentType) }
        return .stream(InputPieces(reader, after: first), length: length, contentType: contentType)
    }
}
#endif
