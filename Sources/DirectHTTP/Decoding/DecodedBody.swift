internal import DirectCoding
internal import DirectHTTP1
internal import DirectIO
internal import Synchronization

/// A body that is decoded while it is read: each question decodes one piece and reads no more than that takes.
final class DecodedBody: BodyPieces, @unchecked Sendable {
    /// Whose body it is, for errors.
    struct Place: Sendable {
        var name: String?
        var endpoint: Endpoint?

        func error(_ reason: HTTPError.Reason) -> HTTPError {
            HTTPError(.body, reason, name: name, endpoint: endpoint)
        }
    }

    /// How long decoding may take, and the loop whose clock says so.
    struct Time: Sendable {
        var limit: CallLimit
        var loop: EventLoop

        var isOver: Bool { limit.end < .never && loop.now >= limit.end }
    }

    private enum Source {
        /// All that has not yet been given to the decoder.
        case complete(ArraySlice<UInt8>)
        case arriving(any BodyPieces)
        /// The decoder has all there is.
        case ended
    }

    private let place: Place
    /// Set while a task is inside: only that one touches what follows.
    private let isBusy = Atomic<Bool>(false)
    private let decoder: ContentDecoder
    private var source: Source
    private var ownTrailers = Headers()
    private var outcome: Outcome?
    /// The work of the decoder. What arrives is counted where it is read.
    private var turns = Turns()
    private let time: Time

    private enum Outcome {
        case complete
        case failed(any Error)
    }

    private let wireCount = Atomic<UInt64>(0)
    private let decodedCount = Atomic<UInt64>(0)

    /// A body that has come whole.
    init(
        _ bytes: [UInt8],
        _ trailers: Headers,
        _ decoder: ContentDecoder,
        _ place: Place,
        within time: Time
    ) {
        source = .complete(bytes[...])
        ownTrailers = trailers
        limit = .none
        self.decoder = decoder
        self.place = place
        self.time = time
    }

    /// A body that is still coming.
    init(_ pieces: any BodyPieces, _ decoder: ContentDecoder, _ place: Place, within time: Time) {
        source = .arriving(pieces)
        limit = pieces.limit
        self.decoder = decoder
        self.place = place
        self.time = time
    }

    let limit: CallLimit
    /// How many bytes have gone into the decoder.
    var wireBytes: UInt64 { wireCount.load(ordering: .relaxed) }
    /// How many bytes have come out of it.
    var decodedBytes: UInt64 { decodedCount.load(ordering: .relaxed) }

    var trailers: Headers {
        guard enter() else { return Headers() }
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

    /// The rest as it came: what nobody wants is not decoded (CVE-2026-21441).
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
        // The second one to come here would take an empty body for the real one.
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

    /// Looks at what would have ended a wait: a little input can keep a decoder busy for long, and much of it can
    /// come to nothing.
    ///
    /// The end of the call is looked at with each turn, not sooner: a little that is there already can be had late, as
    /// it can where it is not coded.
    private func goOn() async throws {
        if Task.isCancelled { throw fail(CancellationError()) }
        guard await turns.yieldIfDue() else { return }
        if Task.isCancelled { throw fail(CancellationError()) }
        if time.isOver { throw fail(place.error(time.limit.timeout)) }
    }

    private func decode() throws -> ContentDecoder.Step {
        defer { turns.count(decoder.lastWork) }
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

    /// Nothing more is wanted from whoever sends what cannot be decoded: letting go of it closes the connection.
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
