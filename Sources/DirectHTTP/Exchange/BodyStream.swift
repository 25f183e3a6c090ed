internal import DirectHTTP1
internal import DirectIO
internal import Synchronization

/// A body on its way: holds the connection on lease until the last byte, or until nobody wants more.
final class BodyStream: BodyPieces, @unchecked Sendable {
    /// Held until the body has ended: who keeps a response for long keeps no connections with it.
    private var core: ClientCore?
    private let lease: ConnectionPool.Lease
    /// Set while a task is inside: only that one touches what follows.
    private let isBusy = Atomic<Bool>(false)
    private var reading: BodyReading
    /// What came together with the head.
    private var first: [UInt8]
    private var outcome: Outcome?
    /// What a collector has so far; an error may have to tell of it.
    private var collected: [UInt8] = []
    /// Whether the request could not be sent to its end, although the server had accepted it.
    private var hasLostUpload = false
    /// Whether a reader has been told that the body is complete.
    private var isRead = false

    private enum Outcome {
        case complete
        case failed(CallFailure)
    }

    init(_ core: ClientCore, _ lease: ConnectionPool.Lease, _ reading: BodyReading, first: [UInt8]) {
        self.core = core
        self.lease = lease
        self.reading = reading
        self.first = first
        limit = reading.exchange.limit
    }

    deinit {
        guard let core else { return }
        guard reading.isWorthDraining else { return core.abandon(reading, lease) }
        // On the loop and not here: whoever lets go of a response does not wait for its rest.
        let rest = Rest(core: core, lease: lease, reading: reading)
        Task.detached(executorPreference: reading.exchange.connection.loop) { await rest.drain() }
    }

    let limit: CallLimit

    var trailers: Headers { ifIdle { reading.trailers } ?? Headers() }

    var bytesLeft: UInt64? { ifIdle { left } ?? nil }

    func error(_ reason: HTTPError.Reason) -> HTTPError { reading.error(.body, reason) }

    func next() async throws -> [UInt8]? {
        try await exclusively { try await nextPiece() }
    }

    func collect(upTo limit: Int) async throws -> [UInt8] {
        try await exclusively {
            // What the head announces need not be read to be refused.
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
            end(await reading.drain() ? .complete : .failed(.failed(.body, .bodyAlreadyRead)))
        }
    }

    private func nextPiece() async throws -> [UInt8]? {
        // Looked at here, as a body that comes faster than it is read would not notice.
        if case nil = outcome, Task.isCancelled {
            end(.failed(.cancelled))
            throw CancellationError()
        }
        if !first.isEmpty {
            defer { first = [] }
            return first
        }
        switch outcome {
        case .complete:
            // The second one to come here would take an empty body for the real one.
            guard !isRead else { throw reading.error(.body, .bodyAlreadyRead) }
            isRead = true
            return nil
        case .failed(let failure): throw error(failure)
        case nil: break
        }
        do throws(CallFailure) {
            let piece = try await reading.next()
            if let piece { reading.report(piece.count) }
            // Given back with the last piece, not after it: the caller may never ask again. Only where the request
            // is still being sent, the end has to wait for that, and no piece with it.
            if reading.isAtEnd, piece == nil || reading.isRequestSent { try await finish() }
            if piece == nil { isRead = true }
            return piece
        } catch {
            end(.failed(error))
            throw self.error(error)
        }
    }

    /// The error of this body; with the response, where that is whole and the request is not.
    private func error(_ failure: CallFailure) -> any Error {
        let error = reading.error(failure)
        guard hasLostUpload, let head = reading.head, var lost = error as? HTTPError else { return error }
        lost.response = ReceivedResponse(head, body: collected)
        return lost
    }

    private func finish() async throws(CallFailure) {
        do throws(CallFailure) {
            try await reading.finish()
        } catch {
            hasLostUpload = true
            throw error
        }
        end(.complete)
    }

    /// How many bytes nobody has had yet.
    private var left: UInt64? {
        guard case nil = outcome else { return UInt64(first.count) }
        return reading.total.map { $0 - reading.received + UInt64(first.count) }
    }

    private func tooLarge(_ limit: Int) -> HTTPError {
        end(.failed(.failed(.body, .bodyTooLarge(limit: limit))))
        first = []
        return reading.error(.body, .bodyTooLarge(limit: limit))
    }

    private func end(_ outcome: Outcome) {
        guard self.outcome == nil else { return }
        self.outcome = outcome
        switch outcome {
        case .complete: core?.conclude(reading, lease, at: reading.exchange.connection.loop.now)
        case .failed: core?.abandon(reading, lease)
        }
        core = nil
    }

    private func ifIdle<Value>(_ look: () -> Value) -> Value? {
        guard isBusy.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged else {
            return nil
        }
        defer { isBusy.store(false, ordering: .releasing) }
        return look()
    }

    private func exclusively<Value>(_ body: () async throws -> Value) async throws -> Value {
        guard isBusy.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged else {
            throw reading.error(.body, .bodyAlreadyRead)
        }
        defer { isBusy.store(false, ordering: .releasing) }
        return try await body()
    }

    /// What is left of a body that nobody wants.
    private struct Rest: @unchecked Sendable {
        let core: ClientCore
        let lease: ConnectionPool.Lease
        let reading: BodyReading

        func drain() async {
            var reading = reading
            if await reading.drain() {
                core.conclude(reading, lease, at: core.settings.loop.now)
            } else {
                core.abandon(reading, lease)
            }
        }
    }
}

extension BodyReading {
    /// Tells the caller's callback that so much more has come.
    func report(_ count: Int) {
        guard let onProgress, count > 0 else { return }
        onProgress(TransferProgress(bytes: received, total: total))
    }

    func error(_ failure: CallFailure) -> any Error {
        switch failure {
        case .cancelled: CancellationError()
        case .failed(let phase, let reason): error(phase, reason)
        }
    }

    func error(_ phase: HTTPError.Phase, _ reason: HTTPError.Reason) -> HTTPError {
        let facts = exchange.connection.facts
        return HTTPError(phase, reason, name: facts.name, endpoint: facts.endpoint)
    }
}
