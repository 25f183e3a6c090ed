internal import DirectCore
package import DirectHTTP1
package import DirectIO
package import DirectTransport
internal import Synchronization

/// The source of a response body's pieces: a connection, or another source whose pieces are decoded, stored
/// or counted on the way.
///
/// Releasing it before its end abandons the rest of the body.
package protocol ResponseBodySource: AnyObject, Sendable {
    /// Returns the next piece, which is never empty; `nil` at the end. Only one task at a time may call this.
    func next() async throws -> [UInt8]?

    /// Returns the rest of the body; throws if it is larger than `limit`.
    func collect(upTo limit: Int) async throws -> [UInt8]

    /// Reads and discards the rest if it is small and arrives soon, so that the connection can be reused;
    /// closes the connection otherwise. Nothing can be read afterwards.
    func drain() async

    /// Sets the limits of the call, for a body that the program's own code has made.
    func take(_ limit: CallLimit, stall: UInt64, on loop: EventLoop)

    /// The deadline of the call that the body belongs to.
    var limit: CallLimit { get }

    /// The number of bytes still to be read; `nil` if it is unknown or a task is reading.
    var bytesLeft: UInt64? { get }

    /// The trailer fields; complete once the body has been read to its end.
    var trailers: HTTPHeaders { get }

    /// Returns an error of this body, with its name and endpoint if they are known.
    func error(_ reason: HTTPError.Reason) -> HTTPError
}

extension ResponseBodySource {
    package func drain() async {}

    package func take(_ limit: CallLimit, stall: UInt64, on loop: EventLoop) {}

    package var bytesLeft: UInt64? { nil }

    package var limit: CallLimit { .none }

    package func error(_ reason: HTTPError.Reason) -> HTTPError { HTTPError(.body, reason) }
}

/// A body that has arrived whole. Like any other body it can be read once.
final class BufferedBody: ResponseBodySource {
    let trailers: HTTPHeaders
    private let bytes: [UInt8]
    private let facts: ConnectionFacts?
    private let state = Atomic<UInt8>(State.unread)

    private enum State {
        static let unread: UInt8 = 0
        static let taken: UInt8 = 1
        static let ended: UInt8 = 2
    }

    init(_ bytes: [UInt8], _ trailers: HTTPHeaders, _ facts: ConnectionFacts?) {
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
        HTTPError(.body, reason, name: facts?.name, endpoint: facts?.dialledEndpoint)
    }
}
