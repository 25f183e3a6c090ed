internal import DirectHTTP1
internal import DirectIO

/// The reading of one response's body, piece by piece.
struct BodyReading {
    var exchange: Exchange
    let upload: Upload?
    /// The head of the response; kept only where an upload that fails has to tell of it.
    var head: ResponseHead?
    /// Whom to tell how much has come, if anybody.
    var onProgress: (@Sendable (TransferProgress) -> Void)?
    private(set) var trailers = Headers()
    /// Whether the last byte has been read.
    private(set) var isAtEnd = false
    /// What stopped the reading behind the last piece, if no event of the socket will tell of it again.
    private var stop: Connection.Step?
    /// How much content has been read.
    private(set) var received: UInt64 = 0
    private var gauge: SpeedGauge
    private var turns = Turns()
    /// Where to write how it ended.
    let log: ExchangeLog?

    init(_ exchange: Exchange, _ upload: Upload?, _ log: ExchangeLog? = nil) {
        self.exchange = exchange
        self.upload = upload
        self.log = log
        gauge = SpeedGauge(exchange.timeouts.speed)
    }

    /// The content among the bytes that have already been received; stops where more are needed.
    mutating func takeBuffered() throws(CallFailure) -> [UInt8] {
        var taken: [UInt8] = []
        while !isAtEnd {
            switch try exchange.nextEvent(.body) {
            case .content(let range):
                received &+= UInt64(range.count)
                let content = unsafe UnsafeRawBufferPointer(rebasing: exchange.connection.buffer[range])
                // An array made from a buffer takes exactly its size; most bodies come in one piece.
                if taken.isEmpty { taken = unsafe [UInt8](content) } else { unsafe taken += content }
            case .trailers(let fields): trailers = fields
            case .end: isAtEnd = true
            case .needsMore: return taken
            case .interim, .head: return taken
            }
        }
        return taken
    }

    /// The next piece, as large as what has arrived but no larger than `pieceSize`; nothing at the end.
    ///
    /// The end of the call and its cancellation are looked at for every piece, whether it had to be waited for or not:
    /// bytes may keep coming for as long as a server likes.
    mutating func next() async throws(CallFailure) -> [UInt8]? {
        let connection = exchange.connection
        var patience = exchange.patience(.body, stall: exchange.timeouts.read, from: connection.loop.now)
        while !isAtEnd {
            try patience.checkEnd(at: connection.loop.now)
            await turns.yieldIfDue()
            if connection.hasUnparsedBytes {
                let taken = try takeBuffered()
                if !taken.isEmpty { return taken }
                if isAtEnd { return nil }
                if connection.hasUnparsedBytes {
                    // Half of a chunk's size line, or of the trailers: the rest has to come behind it.
                    try await fillBehind(&patience)
                    continue
                }
            }
            if let stop {
                self.stop = nil
                if try await !goesOn(after: stop, patience) { isAtEnd = true }
                continue
            }
            guard connection.mayHaveInput else {
                _ = try await goesOn(after: .wantsInput, patience)
                continue
            }
            var last = Connection.Step.wantsInput
            let piece = try readPiece(&last)
            if !piece.isEmpty {
                switch last {
                case .ended, .failed: stop = last
                case .moved, .again, .wantsInput, .wantsRoom: break
                }
                return piece
            }
            if isAtEnd { return nil }
            if try await !goesOn(after: last, patience) { isAtEnd = true }
        }
        return nil
    }

    private mutating func fillBehind(_ patience: inout Patience) async throws(CallFailure) {
        let step = exchange.connection.fill()
        guard case .moved(let count) = step else {
            _ = try await goesOn(after: step, patience)
            return
        }
        turns.count(count)
        patience.extend(from: exchange.connection.loop.now)
    }

    /// Whether nothing is left to be sent, be it because the server has refused it.
    var isRequestSent: Bool {
        guard let upload else { return true }
        return upload.isFinished || upload.isStopped
    }

    /// Waits for the end of the request, which an early response may have overtaken.
    ///
    /// Throws where the server has accepted a request that could not be sent to its end.
    func finish() async throws(CallFailure) {
        if let upload, !isRequestSent { try await exchange.awaitEnd(of: upload) }
    }

    /// How many bytes it will be, if the head has said so.
    var total: UInt64? {
        switch exchange.connection.framing {
        case .none: 0
        case .length(let length): length
        case .chunked, .untilClose, .tunnel: nil
        }
    }

    /// Reads what is left and throws it away, if that is little and comes soon; true if that was the end of it.
    mutating func drain() async -> Bool {
        guard isWorthDraining else { return false }
        exchange.end = min(
            exchange.end,
            exchange.connection.loop.now.advanced(byNanoseconds: Self.timeToDrain)
        )
        let limit = received + Self.bytesToDrain
        do throws(CallFailure) {
            while received <= limit, try await next() != nil {}
        } catch {
            return false
        }
        return isAtEnd
    }

    /// Whether the connection may be had again for the price of reading a little more.
    var isWorthDraining: Bool {
        guard upload?.isRunning != true, !exchange.connection.isRetired, !isAtEnd else { return false }
        switch exchange.connection.framing {
        case .none: return true
        case .length(let length): return length - received <= Self.bytesToDrain
        case .chunked: return true
        case .untilClose, .tunnel: return false
        }
    }

    /// Waits for what the step wants; false when the stream has ended and so has the body.
    private mutating func goesOn(
        after step: Connection.Step,
        _ patience: Patience
    ) async throws(CallFailure) -> Bool {
        turns.begin()
        gauge.count(to: received)
        return try await exchange.goesOn(after: step, patience, upload, &gauge)
    }

    /// Reads straight into the memory that is handed out, and lets the parser close up the gaps that the
    /// framing leaves; nothing is copied that need not be.
    private mutating func readPiece(_ last: inout Connection.Step) throws(CallFailure) -> [UInt8] {
        var failure: CallFailure?
        var step = Connection.Step.wantsInput
        let piece = unsafe [UInt8](unsafeUninitializedCapacity: Self.pieceSize) { memory, filled in
            let all = UnsafeMutableRawBufferPointer(memory)
            while all.count - filled >= Self.roomWorthReading, !isAtEnd {
                let free = unsafe UnsafeMutableRawBufferPointer(rebasing: all[filled...])
                step = unsafe exchange.connection.read(into: free)
                guard case .moved(let count) = step else { break }
                turns.count(count)
                do throws(CallFailure) {
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
        // Little in much memory: the caller may keep it for long.
        return piece.count < Self.pieceWorthCopying
            ? unsafe piece.withUnsafeBytes { unsafe [UInt8]($0) } : piece
    }

    /// Moves the content in `bytes` to their front, and says how much there is.
    private mutating func closeGaps(in bytes: UnsafeMutableRawBufferPointer) throws(CallFailure) -> Int {
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

    /// More than that is cheaper to have on a new connection.
    private static let bytesToDrain: UInt64 = 64 * 1024
    private static let timeToDrain: UInt64 = 100_000_000
    private static let pieceSize = 64 * 1024
    private static let pieceWorthCopying = 4 * 1024
    /// Less than a full record would only split it.
    private static let roomWorthReading = 16 * 1024
}
