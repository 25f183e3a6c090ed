public import DirectCore
internal import DirectIO
internal import DirectHTTP1
internal import DirectTransport
internal import Synchronization

/// A connection that no longer speaks HTTP: bytes in both directions, under TLS if the connection used TLS
/// before.
///
/// The connection has left the client's pool. One task may read while another one writes; releasing the
/// stream closes it. A read waits as long as its `timeout` allows, a write as long as ``Timeouts/write``
/// allows without progress. TCP keep-alive probes detect a peer that is gone.
///
/// Cancelling a task ends its wait and leaves the stream usable: a cancelled read has consumed nothing, and a
/// cancelled write has sent an unknown part of its bytes. What is written next follows that part.
public final class RawStream: @unchecked Sendable {
    /// The name that the connection was made for.
    public let name: String
    /// The endpoint that the bytes go to: the proxy's if that resolved the name, else the server's; `nil` for
    /// a Unix domain socket.
    public let endpoint: Endpoint?
    private let connection: Connection
    private let writeLimit: IdleLimit
    private let isReading = Atomic<Bool>(false)
    private let isWriting = Atomic<Bool>(false)
    /// Whether this side has closed the stream; any task may set it.
    private let closed = Atomic<Bool>(false)
    /// The bytes that arrived behind the head. Touched by the reading task only.
    private var early: [UInt8]
    private var isAtEnd = false
    /// Whether the writing side has ended. Touched by the writing task only.
    private var hasFinished = false

    /// Takes over a connection that has no other user.
    init(_ connection: Connection, _ timeouts: Timeouts.Nanoseconds) {
        self.connection = connection
        name = connection.facts.name
        endpoint = connection.facts.endpoint
        writeLimit = timeouts.write
        early = connection.takeUnparsed()
        connection.beginDuplex()
        // Reads have no time limit by default: without probes a dead peer would never be noticed.
        connection.socket.enableKeepAlive()
    }

    deinit {
        connection.close()
    }

    /// Reads the next bytes, as many as have arrived but at most `limit`.
    ///
    /// - Parameters:
    ///   - limit: The number of bytes that are returned at most.
    ///   - timeout: The time for which the peer may send nothing. The stream stays usable after the error;
    ///     `nil` means no limit.
    /// - Returns: The bytes; `nil` if the peer has ended its side.
    /// - Throws: ``HTTPError``, or `CancellationError` if the task is cancelled.
    @concurrent
    public func read(upTo limit: Int = 64 * 1024, timeout: Duration? = nil) async throws -> [UInt8]? {
        try await alone(isReading) { () throws(TransportError) in
            try await readPiece(max(1, limit), within: IdleLimit(setByCaller: timeout))
        }
    }

    /// Writes all of the bytes.
    ///
    /// - Throws: ``HTTPError``, or `CancellationError` if the task is cancelled.
    @concurrent
    public func write(_ bytes: [UInt8]) async throws {
        try await alone(isWriting) { () throws(TransportError) in
            guard !hasFinished, !isClosed else { throw .failed(.write, .streamClosed) }
            var deadline = writePatience
            var sent = 0
            while sent < bytes.count {
                let step = unsafe bytes.withUnsafeBytes { all in
                    unsafe connection.write(UnsafeRawBufferPointer(rebasing: all[sent...]))
                }
                if case .moved(let count) = step {
                    sent += count
                    deadline = writePatience
                    if Task.isCancelled { throw .cancelled }
                } else {
                    try await connection.wait(for: step, as: .writer, deadline)
                }
            }
            try await connection.flushAll(deadline)
        }
    }

    /// Ends the writing side; the stream can still be read.
    ///
    /// - Throws: ``HTTPError``, or `CancellationError` if the task is cancelled.
    @concurrent
    public func finishWriting() async throws {
        try await alone(isWriting) { () throws(TransportError) in
            guard !hasFinished else { return }
            let deadline = writePatience
            while true {
                let step = connection.finishSending()
                if case .moved = step { break }
                try await connection.wait(for: step, as: .writer, deadline)
            }
            hasFinished = true
        }
    }

