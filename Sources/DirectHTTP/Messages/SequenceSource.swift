internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport
internal import Synchronization

/// A body whose pieces a sequence of the program's own supplies: that of a mock transport or an interceptor.
///
/// The sequence may ignore cancellation and time limits, so each piece is waited for in a task of its own.
/// One task may read at a time: `isBusy` guards all state below it.
final class SequenceBody: ResponseBodySource, @unchecked Sendable {
    typealias Next = @Sendable () async throws -> [UInt8]?

    private let isBusy = Atomic<Bool>(false)
    /// Returns the next piece; `nil` when the body has ended.
    private var supply: Next?
    private var failure: (any Error)?
    private let name: String
    private let terms = Locked(Terms())

    /// The time limits of the call that the body belongs to.
    private struct Terms {
        var limit = CallLimit.none
        var stall = UInt64.max
        var loop = EventLoop.shared
    }

    let trailers = HTTPHeaders()

    init(_ pieces: some AsyncSequence<[UInt8], any Error> & Sendable, name: String) {
        self.name = name
        let iterator = SoleIterator(pieces)
        supply = { try await iterator.next() }
    }

    var limit: CallLimit { terms.withLock { $0.limit } }

    /// Sets the limits of the call, which whatever made the response did not know.
    func take(_ limit: CallLimit, stall: UInt64, on loop: EventLoop) {
        terms.withLock { $0 = Terms(limit: limit, stall: stall, loop: loop) }
    }

    func next() async throws -> [UInt8]? {
        try await exclusively { try await self.nextPiece() }
    }

    func collect(upTo limit: Int) async throws -> [UInt8] {
        try await exclusively {
            var all: [UInt8] = []
            while let piece = try await self.nextPiece() {
                guard all.count + piece.count <= limit else {
                    throw self.fail(self.error(.bodyTooLarge(limit: limit)))
                }
                all += piece
            }
            return all
        }
    }

    func drain() async {
        try? await exclusively { _ = self.fail(self.error(.bodyAlreadyRead)) }
    }

    func error(_ reason: HTTPError.Reason) -> HTTPError { HTTPError(.body, reason, name: name) }

    private func nextPiece() async throws -> [UInt8]? {
        if let failure { throw failure }
        guard let supply else { throw error(.bodyAlreadyRead) }
        while true {
            if Task.isCancelled { throw fail(CancellationError()) }
            let piece: [UInt8]?
            do { piece = try await waited(for: supply) } catch { throw fail(error) }
            guard let piece else {
                self.supply = nil
                return nil
            }
            if !piece.isEmpty { return piece }
        }
    }

    /// Returns the next piece, or throws when a limit passes or the task is cancelled.
    private func waited(for supply: @escaping Next) async throws -> [UInt8]? {
        let terms = terms.withLock { $0 }
        let stallEnd = terms.loop.now.advanced(byNanoseconds: terms.stall)
        let end = min(terms.limit.end, stallEnd)
        do throws(ForeignFailure) {
            return try await askForeignCode(until: end, on: terms.loop, supply)
        } catch {
            switch error {
            case .threw(let error): throw error
            case .cancelled: throw CancellationError()
            case .silent:
                let limit = stallEnd < terms.limit.end ? terms.stall : terms.limit.total
                throw self.error(.timedOut(after: .nanoseconds(Int64(clamping: limit))))
            }
        }
    }

    /// Ends the body with this error, and releases the sequence.
    private func fail(_ error: any Error) -> any Error {
        supply = nil
        failure = error
        return error
    }

    private func exclusively<Value>(_ body: () async throws -> Value) async throws -> Value {
        guard isBusy.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged else {
            throw error(.bodyAlreadyRead)
        }
        defer { isBusy.store(false, ordering: .releasing) }
        return try await body()
    }
}

extension ResponseBody {
    /// Sets the limits of the call, if the program's own code has made the body.
    func take(_ limit: CallLimit, stall: UInt64, on loop: EventLoop) {
        if case .arriving(let pieces) = content { pieces.take(limit, stall: stall, on: loop) }
    }
}

/// The iterator of a sequence, for the one task at a time that reads a ``SequenceBody``. After a piece that
/// was not waited for, no other is asked for.
private final class SoleIterator<Pieces: AsyncSequence<[UInt8], any Error>>: @unchecked Sendable {
    private var iterator: Pieces.AsyncIterator

    init(_ pieces: Pieces) {
        iterator = pieces.makeAsyncIterator()
    }

    func next() async throws -> [UInt8]? { try await iterator.next(isolation: nil) }
}
