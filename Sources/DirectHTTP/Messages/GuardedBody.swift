package import DirectCore
package import DirectHTTP1
internal import DirectIO
package import DirectTransport
internal import Synchronization

/// Produces the pieces of a response's body: from a connection, a file, a sequence, or from another body
/// whose pieces are decoded, stored or counted on the way.
///
/// The ``GuardedBody`` that owns it lets one task at a time in, so a source needs no lock. Releasing it
/// before its end abandons the rest of the body.
package protocol ResponseBodySource: AnyObject {
    /// Returns the next piece, which is never empty; `nil` at the end. Not called again after the end or an
    /// error.
    func next() async throws -> [UInt8]?

    /// Reads and discards the rest if it is small and arrives soon, so that the connection can be reused;
    /// closes the connection otherwise. Nothing is called after it.
    func drain() async

    /// Returns the error for the reader when the body has failed, or is larger than its reader's limit.
    /// Nothing is called after it.
    ///
    /// - Parameter collected: the content that the reader has collected so far.
    func fail(_ error: any Error, after collected: [UInt8]) -> any Error

    /// Takes the limits of the call that the body is now of. Returns false if the source does not wait by
    /// them.
    func take(_ wait: PieceWait) -> Bool

    /// The deadline of the call that the body belongs to.
    var limit: CallLimit { get }

    /// The number of bytes still to be produced; `nil` if it is unknown.
    var bytesLeft: UInt64? { get }

    /// The trailer fields; complete once the body has been read to its end.
    var trailers: HTTPHeaders { get }

    /// The server that the body comes from.
    var location: BodyLocation { get }
}

extension ResponseBodySource {
    package func drain() async {}

    package func fail(_ error: any Error, after collected: [UInt8]) -> any Error { error }

    package func take(_ wait: PieceWait) -> Bool { false }

    package var limit: CallLimit { .none }

    package var bytesLeft: UInt64? { nil }

    package var trailers: HTTPHeaders { HTTPHeaders() }
}

/// The server that a body comes from, as far as it is known, for errors.
package struct BodyLocation: Sendable {
    package var name: String?
    package var endpoint: Endpoint?

    init(name: String? = nil, endpoint: Endpoint? = nil) {
        self.name = name
        self.endpoint = endpoint
    }

    init(_ facts: ConnectionFacts?) {
        self.init(name: facts?.name, endpoint: facts?.endpoint)
    }

    /// Returns an error of the body.
    @inline(never)
    package func error(_ reason: HTTPError.Reason) -> HTTPError {
        HTTPError(.body, reason, name: name, endpoint: endpoint)
    }
}

