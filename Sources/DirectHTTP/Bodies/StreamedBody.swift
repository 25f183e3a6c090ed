internal import DirectHTTP1
internal import DirectIO

/// A body that is had piece by piece, while it is sent.
final class StreamedBody: Sendable {
    typealias Trailers = @Sendable () async throws -> Headers

    /// Whether it can be opened more than once, and gives the same each time.
    let isReplayable: Bool
    /// Whether behind its last piece it says at once that there is no more. Others may take their time over it.
    let endsAtOnce: Bool
    /// How many bytes it has; nothing if that shows only at the end. Asked before anything is sent, and also
    /// where what is wrong with the body comes out.
    let measure: @Sendable (EventLoop) async throws -> UInt64?
    /// Begins to read it. Called when the first byte can be sent, not before.
    let open: @Sendable (EventLoop) async throws -> BodySource
    /// Makes the fields that follow it.
    let trailers: Trailers?

    init(
        isReplayable: Bool,
        endsAtOnce: Bool = false,
        measure: @escaping @Sendable (EventLoop) async throws -> UInt64?,
        trailers: Trailers? = nil,
        open: @escaping @Sendable (EventLoop) async throws -> BodySource
    ) {
        self.isReplayable = isReplayable
        self.endsAtOnce = endsAtOnce
        self.measure = measure
        self.open = open
        self.trailers = trailers
    }

    convenience init(
        isReplayable: Bool,
        length: UInt64?,
        open: @escaping @Sendable (EventLoop) async throws -> BodySource
    ) {
        self.init(isReplayable: isReplayable, measure: { _ in length }, open: open)
    }

    static func bytes(_ bytes: [UInt8], _ trailers: @escaping Trailers) -> StreamedBody {
        StreamedBody(isReplayable: true, measure: { _ in nil }, trailers: trailers) { _ in
            BodySource(of: bytes)
        }
    }

    /// The same body, in chunks, with these fields behind it.
    func followed(by trailers: @escaping Trailers) -> StreamedBody {
        let measure = measure
        return StreamedBody(
            isReplayable: isReplayable,
            endsAtOnce: endsAtOnce,
            measure: { loop in
                _ = try await measure(loop)
                return nil
            },
            trailers: trailers,
            open: open
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
    /// The call's answer, unless the task is cancelled before.
    func run<Answer: Sendable>(
        on loop: EventLoop,
        _ call: @escaping @Sendable () throws(SystemError) -> Answer
    ) async throws -> Answer {
        let outcome: Result<Answer, SystemError>
        do throws(BlockingWork.Abandoned) {
            outcome = try await run(until: .never, on: loop) {
                do throws(SystemError) {
                    return .success(try call())
                } catch {
                    return .failure(error)
                }
            }
        } catch {
            throw CancellationError()
        }
        return try outcome.get()
    }
}
