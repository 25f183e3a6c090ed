public import DirectIO
internal import DirectHTTP1
internal import Synchronization

/// A connection that no longer speaks HTTP: bytes in both directions, under TLS if it was before.
///
/// It has left the client's pool. One task may read while another one writes; letting go of it closes it. A read
/// waits for as long as its `timeout` says, a write as long as `timeouts.write` allows for the next progress. TCP asks
/// an idle peer from time to time whether it is still there.
///
/// A cancelled task ends its wait and leaves the stream usable: a read has taken nothing, and a write has sent the
/// first part of its bytes, whose end nobody can tell. What is written next comes behind that part.
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
        // Without a limit a dead peer would never be noticed.
        connection.socket.enableKeepAlive()
    }

    deinit {
        connection.close()
    }

    /// The next bytes, as many as have arrived but at most `limit`; nothing when the peer has ended its side.
    ///
    /// With `timeout`, a peer that sends nothing for so long is an error; the stream stays usable.
    @concurrent
    public func read(upTo limit: Int = 64 * 1024, timeout: Duration? = nil) async throws -> [UInt8]? {
        try await alone(isReading) { () throws(CallFailure) in
            try await readPiece(max(1, limit), within: timeout?.clampedNanoseconds ?? .max)
        }
    }

    /// Sends all of the bytes.
    @concurrent
    public func write(_ bytes: [UInt8]) async throws {
        try await alone(isWriting) { () throws(CallFailure) in
            guard !hasFinished, !isClosed else { throw .failed(.write, .streamClosed) }
            var patience = writePatience
            var sent = 0
            while sent < bytes.count {
                let step = unsafe bytes.withUnsafeBytes { all in
                    unsafe connection.write(UnsafeRawBufferPointer(rebasing: all[sent...]))
                }
                if case .moved(let count) = step {
                    sent += count
                    patience = writePatience
                    if Task.isCancelled { throw .cancelled }
                } else {
                    try await connection.wait(for: step, as: .writer, patience)
                }
            }
            try await connection.flushAll(patience)
        }
    }

    /// Tells the peer that nothing more will be written; what it sends can still be read.
    @concurrent
    public func finishWriting() async throws {
        try await alone(isWriting) { () throws(CallFailure) in
            guard !hasFinished else { return }
            let patience = writePatience
            while true {
                let step = connection.finishSending()
                if case .moved = step { break }
                try await connection.wait(for: step, as: .writer, patience)
            }
            hasFinished = true
        }
    }

    /// Closes the connection, at once and in both directions. Whoever is reading or writing gets an error.
    public func close() {
        closed.store(true, ordering: .releasing)
        connection.close()
        // The descriptor is gone: nothing else would ever wake who waits for it.
        connection.socket.wakeAll()
    }

    private var isClosed: Bool { closed.load(ordering: .acquiring) }

    private func readPiece(_ limit: Int, within stall: UInt64) async throws(CallFailure) -> [UInt8]? {
        if !early.isEmpty {
            let piece = Array(early.prefix(limit))
            early.removeFirst(piece.count)
            return piece
        }
        let patience = patience(.body, stall: stall)
        while !isAtEnd {
            if Task.isCancelled { throw .cancelled }
            var step = Connection.Step.wantsInput
            let piece = unsafe [UInt8](unsafeUninitializedCapacity: limit) { memory, filled in
                step = unsafe connection.read(into: UnsafeMutableRawBufferPointer(memory))
                if case .moved(let count) = step { filled = count }
            }
            switch step {
            case .moved: return piece
            case .again, .wantsInput, .wantsRoom: try await connection.wait(for: step, as: .reader, patience)
            case .ended(clean: true): isAtEnd = true
            // Cut off, not ended: under TLS anybody on the way could have done that.
            case .ended(clean: false): throw .failed(.body, .connectionClosed)
            case .failed(let reason): throw .failed(.body, reason)
            }
        }
        return nil
    }

    private var writePatience: Patience { patience(.write, stall: writeLimit) }

    /// The limits of a wait that begins now; the call that led here is over.
    private func patience(_ phase: HTTPError.Phase, stall: UInt64) -> Patience {
        Patience(phase, stall: stall, end: .never, total: .max, from: connection.loop.now)
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