    /// Closes the connection immediately, in both directions. Tasks that are reading or writing get
    /// ``HTTPError/Reason/streamClosed``.
    public func close() {
        closed.store(true, ordering: .releasing)
        connection.close()
        // The descriptor is closed: nothing else would wake the tasks that wait for it.
        connection.socket.wakeAll()
    }

    private var isClosed: Bool { closed.load(ordering: .acquiring) }

    /// The most bytes that memory is made for, whatever the limit.
    private static var largestPiece: Int { 64 * 1024 }

    private func readPiece(_ limit: Int, within stall: IdleLimit) async throws(TransportError) -> [UInt8]? {
        if !early.isEmpty {
            let piece = Array(early.prefix(limit))
            early.removeFirst(piece.count)
            return piece
        }
        let deadline = deadline(.body, stall: stall)
        while !isAtEnd {
            if Task.isCancelled { throw .cancelled }
            var step = Connection.Step.wantsRead
            let room = min(limit, Self.largestPiece)
            let piece = unsafe [UInt8](unsafeUninitializedCapacity: room) { memory, filled in
                step = unsafe connection.read(into: UnsafeMutableRawBufferPointer(memory))
                if case .moved(let count) = step { filled = count }
            }
            switch step {
            case .moved: return piece
            case .again, .wantsRead, .wantsWrite: try await connection.wait(for: step, as: .reader, deadline)
            case .ended(clean: true): isAtEnd = true
            // A truncated stream is not an ended one: under TLS anyone on the path could have cut it.
            case .ended(clean: false): throw .failed(.body, .connectionClosed)
            case .failed(let reason): throw .failed(.body, reason)
            }
        }
        return nil
    }

    private var writePatience: Deadline { deadline(.write, stall: writeLimit) }

    /// Returns the deadline of a wait that begins now; the call that made the stream is over.
    private func deadline(_ phase: TransportError.Phase, stall: IdleLimit) -> Deadline {
        Deadline(phase, stall: stall, end: .never, total: .max, from: connection.loop.now)
    }

    /// Runs `body` as the only reader or writer, and turns its failure into the caller's error.
    private func alone<Value>(
        _ isBusy: borrowing Atomic<Bool>,
        body: () async throws(TransportError) -> Value
    ) async throws -> Value {
        guard isBusy.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged else {
            throw HTTPError(.body, .bodyAlreadyRead, name: name, endpoint: endpoint)
        }
        defer { isBusy.store(false, ordering: .releasing) }
        do throws(TransportError) {
            return try await body()
        } catch {
            var error = error
            if isClosed, case .failed(let phase, _) = error { error = .failed(phase, .streamClosed) }
            throw HTTPError.from(error, name: name, endpoint: endpoint)
        }
    }
}

/// The connection of a response that has switched protocols, until it is taken. As a body it is empty.
package final class UpgradedSource: ResponseBodySource {
    package let location: BodyLocation
    private let stream: Locked<RawStream?>

    init(_ stream: RawStream) {
        location = BodyLocation(name: stream.name)
        self.stream = Locked(stream)
    }

    package func next() async throws -> [UInt8]? { nil }

    package func take(_ wait: PieceWait) -> Bool { true }

    func take() -> RawStream? {
        stream.withLock { stream in
            defer { stream = nil }
            return stream
        }
    }
}

extension Response {
    /// Returns the connection once the server has switched protocols (101) or opened a tunnel (2xx to
    /// `CONNECT`). Bytes that arrived behind the head are read from the stream first.
    ///
    /// - Throws: ``HTTPError/Reason/noStream`` if there is no such connection, or if it has been taken.
    public func takeStream() throws -> RawStream {
        guard case .arriving(let body) = body.content, let pending = body.idleSource as? UpgradedSource,
            let stream = pending.take()
        else {
            throw BodyLocation(transaction?.connection).error(.noStream)
        }
        return stream
    }
}
