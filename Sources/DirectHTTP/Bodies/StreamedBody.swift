internal import DirectHTTP1
internal import DirectIO
internal import Synchronization

/// A body that is had piece by piece, while it is sent.
final class StreamedBody: Sendable {
    typealias Trailers = @Sendable () async throws -> Headers

    /// Whether it can be opened more than once, and gives the same each time.
    let isReplayable: Bool
    /// Whether behind its last piece it says at once that there is no more. Others may take their time over it.
    let endsAtOnce: Bool
    /// Makes the fields that follow it.
    let trailers: Trailers?
    private let size: @Sendable (EventLoop, Instant) async throws -> UInt64?
    private let source: @Sendable (EventLoop) async throws -> BodySource
    /// Whether it has been opened.
    private let isSpent = Atomic(false)

    init(
        isReplayable: Bool,
        endsAtOnce: Bool = false,
        measure: @escaping @Sendable (EventLoop, Instant) async throws -> UInt64?,
        trailers: Trailers? = nil,
        open: @escaping @Sendable (EventLoop) async throws -> BodySource
    ) {
        self.isReplayable = isReplayable
        self.endsAtOnce = endsAtOnce
        size = measure
        source = open
        self.trailers = trailers
    }

    /// How many bytes it has; `nil` if that shows only at the end. Asked before anything is sent, and also where what
    /// is wrong with the body comes out. Throws `BlockingWork.Abandoned` if the disk takes longer than until `end`.
    func measure(on loop: EventLoop, until end: Instant) async throws -> UInt64? {
        if !isReplayable, isSpent.load(ordering: .acquiring) { throw RequestBodyFault.alreadySent }
        return try await size(loop, end)
    }

    /// Begins to read it. Called when the first byte can be sent, not before. A body that can be had once is given
    /// out once: whoever comes second would find nothing, and send an empty body.
    func open(_ loop: EventLoop) async throws -> BodySource {
        if isSpent.exchange(true, ordering: .acquiringAndReleasing), !isReplayable {
            throw RequestBodyFault.alreadySent
        }
        return try await source(loop)
    }

    convenience init(
        isReplayable: Bool,
        length: UInt64?,
        open: @escaping @Sendable (EventLoop) async throws -> BodySource
    ) {
        self.init(isReplayable: isReplayable, measure: { _, _ in length }, open: open)
    }

    static func bytes(_ bytes: [UInt8], _ trailers: @escaping Trailers) -> StreamedBody {
        StreamedBody(isReplayable: true, measure: { _, _ in nil }, trailers: trailers) { _ in
            BodySource(of: bytes)
        }
    }

    /// The same body, in chunks, with these fields behind it.
    func followed(by trailers: @escaping Trailers) -> StreamedBody {
        StreamedBody(
            isReplayable: isReplayable,
            endsAtOnce: endsAtOnce,
            measure: { loop, end in
                _ = try await self.measure(on: loop, until: end)
                return nil
            },
            trailers: trailers,
            open: { loop in try await self.open(loop) }
        )
    }
}

/// Where the pieces of a body that is being sent come from: asked for more only when the last one is on its way.
final class BodySource {
    private let nextPiece: () async throws -> [UInt8]?

    init(_ nextPiece: @escaping () async throws -> [UInt8]?) {
        self.nextPiece = nextPiece
    }

    convenience init(of bytes: [UInt8]) {
        var rest: [UInt8]? = bytes
        self.init {
            defer { rest = nil }
            return rest
        }
    }

    func next() async throws -> [UInt8]? {
        try await nextPiece()
    }
}

extension BlockingWork {
    /// The call's answer, unless the task is cancelled before, or the moment comes (`Abandoned.expired`).
    func run<Answer: Sendable>(
        until deadline: Instant = .never,
        on loop: EventLoop,
        _ call: @escaping @Sendable () throws(SystemError) -> Answer
    ) async throws -> Answer {
        let outcome: Result<Answer, SystemError>
        do throws(BlockingWork.Abandoned) {
            outcome = try await run(until: deadline, on: loop) {
                do throws(SystemError) {
                    return .success(try call())
                } catch {
                    return .failure(error)
                }
            }
        } catch {
            guard error == .expired else { throw CancellationError() }
            throw error
        }
        return try outcome.get()
    }
}
