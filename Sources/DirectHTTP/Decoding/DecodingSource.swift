internal import DirectCoding
internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport
internal import Synchronization

/// The decoded pieces of a coded body.
///
/// Each call of `next` decodes one piece and reads no more coded bytes than that takes.
///
/// Decoding takes time without waiting for input. So the loop in `next` checks for cancellation before each
/// call of the decoder, and yields to other tasks and checks the call's deadline each time that enough work
/// has been done.
final class DecodingSource: ResponseBodySource {
    /// The deadline of the call, and the event loop whose clock it refers to.
    struct Time: Sendable {
        var limit: CallLimit
        var loop: EventLoop

        var isOver: Bool { limit.end < .never && loop.now >= limit.end }
    }

    let location: BodyLocation
    /// The bytes that have gone into the decoder, and those that have come out of it.
    let counts = ResponseBody.DecodingCounts()
    private let body: GuardedBody
    /// Whether the body has arrived whole. If the decoder knows the end of its input, it makes a piece of the
    /// right size.
    private let isWhole: Bool
    /// The bytes that have arrived and have not gone into the decoder.
    private var waiting: ArraySlice<UInt8> = []
    private let decoder: ContentDecoder
    /// Counts the decoder's work, and yields when due. The work of receiving is counted where the bytes are
    /// read.
    private var yields = YieldCounter()
    private let time: Time

    init(_ body: GuardedBody, _ decoder: ContentDecoder, _ location: BodyLocation, within time: Time) {
        self.body = body
        isWhole = body.idleSource == nil
        self.decoder = decoder
        self.location = location
        self.time = time
    }

    var limit: CallLimit { body.limit }

    var trailers: HTTPHeaders { body.trailers }

    func next() async throws -> [UInt8]? {
        while true {
            try await goOn()
            switch try decode() {
            case .piece(let piece):
                counts.decoded.store(decoder.decodedBytes, ordering: .relaxed)
                return piece
            case .needsInput: try await feed()
            case .unfinished: break
            case .end: return nil
            }
        }
    }

    /// Reads the rest without decoding it: content that is discarded must not be decoded (CVE-2026-21441).
    func drain() async { await body.drain() }

    /// Checks for cancellation and for the end of the call, as a wait would: a little input can keep a
    /// decoder busy for long, and much of it can decode to nothing.
    ///
    /// The deadline is checked only when a turn ends, not before: a small body that is already there may be
    /// read late, as it may when it is not coded.
    private func goOn() async throws {
        if Task.isCancelled { throw CancellationError() }
        guard await yields.yieldIfDue(on: time.loop) else { return }
        if Task.isCancelled { throw CancellationError() }
        if time.isOver { throw location.error(HTTPError.Reason(time.limit.timeout)) }
    }

    private func decode() throws -> ContentDecoder.Step {
        defer { yields.count(decoder.lastWork) }
        do throws(CodingError) {
            return try decoder.next()
        } catch {
            throw location.error(.coding(error))
        }
    }

    private func feed() async throws {
        if waiting.isEmpty {
            guard let piece = try await body.next() else { return decoder.endInput() }
            waiting = piece[...]
        }
        let piece = Array(waiting.prefix(ContentDecoder.pieceSize))
        waiting.removeFirst(piece.count)
        decoder.feed(piece)
        if isWhole, waiting.isEmpty { decoder.endInput() }
        counts.wire.store(decoder.wireBytes, ordering: .relaxed)
    }
}
