internal import DirectHTTP1
internal import DirectIO
internal import Synchronization

/// The sending of a body by a task of its own, so that the response can be read meanwhile.
///
/// A server may answer before it has read everything, or answer piece by piece and read no further until
/// its answer is taken: one task alone would wait for ever.
final class Upload: @unchecked Sendable {
    enum Content: Sendable {
        case bytes([UInt8], from: Int)
        case stream(StreamedBody, length: UInt64?)

        /// Whether there is anything that a server could expect.
        var hasContent: Bool {
            if case .stream(_, length: 0) = self { false } else { true }
        }
    }

    private enum State {
        case running
        case finished
        case failed(CallFailure)
    }

    private let connection: Connection
    private let patience: Patience
    private let onProgress: (@Sendable (TransferProgress) -> Void)?
    /// Used by the sending task alone.
    private var gauge: SpeedGauge
    /// How much content has been sent.
    private let sent = Atomic<UInt64>(0)
    private let state = Locked(State.running)
    private let task = Locked<Task<Void, Never>?>(nil)
    /// Where the reader waits for the end of it, once the response is over.
    private let ending: LoopHandle

    private init(_ exchange: Exchange, _ onProgress: (@Sendable (TransferProgress) -> Void)?) {
        connection = exchange.connection
        patience = exchange.patience(.write, stall: exchange.timeouts.write)
        self.onProgress = onProgress
        gauge = SpeedGauge(exchange.timeouts.speed)
        ending = LoopHandle(loop: exchange.connection.loop)
    }

    static func start(
        _ content: Content,
        _ exchange: Exchange,
        _ onProgress: (@Sendable (TransferProgress) -> Void)?
    ) -> Upload {
        exchange.connection.beginDuplex()
        let upload = Upload(exchange, onProgress)
        upload.task.withLock { $0 = Task.detached { await upload.run(content) } }
        return upload
    }

    var isRunning: Bool {
        state.withLock { if case .running = $0 { true } else { false } }
    }

    var isFinished: Bool {
        state.withLock { if case .finished = $0 { true } else { false } }
    }

    /// Why not all was sent, if so.
    var failure: CallFailure? {
        state.withLock { if case .failed(let failure) = $0 { failure } else { nil } }
    }

    /// Why not all was sent, if that leaves no answer to wait for: the source failed, or time is up.
    ///
    /// A connection that broke is no such reason, since the server may have answered before; nor is `cancel`,
    /// which comes after the answer.
    var hopelessFailure: CallFailure? {
        guard let failure, case .failed(_, let reason) = failure else { return nil }
        switch reason {
        case .bodySource, .bodyLength, .timedOut, .tooSlow, .http: return failure
        default: return nil
        }
    }

    /// No more is sent. The task ends as soon as the source lets it.
    func cancel() {
        task.withLock { $0?.cancel() }
    }

    /// Waits, when the response is over, for an upload that still flows. One that stands still has no business
    /// any more: the server has said all it had to say.
    func settle() async {
        guard isRunning else { return }
        connection.loop.add(ending)
        defer { connection.loop.remove(ending) }
        while isRunning {
            let before = sent.load(ordering: .relaxed)
            let look = min(Instant.now.advanced(byNanoseconds: Self.standstill), patience.end)
            let wake = await ending.input.wait(until: look, on: connection.loop)
            ending.input.clear()
            if case .cancelled = wake { return }
            if case .expired = wake, sent.load(ordering: .relaxed) == before || patience.end <= .now {
                return
            }
        }
    }

    private func run(_ content: Content) async {
        do throws(CallFailure) {
            switch content {
            case .bytes(let bytes, let start):
                sent.store(UInt64(start), ordering: .relaxed)
                try await send(bytes, from: start, total: UInt64(bytes.count))
            case .stream(let body, let length): try await send(body, length)
            }
            end(.finished)
        } catch {
            end(.failed(error))
        }
    }

    private func end(_ new: State) {
        state.withLock { state in
            // What has been sent whole stays so, even if the source is no longer asked whether it has more.
            if case .finished = state, case .failed(.cancelled) = new { return }
            state = new
        }
        // The reader has been waiting without a limit; now it counts.
        connection.socket.input.signal()
        ending.input.signal()
    }

