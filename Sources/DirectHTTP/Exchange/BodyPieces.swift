internal import DirectHTTP1
internal import DirectIO
internal import Synchronization

/// Where the pieces of a response's body come from: a connection, or another such source whose pieces are
/// decoded, kept or counted on their way.
///
/// Letting go of it before its end gives up the rest.
protocol BodyPieces: AnyObject, Sendable {
    /// The next piece, never empty; nothing at the end. One task at a time may ask.
    func next() async throws -> [UInt8]?

    /// All that is left, unless it is more than `limit`.
    func collect(upTo limit: Int) async throws -> [UInt8]

    /// Reads over the rest if that is little and comes soon, so that the connection can serve again; else gives
    /// it up. Nothing can be read afterwards.
    func drain() async

    /// How long the call that the body belongs to may still take.
    var limit: CallLimit { get }

    /// How many bytes are still to come, if that is known and nobody is reading.
    var bytesLeft: UInt64? { get }

    /// The fields that came behind the body; there once it has been read to its end.
    var trailers: Headers { get }

    /// An error of this body, which says where it came from.
    func error(_ reason: HTTPError.Reason) -> HTTPError
}

extension BodyPieces {
    func drain() async {}

    var bytesLeft: UInt64? { nil }

    var limit: CallLimit { .none }

    func error(_ reason: HTTPError.Reason) -> HTTPError { HTTPError(.body, reason) }
}

/// When a call is over, and how long it was to take, in nanoseconds.
struct CallLimit: Sendable {
    let end: Instant
    let total: UInt64

    /// As long as it likes.
    static let none = CallLimit(end: .never, total: .max)

    /// What to say when that moment has come.
    var timeout: HTTPError.Reason { .timedOut(after: .nanoseconds(Int64(clamping: total))) }
}

/// A body that is wholly there, and is still to be had only once, like any other.
final class WholeBody: BodyPieces {
    let trailers: Headers
    private let bytes: [UInt8]
    private let facts: ConnectionFacts?
    private let state = Atomic<UInt8>(State.unread)

    private enum State {
        static let unread: UInt8 = 0
        static let taken: UInt8 = 1
        static let ended: UInt8 = 2
    }

    init(_ bytes: [UInt8], _ trailers: Headers, _ facts: ConnectionFacts?) {
        self.bytes = bytes
        self.trailers = trailers
        self.facts = facts
    }

    func next() async throws -> [UInt8]? {
        if moves(from: State.unread, to: bytes.isEmpty ? State.ended : State.taken) {
            return bytes.isEmpty ? nil : bytes
        }
        if moves(from: State.taken, to: State.ended) { return nil }
        throw error(.bodyAlreadyRead)
    }

    func collect(upTo limit: Int) async throws -> [UInt8] {
        if moves(from: State.unread, to: State.ended) {
            guard bytes.count <= limit else { throw error(.bodyTooLarge(limit: limit)) }
            return bytes
        }
        if moves(from: State.taken, to: State.ended) { return [] }
        throw error(.bodyAlreadyRead)
    }

    var bytesLeft: UInt64? { UInt64(bytes.count) }

    private func moves(from before: UInt8, to after: UInt8) -> Bool {
        state.compareExchange(expected: before, desired: after, ordering: .relaxed).exchanged
    }

    func error(_ reason: HTTPError.Reason) -> HTTPError {
        HTTPError(.body, reason, name: facts?.name, endpoint: facts?.endpoint)
    }
}
