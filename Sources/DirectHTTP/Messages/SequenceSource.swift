internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// The pieces of a body that a sequence of the program's own supplies: that of a mock transport or an
/// interceptor.
///
/// The sequence may ignore cancellation and time limits, so each piece is waited for in a task of its own.
final class SequenceSource: ResponseBodySource {
    /// Returns the next piece; `nil` when the body has ended. Released then, and when the rest is not wanted:
    /// the sequence may hold the connection of another body.
    private var supply: (@Sendable () async throws -> [UInt8]?)?
    let location: BodyLocation
    /// The limits of the call, which whatever made the response did not know.
    private(set) var limit = CallLimit.none
    private var stall = UInt64.max
    private var loop = EventLoop.shared
    /// The trailers of the body in whose place this one is, once that has ended. Only these, not the body: it
    /// is given up when the program lets it go.
    private let inherited: Locked<HTTPHeaders>

    var trailers: HTTPHeaders { inherited.withLock { $0 } }

    /// - Parameter former: The body in whose place this one is, and which the sequence may read.
    init(
        _ pieces: some AsyncSequence<[UInt8], some Error> & Sendable,
        name: String,
        inPlaceOf former: ResponseBody.Storage? = nil
    ) {
        location = BodyLocation(name: name)
        switch former {
        case .complete(_, let trailers, _): inherited = Locked(trailers)
        case .arriving(let body): inherited = body.trailersAtEnd()
        case nil: inherited = Locked(HTTPHeaders())
        }
        let iterator = SoleIterator(pieces)
        supply = { try await iterator.next() }
    }

    func take(_ limit: CallLimit, stall: UInt64, on loop: EventLoop) {
        (self.limit, self.stall, self.loop) = (limit, stall, loop)
    }

    func next() async throws -> [UInt8]? {
        while true {
            if Task.isCancelled { throw CancellationError() }
            guard let supply, let piece = try await wait(for: supply) else { break }
            if !piece.isEmpty { return piece }
        }
        supply = nil
        return nil
    }

    func drain() async { supply = nil }

    /// Returns the next piece, or throws when a limit passes or the task is cancelled.
    private func wait(for supply: @escaping @Sendable () async throws -> [UInt8]?) async throws -> [UInt8]? {
        let stallEnd = loop.now.advanced(byNanoseconds: stall)
        do throws(ForeignFailure) {
            return try await askForeignCode(
                until: min(limit.end, stallEnd),
                on: loop,
                executor: limit.threads,
                supply
            )
        } catch {
            switch error {
            case .threw(let error): throw error
            case .cancelled: throw CancellationError()
            case .silent:
                let time = stallEnd < limit.end ? stall : limit.total
                throw location.error(.timedOut(after: .nanoseconds(Int64(clamping: time))))
            }
        }
    }
}

extension ResponseBody {
    /// Makes a body of a sequence of the program's own.
    init(_ pieces: some AsyncSequence<[UInt8], some Error> & Sendable, name: String) {
        self.init(content: .arriving(GuardedBody(SequenceSource(pieces, name: name))))
    }

    /// Sets the limits of the call, if the program's own code has made the body.
    func take(_ limit: CallLimit, stall: UInt64, on loop: EventLoop) {
        if case .arriving(let body) = content { body.take(limit, stall: stall, on: loop) }
    }
}

/// The iterator of a sequence, for the one task at a time that reads a body. After a piece that was not
/// waited for, no other is asked for.
private final class SoleIterator<Pieces: AsyncSequence>: @unchecked Sendable where Pieces.Element == [UInt8] {
    private var iterator: Pieces.AsyncIterator

    init(_ pieces: Pieces) {
        iterator = pieces.makeAsyncIterator()
    }

    func next() async throws -> [UInt8]? { try await iterator.next(isolation: nil) }
}
