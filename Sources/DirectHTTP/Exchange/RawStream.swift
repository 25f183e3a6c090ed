public import DirectIO
internal import DirectHTTP1
internal import Synchronization

/// A connection that no longer speaks HTTP: bytes in both directions, under TLS if it was before.
///
/// It has left the client's pool. One task may read while another one writes; letting go of it closes it. Reads
/// wait for as long as it takes, writes as long as `timeouts.write` allows; cancelling a task ends its wait and
/// leaves the stream usable.
public final class RawStream: @unchecked Sendable {
    /// The name the connection was made for.
    public let name: String
    /// The address it leads to.
    public let endpoint: Endpoint
    private let connection: Connection
    private let writeLimit: UInt64
    private let isReading = Atomic<Bool>(false)
    private let isWriting = Atomic<Bool>(false)
    /// Closed on this side, by whichever task.
    private let closed = Atomic<Bool>(false)
    /// Touched by the reading task alone: the bytes that came behind the head.
    private var early: [UInt8]
    private var isAtEnd = false
    /// Touched by the writing task alone.
    private var hasFinished = false

    /// Takes over a connection that nobody else uses any more.
    init(_ connection: Connection, _ timeouts: Timeouts.Nanoseconds) {
        self.connection = connection
        name = connection.facts.name
        endpoint = connection.facts.endpoint
        writeLimit = timeouts.write
        early = connection.takeUnparsed()
        connection.beginDuplex()
    }

    deinit {
        connection.close()
    }

    /// The next bytes, as many as have arrived but at most `limit`; nothing when the peer has ended its side.
    @concurrent
    public func read(upTo limit: Int = 64 * 1024) async throws -> [UInt8]? {
        try await alone(isReading) { () throws(CallFailure) in try await readPiece(max(1, limit)) }
    }

    /// Sends all of the bytes.
    @concurrent
    public func write(_ bytes: [UInt8]) async throws {
        try await alone(isWriting) { () throws(CallFailure) in
            guard !hasFinished, !isClosed else { throw .failed(.write, .streamClosed) }
            var sent = 0
            while sent < bytes.count {
                let step = unsafe bytes.withUnsafeBytes { all in
                    unsafe connection.write(UnsafeRawBufferPointer(rebasing: all[sent...]))
                }
                if case .moved(let count) = step {
                    sent += count
                } else {
                    try await connection.waitToWrite(after: step, writePatience, from: .now)
                }
            }
        }
    }

    /// Tells the peer that nothing more will be written; what it sends can still be read.
    @concurrent
    public func finishWriting() async throws {
        try await alone(isWriting) { () throws(CallFailure) in
            guard !hasFinished else { return }
            while true {
                let step = connection.finishSending()
                if case .moved = step { break }
                try await connection.waitToWrite(after: step, writePatience, from: .now)
            }
            hasFinished = true
        }
    }

    /// Closes the connection, at once and in both directions. Whoever is reading or writing gets an error.
    public func close() {
        closed.store(true, ordering: .releasing)
        connection.close()
        // The descriptor is gone: nothing else would ever wake who waits for it.
        connection.socket.input.signal()
        connection.socket.output.signal()
    }

    private var isClosed: Bool { closed.load(ordering: .acquiring) }

    private func readPiece(_ limit: Int) async throws(CallFailure) -> [UInt8]? {
        if !early.isEmpty {
            let piece = Array(early.prefix(limit))
            early.removeFirst(piece.count)
            return piece
        }
        let patience = Patience(phase: .body, stall: .max, end: .never, total: .max)
        while !isAtEnd {
            if Task.isCancelled { throw .cancelled }
            var step = Connection.Step.wantsInput
            let piece = unsafe [UInt8](unsafeUninitializedCapacity: limit) { memory, filled in
                step = unsafe connection.read(into: UnsafeMutableRawBufferPointer(memory))
                if case .moved(let count) = step { filled = count }
            }
            switch step {
            case .moved: return piece
            case .again: try await patience.takeTurn(from: .now)
            case .wantsInput: try await connection.waitForInput(patience, from: .now)
            case .wantsRoom: try await connection.waitCrosswise(patience, from: .now)
            case .ended(clean: true): isAtEnd = true
            // Cut off, not ended: under TLS anybody on the way could have done that.
            case .ended(clean: false): throw .failed(.body, .connectionClosed)
            case .failed(let reason): throw .failed(.body, reason)
            }
        }
        return nil
    }

    private var writePatience: Patience {
        Patience(phase: .write, stall: writeLimit, end: .never, total: .max)
    }

    private func alone<Value>(
        _ isBusy: borrowing Atomic<Bool>,
        _ body: () async throws(CallFailure) -> Value
    ) async throws -> Value {
        guard isBusy.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged else {
            throw HTTPError(.body, .bodyAlreadyRead, name: name, endpoint: endpoint)
        }
        defer { isBusy.store(false, ordering: .releasing) }
        do throws(CallFailure) {
            return try await body()
        } catch {
            switch error {
            case .cancelled: throw CancellationError()
            case .failed(let phase, let reason):
                throw HTTPError(phase, isClosed ? .streamClosed : reason, name: name, endpoint: endpoint)
            }
        }
    }
}

/// The connection of a response that has switched protocols, until somebody takes it: as a body it is empty.
final class PendingStream: BodyPieces, Sendable {
    let trailers = Headers()
    private let stream: Locked<RawStream?>

    init(_ stream: RawStream) {
        self.stream = Locked(stream)
    }

    func next() async throws -> [UInt8]? { nil }

    func collect(upTo limit: Int) async throws -> [UInt8] { [] }

    func take() -> RawStream? {
        stream.withLock { stream in
            defer { stream = nil }
            return stream
        }
    }
}

extension Response {
    /// The connection itself, once the server has switched protocols (101) or opened a tunnel (2xx to `CONNECT`);
    /// to be taken once. What has arrived behind the head is read from it first.
    public func takeStream() throws -> RawStream {
        guard case .arriving(let pieces) = body.content, let pending = pieces as? PendingStream,
            let stream = pending.take()
        else {
            let facts = transaction?.connection
            throw HTTPError(.body, .noStream, name: facts?.name, endpoint: facts?.endpoint)
        }
        return stream
    }
}
