internal import DirectCoding
internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport
internal import Synchronization

/// A body that is decoded while it is read.
///
/// Each call of `next` decodes one piece and reads no more coded bytes than that takes. One task may read at
/// a time: `isBusy` is the lock of all state below it, and a second reader gets `bodyAlreadyRead`. The first
/// error, or the end, is kept as the outcome and ends the body for good; after an error the source is
/// released, which closes the connection.
///
/// Decoding takes time without waiting for input. So the loop in `nextPiece` checks for cancellation before
/// each call of the decoder, and yields to other tasks and checks the call's deadline each time that enough
/// work has been done.
final class DecodedBody: ResponseBodySource, DecodedByteCounts, @unchecked Sendable {
    /// The server that the body comes from, for errors.
    struct Location: Sendable {
        var name: String?
        var endpoint: Endpoint?

        func error(_ reason: HTTPError.Reason) -> HTTPError {
            HTTPError(.body, reason, name: name, endpoint: endpoint)
        }
    }

    /// The deadline of the call, and the event loop whose clock it refers to.
    struct Time: Sendable {
        var limit: CallLimit
        var loop: EventLoop

        var isOver: Bool { limit.end < .never && loop.now >= limit.end }
    }

    private enum Source {
        /// A body received whole: the bytes that have not yet been given to the decoder.
        case complete(ArraySlice<UInt8>)
        case arriving(any ResponseBodySource)
        /// The decoder has all of the input.
        case ended
    }

    private let place: Location
    /// Set while a task uses the body: only that task touches the properties below.
    private let isBusy = Atomic<Bool>(false)
    private let decoder: ContentDecoder
    private var source: Source
    private var ownTrailers = HTTPHeaders()
    private var outcome: Outcome?
    /// Counts the decoder's work, and yields when due. The work of receiving is counted where the bytes are
    /// read.
    private var yields = YieldCounter()
    private let time: Time

    private enum Outcome {
        case complete
        case failed(any Error)
    }

    private let wireCount = Atomic<UInt64>(0)
    private let decodedCount = Atomic<UInt64>(0)

    /// A body that has been received whole.
    init(
        _ bytes: [UInt8],
        _ trailers: HTTPHeaders,
        _ decoder: ContentDecoder,
        _ place: Location,
        within time: Time
    ) {
        source = .complete(bytes[...])
        ownTrailers = trailers
        limit = .none
        self.decoder = decoder
        self.place = place
        self.time = time
    }

    /// A body that is still being received.
    init(_ pieces: any ResponseBodySource, _ decoder: ContentDecoder, _ place: Location, within time: Time) {
        source = .arriving(pieces)
        limit = pieces.limit
        self.decoder = decoder
        self.place = place
        self.time = time
    }

    let limit: CallLimit
    /// The number of bytes that have gone into the decoder.
    var wireBytes: UInt64 { wireCount.load(ordering: .relaxed) }
    /// The number of bytes that have come out of it.
    var decodedBytes: UInt64 { decodedCount.load(ordering: .relaxed) }

    var trailers: HTTPHeaders {
        guard enter() else { return HTTPHeaders() }
        defer { leave() }
        if case .arriving(let pieces) = source { return pieces.trailers }
        return ownTrailers
    }

    func next() async throws -> [UInt8]? {
        guard enter() else { throw place.error(.bodyAlreadyRead) }
        defer { leave() }
        return try await nextPiece()
    }

    func collect(upTo limit: Int) async throws -> [UInt8] {
        guard enter() else { throw place.error(.bodyAlreadyRead) }
        defer { leave() }
        var all: [UInt8] = []
        while let piece = try await nextPiece() {
            guard all.count + piece.count <= limit else {
                throw fail(place.error(.bodyTooLarge(limit: limit)))
            }
            if all.isEmpty { all = piece } else { all += piece }
        }
        return all
    }

    /// Reads the rest without decoding it: content that is discarded must not be decoded (CVE-2026-21441).
    func drain() async {
        guard enter() else { return }
        defer { leave() }
        guard case nil = outcome else { return }
        if case .arriving(let pieces) = source { await pieces.drain() }
        _ = fail(place.error(.bodyAlreadyRead))
    }

    func error(_ reason: HTTPError.Reason) -> HTTPError { place.error(reason) }

    private func nextPiece() async throws -> [UInt8]? {
        switch outcome {
        // A second reader would take an empty body for the real one.
        case .complete: throw place.error(.bodyAlreadyRead)
        case .failed(let error): throw error
        case nil: break
        }
        while true {
            try await goOn()
            switch try decode() {
            case .piece(let piece):
                decodedCount.store(decoder.decodedBytes, ordering: .relaxed)
                return piece
            case .needsInput: try await feed()
            case .unfinished: break
            case .end:
                outcome = .complete
                return nil
            }
        }
    }

    /// Checks for cancellation and for the end of the call, as a wait would: a little input can keep a
    /// decoder busy for long, and much of it can decode to nothing.
    ///
    /// The deadline is checked only when a turn ends, not before: a small body that is already there may be
    /// read late, as it may when it is not coded.
    private func goOn() async throws {
        if Task.isCancelled { throw fail(CancellationError()) }
        guard await yields.yieldIfDue(on: time.loop) else { return }
        if Task.isCancelled { throw fail(CancellationError()) }
        if time.isOver { throw fail(place.error(HTTPError.Reason(time.limit.timeout))) }
    }

    private func decode() throws -> ContentDecoder.Step {
        defer { yields.count(decoder.lastWork) }
        do throws(CodingError) {
            return try decoder.next()
        } catch {
            throw fail(place.error(.coding(error)))
        }
    }

    private func feed() async throws {
        switch source {
        case .complete(let bytes):
            let piece = bytes.prefix(ContentDecoder.pieceSize)
            let rest = bytes.dropFirst(piece.count)
            decoder.feed(Array(piece))
            source = rest.isEmpty ? .ended : .complete(rest)
            if rest.isEmpty { decoder.endInput() }
        case .arriving(let pieces):
            do {
                if let piece = try await pieces.next() {
                    decoder.feed(piece)
                } else {
                    ownTrailers = pieces.trailers
                    source = .ended
                    decoder.endInput()
                }
            } catch {
                throw fail(error)
            }
        case .ended: break
        }
        wireCount.store(decoder.wireBytes, ordering: .relaxed)
    }

    /// Ends the body with this error. Content that cannot be decoded is read no further: releasing its source
    /// closes the connection.
    private func fail(_ error: any Error) -> any Error {
        outcome = .failed(error)
        source = .ended
        return error
    }

    private func enter() -> Bool {
        isBusy.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged
    }

    private func leave() {
        isBusy.store(false, ordering: .releasing)
    }
}
