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
    private var wait = PieceWait()
    private var monitor = ThroughputMonitor(.init(nil))
    /// The trailers of the body in whose place this one is, once that has ended. Only these, not the body: it
    /// is given up when the program lets it go.
    private let inherited: Locked<HTTPHeaders>
    /// Whether it is in the place of a body that has the limits of speed itself. What the program makes of
    /// that, and when, says nothing of the peer.
    private let hasMeasuredSource: Bool

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
        if case .arriving = former { hasMeasuredSource = true } else { hasMeasuredSource = false }
        let iterator = SoleIterator(pieces)
        supply = { try await iterator.next() }
    }

    var limit: CallLimit { wait.limit }

    func take(_ wait: PieceWait) -> Bool {
        self.wait = wait
        if !hasMeasuredSource { monitor = ThroughputMonitor(wait.speed) }
        return true
    }

    func next() async throws -> [UInt8]? {
        while true {
            if Task.isCancelled { throw CancellationError() }
            guard let supply, let piece = try await wait.piece(at: location, &monitor, from: supply) else {
                break
            }
            if !piece.isEmpty { return piece }
        }
        supply = nil
        return nil
    }

    func drain() async { supply = nil }
}

/// The body of a response that another client's call has brought, as that of this one's: read within the
/// limits of both.
private final class BorrowedBody: ResponseBodySource {
    private let body: GuardedBody
    private let wait: PieceWait
    private var monitor: ThroughputMonitor
    let location: BodyLocation

    init(_ body: GuardedBody, _ wait: PieceWait) {
        (self.body, self.wait, location) = (body, wait, body.location)
        monitor = ThroughputMonitor(wait.speed)
    }

    var limit: CallLimit { wait.limit }
    var bytesLeft: UInt64? { body.bytesLeft }
    var trailers: HTTPHeaders { body.trailers }

    func next() async throws -> [UInt8]? {
        try await wait.piece(at: location, &monitor) { [body] in try await body.next() }
    }

    func drain() async { await body.drain() }
}

/// The limits of a call within which it waits for each piece of a body that it has not brought itself.
package struct PieceWait: Sendable {
    var limit = CallLimit.none
    var stall = UInt64.max
    var speed = Timeouts.Speed.Watch(nil)
    var loop = EventLoop.shared

    /// Returns the next piece, or throws when a limit passes or the task is cancelled.
    fileprivate func piece(
        at location: BodyLocation,
        _ monitor: inout ThroughputMonitor,
        from supply: @escaping @Sendable () async throws -> [UInt8]?
    ) async throws -> [UInt8]? {
        let start = loop.now
        let (stallEnd, slowEnd) = (start.advanced(byNanoseconds: stall), monitor.end(from: start))
        guard slowEnd > start else { throw location.error(.tooSlow(monitor.speed)) }
        do throws(ForeignFailure) {
            let piece = try await askForeignCode(
                until: min(limit.end, stallEnd, slowEnd),
                on: loop,
                executor: limit.threads,
                supply
            )
            monitor.enter(waitFrom: start, to: loop.now)
            monitor.count(piece?.count ?? 0)
            return piece
        } catch {
            switch error {
            case .threw(let error): throw error
            case .cancelled: throw CancellationError()
            case .silent where slowEnd < min(limit.end, stallEnd):
                throw location.error(.tooSlow(monitor.speed))
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

    /// Limits the waits for a body that the call has not brought itself: one of the program's own code, or of
    /// another client.
    ///
    /// - Parameter own: The body that the call has brought, which has its limits.
    mutating func limit(by wait: PieceWait, own: GuardedBody?) {
        guard case .arriving(let body) = content, body !== own, !body.take(wait) else { return }
        let borrowed = GuardedBody(BorrowedBody(body, wait))
        borrowed.endWithCall(on: wait.loop)
        content = .arriving(borrowed)
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