    private func send(_ body: StreamedBody, _ length: UInt64?) async throws(CallFailure) {
        let source = try await fromSource { try await body.open(connection.loop) }
        if length == 0 { end(.finished) }
        var given: UInt64 = 0
        while let piece = try await fromSource({ try await source.next() }) {
            guard !piece.isEmpty else { continue }
            given += UInt64(piece.count)
            if let length {
                guard given <= length else {
                    throw .failed(.write, .bodyLength(announced: length, given: given))
                }
                // Looked for before the last piece goes out: the peer may answer it before anybody looks further.
                if given == length, body.endsAtOnce,
                    let more = try await fromSource({ try await source.next() })
                {
                    throw .failed(.write, .bodyLength(announced: length, given: given + UInt64(more.count)))
                }
                try await send(piece, from: 0, total: length)
                // The rest of the source is only looked at to see that there is none.
                if given == length { end(.finished) }
            } else {
                try await send(Self.chunk(of: piece), from: 0, total: nil, content: piece.count)
            }
        }
        if let length {
            guard given == length else {
                throw .failed(.write, .bodyLength(announced: length, given: given))
            }
        } else {
            try await sendTrailers(body)
        }
    }

    private func sendTrailers(_ body: StreamedBody) async throws(CallFailure) {
        var trailers = Headers()
        if let make = body.trailers { trailers = try await fromSource { try await make() } }
        let end: [UInt8]
        do throws(HTTP1Error) {
            end = try Self.lastChunk(trailers)
        } catch {
            throw .failed(.write, .http(error))
        }
        try await send(end, from: 0, total: nil, content: 0)
    }

    /// Sends bytes of which all are content, or, if they are more than that, so many.
    private func send(
        _ bytes: [UInt8],
        from start: Int,
        total: UInt64?,
        content: Int? = nil
    ) async throws(CallFailure) {
        var position = start
        while position < bytes.count {
            let step = unsafe bytes.withUnsafeBytes { all in
                unsafe connection.write(UnsafeRawBufferPointer(rebasing: all[position...]))
            }
            if case .moved(let count) = step {
                position += count
                if gauge.isOn { gauge.count(count) }
                if content == nil { report(count, total) }
            } else {
                try await wait(for: step)
            }
        }
        if let content, content > 0 { report(content, total) }
    }

    private func report(_ count: Int, _ total: UInt64?) {
        let bytes = sent.add(UInt64(count), ordering: .relaxed).newValue
        onProgress?(TransferProgress(bytes: bytes, total: total))
    }

    private func wait(for step: Connection.Step) async throws(CallFailure) {
        guard gauge.isOn else { return try await connection.waitToWrite(after: step, patience, from: .now) }
        let start = Instant.now
        do throws(CallFailure) {
            try await connection.waitToWrite(after: step, gauge.shortened(patience), from: start)
        } catch {
            guard gauge.timeLeft < patience.stall, error.isTimeout, Instant.now < patience.end else {
                throw error
            }
        }
        try gauge.enter(waitFrom: start, to: .now, .write)
    }

    private func fromSource<Value>(_ ask: () async throws -> Value) async throws(CallFailure) -> Value {
        if Task.isCancelled { throw .cancelled }
        do {
            return try await ask()
        } catch {
            throw error is CancellationError && Task.isCancelled
                ? .cancelled : .failed(.write, .bodySource(error))
        }
    }

    /// A chunk in one piece: its size, the bytes, and the end of its line (RFC 9112, section 7.1).
    private static func chunk(of piece: [UInt8]) -> [UInt8] {
        unsafe [UInt8](
            unsafeUninitializedCapacity: piece.count + RequestWriter.chunkHeadSizeBound
                + RequestWriter.chunkEnd.count
        ) { buffer, count in
            let all = UnsafeMutableRawBufferPointer(buffer)
            count = unsafe RequestWriter.writeChunkHead(size: piece.count, into: all)
            count += unsafe piece.copyPrefix(to: all, at: count)
            count += unsafe RequestWriter.chunkEnd.copyPrefix(to: all, at: count)
        }
    }

    private static func lastChunk(_ trailers: Headers) throws(HTTP1Error) -> [UInt8] {
        let bound = RequestWriter.lastChunkSizeBound(trailers: trailers)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bound, alignment: 1)
        defer { unsafe buffer.deallocate() }
        let count = try unsafe RequestWriter.writeLastChunk(trailers: trailers, into: buffer)
        return unsafe [UInt8](UnsafeRawBufferPointer(rebasing: buffer[0..<count]))
    }

    /// An upload that moves nothing for so long, after the response is over, is given up.
    private static let standstill: UInt64 = 50_000_000
}

extension [UInt8] {
    /// Copies as many bytes from the front as there is room for behind `start`, and says how many.
    func copyPrefix(to target: UnsafeMutableRawBufferPointer, at start: Int) -> Int {
        let count = Swift.min(self.count, target.count - start)
        guard count > 0 else { return 0 }
        unsafe withUnsafeBytes { bytes in
            unsafe UnsafeMutableRawBufferPointer(rebasing: target[start..<start + count])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[0..<count]))
        }
        return count
    }
}
