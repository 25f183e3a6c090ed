internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport
internal import Synchronization

/// A response body that is still arriving. It owns the lease on its connection.
///
/// Three states: without an `outcome` the body is being read and the lease is held; `complete` and `failed`
/// are final, and on the way there `end` gives the connection back or closes it, once. Releasing the stream
/// before that drains a small rest on the event loop and closes the connection otherwise.
///
/// One task at a time may use the stream: `isBusy` guards all other state, and a second task gets the error
/// ``HTTPError/Reason/bodyAlreadyRead``. While the request is still being sent, the lease is held until that
/// has ended too.
final class BodyStream: ResponseBodySource, @unchecked Sendable {
    /// Held until the body has ended: a program that keeps a response does not keep the client's connections
    /// open.
    private var pool: ConnectionPool?
    private let lease: ConnectionPool.Lease
    /// Set while a task uses the stream; only that task touches the state below.
    private let isBusy = Atomic<Bool>(false)
    private var reading: BodyReading
    /// The content that arrived together with the head.
    private var first: [UInt8]
    /// The result of the body; `nil` while it is being read.
    private var outcome: Outcome?
    /// The content that `collect` has gathered so far, for an error that carries the response.
    private var collected: [UInt8] = []
    /// Whether the request could not be sent whole although the server had accepted it.
    private var hasLostUpload = false
    /// Whether a reader has got the end of the body.
    private var isRead = false

    private enum Outcome {
        case complete
        /// The error for all later readers.
        case failed(any Error)
    }

    init(_ pool: ConnectionPool, _ lease: ConnectionPool.Lease, _ reading: BodyReading, first: [UInt8]) {
        self.pool = pool
        self.lease = lease
        self.reading = reading
        self.first = first
        limit = reading.exchange.limit
    }

    deinit {
        guard let pool else { return }
        guard reading.isWorthDraining else { return pool.abandon(reading, lease: lease) }
        // On the event loop, because the release of a response must not wait for the rest of its body.
        let rest = Rest(pool: pool, lease: lease, reading: reading)
        Task.detached(executorPreference: reading.exchange.connection.loop) { await rest.drain() }
    }

    let limit: CallLimit

    var trailers: HTTPHeaders { ifIdle { reading.trailers } ?? HTTPHeaders() }

    var bytesLeft: UInt64? { ifIdle { left } ?? nil }

    func error(_ reason: HTTPError.Reason) -> HTTPError { reading.error(.body, reason: reason) }

    func next() async throws -> [UInt8]? {
        try await exclusively { try await nextPiece() }
    }

    func collect(upTo limit: Int) async throws -> [UInt8] {
        try await exclusively {
            // A body that is announced as too large is refused without reading it.
            if let left, left > UInt64(max(0, limit)) { throw tooLarge(limit) }
            while let piece = try await nextPiece() {
                guard collected.count + piece.count <= limit else { throw tooLarge(limit) }
                if collected.isEmpty { collected = piece } else { collected += piece }
            }
            defer { collected = [] }
            return collected
        }
    }

    func drain() async {
        try? await exclusively {
            guard case nil = outcome else { return }
            first = []
            isRead = true
            end(await reading.drain() ? .complete : .failed(error(.bodyAlreadyRead)))
        }
    }

    private func nextPiece() async throws -> [UInt8]? {
        // Checked here, because a body that arrives faster than it is read never suspends.
        if case nil = outcome, Task.isCancelled {
            end(.failed(CancellationError()))
            throw CancellationError()
        }
        if !first.isEmpty {
            defer { first = [] }
            return first
        }
        switch outcome {
        case .complete:
            // Otherwise a second reader would take the body for an empty one.
            guard !isRead else { throw reading.error(.body, reason: .bodyAlreadyRead) }
            isRead = true
            return nil
        case .failed(let error): throw error
        case nil: break
        }
        do throws(TransportError) {
            let piece = try await reading.next()
            if let piece { reading.report(piece.count) }
            // The connection is given back with the last piece and not after it: the caller may never ask for
            // more. Only while the request is still being sent does the end wait for that, without a piece.
            if reading.isAtEnd, piece == nil || reading.isRequestSent { try await finish() }
            if piece == nil { isRead = true }
            return piece
        } catch {
            let error = self.error(error)
            end(.failed(error))
            throw error
        }
    }

    /// Returns the body's error, with the response if that is complete and the request is not.
    private func error(_ failure: TransportError) -> any Error {
        let error = reading.error(failure)
        guard hasLostUpload, let head = reading.head, var lost = error as? HTTPError else { return error }
        lost.response = ReceivedResponse(head, body: collected)
        return lost
    }

    /// Waits for the end of the request, then ends the body.
    private func finish() async throws(TransportError) {
        do throws(TransportError) {
            try await reading.finish()
        } catch {
            hasLostUpload = true
            throw error
        }
        end(.complete)
    }

    /// The number of bytes that have not been returned yet; `nil` if it is unknown.
    private var left: UInt64? {
        guard case nil = outcome else { return UInt64(first.count) }
        return reading.total.map { $0 - reading.received + UInt64(first.count) }
    }

    /// Abandons a body that is larger than the limit, and returns the error.
    private func tooLarge(_ limit: Int) -> HTTPError {
        let error = error(.bodyTooLarge(limit: limit))
        end(.failed(error))
        first = []
        return error
    }

    /// Ends the body and its lease, the first time it is called.
    private func end(_ outcome: Outcome) {
        guard self.outcome == nil else { return }
        self.outcome = outcome
        switch outcome {
        case .complete: pool?.conclude(reading, lease: lease, at: reading.exchange.connection.loop.now)
        case .failed: pool?.abandon(reading, lease: lease)
        }
        pool = nil
    }

    /// Returns a value of the guarded state; `nil` while a task uses the stream.
    private func ifIdle<Value>(_ look: () -> Value) -> Value? {
        guard isBusy.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged else {
            return nil
        }
        defer { isBusy.store(false, ordering: .releasing) }
        return look()
    }

    /// Runs `body` with exclusive use of the guarded state; throws if a task uses the stream.
    private func exclusively<Value>(_ body: () async throws -> Value) async throws -> Value {
        guard isBusy.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged else {
            throw reading.error(.body, reason: .bodyAlreadyRead)
        }
        defer { isBusy.store(false, ordering: .releasing) }
        return try await body()
    }

    /// The rest of a body that was released unread.
    private struct Rest: @unchecked Sendable {
        let pool: ConnectionPool
        let lease: ConnectionPool.Lease
        let reading: BodyReading

        func drain() async {
            var reading = reading
            if await reading.drain() {
                pool.conclude(reading, lease: lease, at: reading.exchange.connection.loop.now)
            } else {
                pool.abandon(reading, lease: lease)
            }
        }
    }
}

extension BodyReading {
    /// Returns the failure as the caller's error.
    func error(_ failure: TransportError) -> any Error {
        HTTPError.from(
            failure,
            name: exchange.connection.facts.name,
            endpoint: exchange.connection.facts.dialledEndpoint
        )
    }

    /// Returns an error with the connection's name and endpoint.
    func error(_ phase: HTTPError.Phase, reason: HTTPError.Reason) -> HTTPError {
        let facts = exchange.connection.facts
        return HTTPError(phase, reason, name: facts.name, endpoint: facts.dialledEndpoint)
    }
}