/// A response's body that can be read once, by one task at a time.
///
/// `use` guards all other state: a second task that reads gets the error
/// ``HTTPError/Reason/bodyAlreadyRead``. So does a reader after the end, which would otherwise take the body
/// for an empty one. A property that is looked at takes no reader's place: a reader waits for those few
/// instructions, of which none is the program's. A failure, a cancellation or a limit that is exceeded ends
/// the body for good: its source is released, and all later readers get the same error.
package final class GuardedBody: @unchecked Sendable {
    package let location: BodyLocation
    private let use = Atomic<UInt8>(free)
    /// The source of the pieces; `nil` for a body that has arrived whole, and after a failure.
    private var source: (any ResponseBodySource)?
    /// The content that has arrived and was not read yet.
    private var first: [UInt8]
    private let wholeTrailers: HTTPHeaders
    /// Get the trailers at the end, for bodies that are in the place of this one.
    /// `nil` once they have got them.
    private var heirs: [Locked<HTTPHeaders>]? = []
    /// Guards `heirs`, which may be added also while a task reads. Held for a few instructions.
    private let heirsAreInUse = Atomic<Bool>(false)
    /// The content that `collect` has gathered so far.
    private var collected: [UInt8] = []
    /// The result of the body; `nil` while it is being read.
    private var outcome: Outcome? {
        didSet { watch?.cancel() }
    }
    /// Ends the body with its call, if it is not read until then.
    private var watch: Task<Void, Never>?
    /// Whether a task has asked for a piece since the watch last looked, before which one may always do so.
    private var wasAskedFor = true

    private enum Outcome {
        /// It was read to its end, or given up.
        case over
        /// The error for all later readers.
        case failed(any Error)
    }

    /// Makes the body of a source, behind content that has arrived before.
    package init(_ source: any ResponseBodySource, first: [UInt8] = []) {
        self.source = source
        self.first = first
        location = source.location
        wholeTrailers = HTTPHeaders()
    }

    /// Makes a body that has arrived whole.
    init(whole bytes: [UInt8], _ trailers: HTTPHeaders, _ location: BodyLocation) {
        first = bytes
        wholeTrailers = trailers
        self.location = location
    }

    deinit { watch?.cancel() }

    /// Ends the body behind its call's deadline also if no task reads it, so that it does not keep its
    /// connection: a second later, and later still while a task asks for pieces. One that is busy with a
    /// piece comes back for what had arrived by the deadline.
    func endWithCall(on loop: EventLoop) {
        guard claim(for: Self.looking) else { return }
        defer { leave() }
        guard let limit = source?.limit, limit.end < .never else { return }
        watch = Task(executorPreference: loop) { [weak self] in
            // A nanosecond later, since a task that reads ends by its own wait.
            var end = limit.end.advanced(byNanoseconds: 1)
            while (try? await loop.sleep(until: end)) != nil {
                guard let self, !self.expire(HTTPError.Reason(limit.timeout)) else { return }
                end = loop.now.advanced(byNanoseconds: 1_000_000_000)
            }
        }
    }

    /// Ends the body. Returns false if a task reads, or has read since the last try: it has the same
    /// deadline, but may get what had arrived by then.
    private func expire(_ reason: HTTPError.Reason) -> Bool {
        let error = location.error(reason)
        // For these few instructions a reader waits; it gets the error then.
        guard claim(for: Self.looking) else { return false }
        guard !wasAskedFor else {
            wasAskedFor = false
            leave()
            return false
        }
        var ended: (any ResponseBodySource)?
        // Without a limit by now, all of it has arrived, and may be read at any time.
        if case nil = outcome, let limit = source?.limit, limit.end < .never {
            ended = source
            outcome = .failed(error)
            (source, first) = (nil, [])
        }
        leave()
        // Calls the program's observers, and may release its objects, which may look at the body.
        _ = ended?.fail(error, after: [])
        return true
    }

    /// Returns the next piece, which is never empty; `nil` at the end.
    package func next() async throws -> [UInt8]? {
        try enter()
        defer { leave() }
        return try await nextPiece()
    }

    /// Returns the rest of the body; throws if it is larger than `limit`. A body that is announced as too
    /// large is refused without reading it.
    func collect(upTo limit: Int) async throws -> [UInt8] {
        try enter()
        defer { leave() }
        if let left, left > UInt64(max(0, limit)) { throw fail(location.error(.bodyTooLarge(limit: limit))) }
        while let piece = try await nextPiece() {
            guard piece.count <= limit - collected.count else {
                throw fail(location.error(.bodyTooLarge(limit: limit)))
            }
            if collected.isEmpty { collected = piece } else { collected += piece }
        }
        defer { collected = [] }
        return collected
    }

    /// Reads and discards the rest if it is small and arrives soon, so that the connection can be reused;
    /// closes the connection otherwise. Nothing can be read afterwards.
    package func drain() async {
        guard (try? enter()) != nil else { return }
        defer { leave() }
        guard case nil = outcome else { return }
        first = []
        await source?.drain()
        outcome = .over
    }

    /// Takes the limits of the call that the body is now of. Returns false if its source does not wait by
    /// them. A body without a source has arrived.
    package func take(_ wait: PieceWait) -> Bool { ifIdle { source?.take(wait) ?? true } ?? false }

    /// The deadline of the call that the body belongs to.
    package var limit: CallLimit { ifIdle { source?.limit } ?? .none }

    /// The number of bytes still to be read; `nil` if it is unknown or a task is reading.
    package var bytesLeft: UInt64? { ifIdle { left } }

    /// The trailer fields; complete once the body has been read to its end.
    package var trailers: HTTPHeaders { ifIdle { receivedTrailers } ?? HTTPHeaders() }

    /// Returns where the trailers are from the end of this body on.
    func trailersAtEnd() -> Locked<HTTPHeaders> {
        let place = Locked(trailers)
        let isInTime = withHeirs { heirs in
            heirs?.append(place)
            return heirs != nil
        }
        // The task that has come to the end leaves at once.
        while !isInTime {
            guard let found = ifIdle({ receivedTrailers }) else { continue }
            place.withLock { $0 = found }
            break
        }
        return place
    }

    private func withHeirs<Value>(_ use: (inout [Locked<HTTPHeaders>]?) -> Value) -> Value {
        while heirsAreInUse.exchange(true, ordering: .acquiring) {}
        defer { heirsAreInUse.store(false, ordering: .releasing) }
        return use(&heirs)
    }

    /// The source; `nil` while a task reads, which may be using it.
    package var idleSource: (any ResponseBodySource)? { ifIdle { source } }

    private func nextPiece() async throws -> [UInt8]? {
        wasAskedFor = true
        switch outcome {
        case .over: throw location.error(.bodyAlreadyRead)
        case .failed(let error): throw error
        case nil: break
        }
        if !first.isEmpty {
            defer { first = [] }
            return first
        }
        do {
            if let source, let piece = try await source.next() { return piece }
        } catch {
            throw fail(error)
        }
        for heir in withHeirs({ $0.take() ?? [] }) {
            heir.withLock { [receivedTrailers] in $0 = receivedTrailers }
        }
        outcome = .over
        return nil
    }

    private var receivedTrailers: HTTPHeaders { source?.trailers ?? wholeTrailers }

    /// The number of bytes still to be read; `nil` if it is unknown.
    private var left: UInt64? {
        guard case nil = outcome, let source else { return UInt64(first.count) }
        return source.bytesLeft.map { $0 + UInt64(first.count) }
    }

    /// Ends the body with this error, and releases what it holds.
    private func fail(_ error: any Error) -> any Error {
        let error = source?.fail(error, after: collected) ?? error
        outcome = .failed(error)
        (source, first, collected) = (nil, [], [])
        return error
    }

    /// Returns a value of the guarded state; `nil` while a task reads.
    @discardableResult
    private func ifIdle<Value>(_ look: () -> Value?) -> Value? {
        guard claim(for: Self.looking) else { return nil }
        defer { leave() }
        return look()
    }

    private static let free: UInt8 = 0
    private static let looking: UInt8 = 1
    private static let reading: UInt8 = 2

    private func enter() throws(HTTPError) {
        guard claim(for: Self.reading) else { throw location.error(.bodyAlreadyRead) }
    }

    /// Takes the body; returns false if a task reads it.
    private func claim(for purpose: UInt8) -> Bool {
        while true {
            let (taken, found) = use.compareExchange(
                expected: Self.free,
                desired: purpose,
                ordering: .acquiring
            )
            if taken { return true }
            if found == Self.reading { return false }
        }
    }

    private func leave() {
        use.store(Self.free, ordering: .releasing)
    }
}
