internal import DirectCore
package import DirectHTTP1
internal import DirectIO

/// Reads the body of one response, piece by piece.
///
/// Bytes that arrived with the head, or that were left over by the parser, are in the connection's buffer and
/// taken from there (`takeBuffered`). All others are read straight into the array that the caller gets, where
/// the parser removes the framing in place (`readPiece`).
///
/// `isAtEnd` is set by the parser, or by the end of the stream where the framing allows that. If the end or a
/// failure of the connection comes together with a piece, the piece is returned first and `stop` keeps the
/// rest for the next call: no event of the socket would report it again.
///
/// The value does not synchronise anything: its owner, the client's ``GuardedBody``, lets one task at a time
/// use it. It does not end the lease on its connection either.
package struct BodyReading {
    package var exchange: Exchange
    /// The upload of the request, if it was not sent whole at the beginning.
    package let upload: Upload?
    /// The head of the response; kept only for the error of an upload that fails later.
    package var head: ResponseHead?
    /// The caller's progress callback, if any.
    var onProgress: (@Sendable (TransferProgress) -> Void)?
    /// The limit on the bytes that are received, if any.
    package var rate: RateLimit?
    /// Is told the time at which the body ends; `nil` if it arrived together with the head.
    var end: BodyEnd?
    /// The trailer fields received so far.
    package private(set) var trailers = HTTPHeaders()
    /// Whether the last byte has been read.
    package private(set) var isAtEnd = false
    /// An end or a failure that came with the last piece; no event of the socket will report it again.
    private var stop: Connection.Step?
    /// The failure of reading ahead, for the one who reads on.
    private var failure: TransportError?
    /// The bytes of content received so far.
    package private(set) var received: UInt64 = 0
    private var monitor: ThroughputMonitor
    private var yields = YieldCounter()
    private var batching = ReceiveBatching()
    /// Is told how the body ended; `nil` without an observer.
    package let observer: (any TransportObserver)?

    package init(_ exchange: Exchange, _ upload: Upload?, _ observer: (any TransportObserver)? = nil) {
        self.exchange = exchange
        self.upload = upload
        self.observer = observer
        monitor = ThroughputMonitor(exchange.timeouts.speed)
    }

    /// Calls the progress callback after `count` more bytes.
    package func report(_ count: Int) {
        guard let onProgress, count > 0 else { return }
        onProgress(TransferProgress(bytes: received, total: total))
    }

    /// Returns the content among the bytes that have been received; stops where more bytes are needed.
    package mutating func takeBuffered() throws(TransportError) -> [UInt8] {
        let buffered = try exchange.takeBuffered()
        note(buffered)
        return buffered.content
    }

    /// Notes content that was taken from the connection.
    mutating func note(_ buffered: BufferedContent) {
        received &+= UInt64(buffered.content.count)
        if let fields = buffered.trailers { trailers = fields }
        isAtEnd = buffered.isAtEnd
    }

    /// Returns the next piece, as large as what has arrived but no larger than `pieceSize`; `nil` at the end.
    ///
    /// The call's deadline and cancellation are checked for every piece, even if there was nothing to wait
    /// for: a server can send bytes for as long as it likes. What had arrived by the deadline is read.
    package mutating func next() async throws(TransportError) -> [UInt8]? {
        let piece = try await nextPiece()
        if let rate, let piece {
            try await rate.pay(for: piece.count, within: exchange.limit, on: exchange.connection.loop)
        }
        return piece
    }

    private mutating func nextPiece() async throws(TransportError) -> [UInt8]? {
        if let failure { throw failure }
        let connection = exchange.connection
        var deadline = exchange.limit.deadline(.body, from: connection.loop.now)
        while !isAtEnd {
            try connection.checkEnd(of: exchange.limit, .body)
            // Without input there will be a wait, which lets others run as well.
            if yields.isDue, connection.hasUnparsedBytes || connection.mayHaveInput {
                await yields.yieldIfDue(on: connection.loop)
            }
            if connection.hasUnparsedBytes {
                let taken = try takeBuffered()
                if !taken.isEmpty { return taken }
                if isAtEnd { return nil }
                if connection.hasUnparsedBytes {
                    // Part of a chunk's size line, or of the trailers: the rest has to be received behind it.
                    try await fillBehind(&deadline)
                    continue
                }
            }
            if let stop {
                self.stop = nil
                if try await !waitIfNeeded(after: stop, deadline) { isAtEnd = true }
                continue
            }
            guard connection.mayHaveInput else {
                _ = try await waitIfNeeded(after: .wantsRead, deadline)
                continue
            }
            var last = Connection.Step.wantsRead
            let piece = try readPiece(&last)
            if !piece.isEmpty {
                switch last {
                case .ended, .failed: stop = last
                case .moved, .again, .wantsRead, .wantsWrite: break
                }
                return piece
            }
            if isAtEnd { return nil }
            if try await !waitIfNeeded(after: last, deadline) { isAtEnd = true }
        }
        return nil
    }

    /// Receives more bytes behind those that the parser could not use yet.
    private mutating func fillBehind(_ deadline: inout Deadline) async throws(TransportError) {
        let step = exchange.connection.fill()
        guard case .moved(let count) = step else {
            _ = try await waitIfNeeded(after: step, deadline)
            return
        }
        yields.count(count)
        deadline.extend(from: exchange.connection.loop.now)
    }

    /// Whether the request is over, because all was sent and its source has ended, or because the server
    /// refused the rest.
    package var isRequestOver: Bool {
        guard let upload else { return true }
        return upload.isFinished || upload.isStopped
    }

    /// Waits until the request has been sent; its response may have been complete earlier.
    ///
    /// - Throws: the upload's failure, if the server had accepted a request that could not be sent whole.
    package func finish() async throws(TransportError) {
        if let upload, !isRequestOver { try await exchange.awaitEnd(of: upload) }
    }

    /// The length of the body; `nil` if the head does not announce it.
    package var total: UInt64? {
        switch exchange.connection.framing {
        case .none: 0
        case .length(let length): length
        case .chunked, .untilClose, .tunnel: nil
        }
    }

    /// Reads and discards the rest if it is small and arrives soon. Returns whether the end was reached.
    package mutating func drain() async -> Bool {
        guard isWorthDraining else { return false }
        let end = exchange.connection.loop.now.advanced(byNanoseconds: Self.timeToDrain)
        exchange.limit.end = end.atMost(exchange.limit.end)
        let limit = received + Self.bytesToDrain
        do throws(TransportError) {
            while received <= limit, try await next() != nil {}
        } catch {
            return false
        }
        return isAtEnd
    }

    /// Reads the rest if it is small and arrives soon. What is larger, or arrives later, is left.
    ///
    /// The caller waits for the rate limit: a wait that ended here would lose the bytes.
    ///
    /// - Throws: only if the task is cancelled. Another failure is that of the one who reads on.
    mutating func readAhead() async throws(TransportError) -> [UInt8] {
        guard isRequestOver, !exceedsDrain else { return [] }
        let whole = exchange.limit.end
        let end = exchange.connection.loop.now.advanced(byNanoseconds: Self.timeToDrain)
        exchange.limit.end = end.atMost(whole)
        defer { exchange.limit.end = whole }
        let limit = received + Self.bytesToDrain
        var bytes: [UInt8] = []
        do throws(TransportError) {
            while received <= limit, let piece = try await nextPiece() {
                report(piece.count)
                bytes += piece
            }
        } catch .cancelled {
            throw .cancelled
        } catch {
            // After a timeout the connection is as it was: only the wait has ended.
            if !error.isTimeout { failure = error }
        }
        return bytes
    }

    /// Whether the rest is known to be too large to be read without need.
    private var exceedsDrain: Bool { total.map { $0 - received > Self.bytesToDrain } ?? false }

    /// Whether the connection can be kept for reuse at the price of reading a little more.
    package var isWorthDraining: Bool {
        guard isRequestOver, !exchange.connection.isRetired, !isAtEnd else { return false }
        switch exchange.connection.framing {
        case .none: return true
        case .length(let length): return length - received <= Self.bytesToDrain
        case .chunked: return true
        case .untilClose, .tunnel: return false
        }
    }

    /// Waits for the event that the step needs. Returns false if the stream has ended and the body with it.
    private mutating func waitIfNeeded(
        after step: Connection.Step,
        _ deadline: Deadline
    ) async throws(TransportError) -> Bool {
        yields.begin()
        monitor.count(to: received)
        let start = exchange.connection.loop.now
        if case .wantsRead = step, try await waitForMuch(from: start, deadline) { return true }
        let goesOn = try await exchange.waitIfNeeded(after: step, deadline, upload: upload, monitor: &monitor)
        batching.noteWait(
            nanoseconds: exchange.connection.loop.now.nanoseconds &- start.nanoseconds,
            received: received
        )
        return goesOn
    }

    /// Waits until much has arrived, if the body is fast enough. Returns false if there is still to be a wait
    /// for any input.
    private mutating func waitForMuch(
        from start: Instant,
        _ deadline: Deadline
    ) async throws(TransportError) -> Bool {
        let connection = exchange.connection
        guard batching.isWorthwhile(received: received, left: total.map { $0 - received }), !monitor.isOn,
            isRequestOver, start.advanced(byNanoseconds: ReceiveBatching.patience) < deadline.instant
        else {
            connection.receiveMark = 1
            return false
        }
        connection.receiveMark = ReceiveBatching.mark
        let patience = deadline.shortened(to: start.advanced(byNanoseconds: ReceiveBatching.patience))
        do throws(TransportError) {
            try await connection.wait(for: .wantsRead, as: .reader, patience)
            return true
        } catch {
            guard error.isTimeout else { throw error }
            connection.receiveMark = 1
            batching.noteSlowness()
            // Tried at once: not every kernel reports bytes that are there when the mark is lowered.
            connection.expectInput()
            return true
        }
    }

    /// Reads straight into the memory that is returned, and removes the framing in place, so that nothing is
    /// copied without need.
    ///
    /// The framing counts towards the size, too: a server that sends chunks of one byte must not keep the
    /// task from its deadline for six times as long.
    private mutating func readPiece(_ last: inout Connection.Step) throws(TransportError) -> [UInt8] {
        var failure: TransportError?
        var step = Connection.Step.wantsRead
        let size = rate?.pieceSize ?? Self.pieceSize
        let piece = unsafe [UInt8](unsafeUninitializedCapacity: size) { memory, filled in
            let all = UnsafeMutableRawBufferPointer(memory)
            // The array may have more room than it was asked for.
            var room = size
            while room >= min(Self.roomWorthReading, size), !isAtEnd {
                let free = unsafe UnsafeMutableRawBufferPointer(rebasing: all[filled..<filled + room])
                step = unsafe exchange.connection.read(into: free)
                guard case .moved(let count) = step else { break }
                room -= count
                yields.count(count)
                do throws(TransportError) {
                    let arrived = unsafe UnsafeMutableRawBufferPointer(rebasing: free[0..<count])
                    filled += try unsafe closeGaps(in: arrived)
                } catch {
                    failure = error
                    break
                }
                if exchange.connection.hasUnparsedBytes { break }
            }
        }
        last = step
        if let failure { throw failure }
        // A caller that keeps pieces, in a queue for example, keeps at most twice their bytes.
        return piece.count <= size / 2 ? unsafe piece.withUnsafeBytes { unsafe [UInt8]($0) } : piece
    }

    /// Moves the content in `bytes` to the front, and returns its length.
    private mutating func closeGaps(in bytes: UnsafeMutableRawBufferPointer) throws(TransportError) -> Int {
        var used = 0
        var content = 0
        while true {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[used...])
            let step: ResponseReader.Step
            do throws(HTTP1Error) {
                step = try unsafe exchange.connection.nextEvent(in: rest)
            } catch {
                throw .failed(.body, .http(error))
            }
            if case .content(let range) = step.event {
                received &+= UInt64(range.count)
                if content < used + range.lowerBound {
                    let found = unsafe UnsafeRawBufferPointer(rebasing: rest[range])
                    unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[content...]).copyMemory(from: found)
                }
                content += range.count
            }
            used += step.used
            switch step.event {
            case .content: continue
            case .trailers(let fields): trailers = fields
            case .end:
                isAtEnd = true
                unsafe exchange.connection.keep(unparsed: UnsafeRawBufferPointer(rebasing: bytes[used...]))
                return content
            case .needsMore:
                unsafe exchange.connection.keep(unparsed: UnsafeRawBufferPointer(rebasing: bytes[used...]))
                return content
            case .interim, .head: return content
            }
        }
    }

    /// To read more than this costs more than a new connection.
    private static let bytesToDrain: UInt64 = 64 * 1024
    private static let timeToDrain: UInt64 = 100_000_000
    private static let pieceSize = 64 * 1024
    /// A smaller read would only split a full record.
    private static let roomWorthReading = 16 * 1024
}
