package import DirectCore
package import DirectHTTP1
package import DirectIO
internal import Synchronization

/// A request body that is produced in pieces while it is sent.
///
/// - A replayable body can be opened any number of times, once for each attempt (redirects, retries,
///   authentication).
/// - Any other body can be opened once. It counts as spent from then on, even if its source fails to open,
///   and every later `measure` or `open` throws ``RequestBodyError/alreadySent``. An empty body is never sent
///   in its place.
/// - `measure` comes before `open`, and before anything is sent. `open` is called when the first byte can be
///   sent.
/// - The next piece of a source is requested only when the previous one has been sent. The exception is a
///   source that `endsAtOnce`: it is asked for its end before the last piece goes out, so that a body longer
///   than announced fails before the peer can answer it.
package final class StreamedBody: Sendable {
    package typealias Trailers = @Sendable () async throws -> HTTPHeaders

    /// Whether it can be opened more than once, with the same content each time.
    package let isReplayable: Bool
    /// Whether the source reports its end without delay after the last piece. Other sources may take any
    /// time.
    package let endsAtOnce: Bool
    /// Produces the trailers; `nil` if there are none.
    package let trailers: Trailers?
    /// Asks for the content of one more attempt, and returns whether there is one; `nil` if there always is.
    ///
    /// Called before the result of the attempt so far is given up: without a content it is the call's.
    package let renew: (@Sendable () async -> Bool)?
    /// The path of the file that is the content; `nil` for any other content.
    package let filePath: String?
    /// Whether it is sent in chunks, because its length is not known in advance or for its trailers.
    package let isChunked: Bool
    private let size: @Sendable (EventLoop, Instant) async throws -> UInt64?
    private let source: @Sendable (EventLoop) async throws -> RequestBodySource
    /// Whether it has been opened.
    private let isSpent = Atomic(false)
    /// Whether a task may be about to open it.
    private let isBegun = Atomic(false)

    package init(
        isReplayable: Bool,
        endsAtOnce: Bool = false,
        renew: (@Sendable () async -> Bool)? = nil,
        filePath: String? = nil,
        isChunked: Bool = false,
        measure: @escaping @Sendable (EventLoop, Instant) async throws -> UInt64?,
        trailers: Trailers? = nil,
        open: @escaping @Sendable (EventLoop) async throws -> RequestBodySource
    ) {
        self.isReplayable = isReplayable
        self.endsAtOnce = endsAtOnce
        self.renew = renew
        self.filePath = filePath
        self.isChunked = isChunked || trailers != nil
        size = measure
        source = open
        self.trailers = trailers
    }

    /// Returns the length; `nil` if it is not known in advance.
    ///
    /// Called before anything is sent, so errors in the body come out here. Throws `BlockingWork.Abandoned`
    /// if the disk takes longer than until `end`.
    package func measure(on loop: EventLoop, until end: Instant) async throws -> UInt64? {
        if !isReplayable, isSpent.load(ordering: .acquiring) { throw RequestBodyError.alreadySent }
        return try await size(loop, end)
    }

    /// Opens the source. Called when the first byte can be sent, not before.
    ///
    /// A body that is not replayable can be opened once: a second reader would find it empty and send an
    /// empty body.
    package func open(_ loop: EventLoop) async throws -> RequestBodySource {
        if isSpent.exchange(true, ordering: .acquiringAndReleasing), !isReplayable {
            throw RequestBodyError.alreadySent
        }
        return try await source(loop)
    }

    /// Notes that the body is about to be opened by another task.
    func begin() { isBegun.store(true, ordering: .releasing) }

    /// Whether it can be opened, and nothing is about to open it for the last time.
    package var canBeSent: Bool {
        isReplayable || !isBegun.load(ordering: .acquiring) && !isSpent.load(ordering: .acquiring)
    }

    /// Makes a body of this length, which a source does not outlive that gives more or fewer bytes: neither
    /// by itself nor behind trailers, compressed or as a part of a form.
    package convenience init(
        isReplayable: Bool,
        length: UInt64?,
        renew: (@Sendable () async -> Bool)? = nil,
        open: @escaping @Sendable (EventLoop) async throws -> RequestBodySource
    ) {
        self.init(
            isReplayable: isReplayable,
            renew: renew,
            isChunked: length == nil,
            measure: { _, _ in length }
        ) { loop in
            let source = try await open(loop)
            return length.map(source.giving) ?? source
        }
    }

    /// Returns a body of these bytes with trailers.
    package static func bytes(_ bytes: [UInt8], trailers: @escaping Trailers) -> StreamedBody {
        StreamedBody(isReplayable: true, measure: { _, _ in nil }, trailers: trailers) { _ in
            RequestBodySource(of: bytes)
        }
    }

    /// Returns the same body with trailers, behind those that it has; for these it is sent in chunks.
    package func followed(by trailers: @escaping Trailers) -> StreamedBody {
        StreamedBody(
            isReplayable: isReplayable,
            endsAtOnce: endsAtOnce,
            renew: renew,
            measure: { loop, end in
                _ = try await self.measure(on: loop, until: end)
                return nil
            },
            trailers: { [earlier = self.trailers] in
                var fields = try await earlier?() ?? HTTPHeaders()
                let more = try await trailers()
                for position in more.indices { fields.add(fieldAt: position, of: more) }
                return fields
            },
            open: { loop in try await self.open(loop) }
        )
    }
}

/// The source of the pieces of a request body, which are requested one at a time while the body is sent.
package final class RequestBodySource {
    private let nextPiece: () async throws -> [UInt8]?

    package init(_ nextPiece: @escaping () async throws -> [UInt8]?) {
        self.nextPiece = nextPiece
    }

    /// A source with a single piece.
    package convenience init(of bytes: [UInt8]) {
        var rest: [UInt8]? = bytes
        self.init {
            defer { rest = nil }
            return rest
        }
    }

    /// Returns the same source, which fails where it gives more than so many bytes, or ends with fewer.
    package func giving(_ length: UInt64) -> RequestBodySource {
        var given: UInt64 = 0
        return RequestBodySource {
            let piece = try await self.next()
            given += UInt64(piece?.count ?? 0)
            guard given <= length, piece != nil || given == length else {
                throw TransportError.failed(.write, .bodyLength(announced: length, given: given))
            }
            return piece
        }
    }

    /// Returns the next piece; `nil` at the end.
    package func next() async throws -> [UInt8]? {
        try await nextPiece()
    }
}
