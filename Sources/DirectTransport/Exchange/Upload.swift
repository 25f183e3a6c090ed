internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTLS
internal import Synchronization

/// Sends a request in a task of its own, so that the response can be read at the same time.
///
/// A server may answer before it has read everything, or answer piece by piece and read no further until its
/// answer is taken: a single task would wait forever. The upload is the writing half of the lease on a
/// connection: the connection serves no other request until both halves have ended well.
///
/// The state goes from `sending`, if the body has a length by way of `sent`, to `finished`, `stopped` or
/// `failed`, and no further. `sent` says that all announced bytes are out, so that the server can answer, but
/// the source has not told its end: it may still give more or fail, and the call must not succeed with a part
/// of what it gives. So the response may be read, and its end waits until the source has told its own. `stop`
/// notes that the server has refused the rest, which makes the cancellation no failure: what then happens to
/// the response is the response's own failure. The sending task sets the state; the reading task looks at it.
/// Each change is signalled at the socket's wait point, where the reader may wait for input, and at `ending`,
/// where it waits when there is nothing more to read.
///
/// The two tasks share the connection, which locks each operation for as long as there is an upload, because
/// OpenSSL allows one at a time.
package final class Upload: @unchecked Sendable {
    /// The part of a body that is left to send.
    package enum Content: Sendable {
        case bytes([UInt8], from: Int)
        case stream(StreamedBody, length: UInt64?)

        /// Whether there is any content to send.
        package var hasContent: Bool {
            if case .stream(_, length: 0) = self { false } else { true }
        }

        /// Whether code of the program's supplies it, which may block.
        var mayBlock: Bool {
            if case .stream(let body, _) = self { !body.endsAtOnce || body.trailers != nil } else { false }
        }
    }

    private enum State {
        case sending
        /// All announced bytes are out, and the source has not told its end.
        case sent
        case finished
        /// Ended by `stop`.
        case stopped
        case failed(TransportError)
    }

    private let exchange: Exchange
    private var connection: Connection { exchange.connection }
    private let onProgress: (@Sendable (TransferProgress) -> Void)?
    private let rate: RateLimit?
    /// Used by the sending task only.
    private var monitor: ThroughputMonitor
    private var yields = YieldCounter()
    /// The bytes of content sent so far.
    private let sent = Atomic<UInt64>(0)
    private let state = Locked(State.sending)
    private let stopped = Atomic<Bool>(false)
    private let task = Locked<Task<Void, Never>?>(nil)
    /// The wait point for the end of the upload, used when there is nothing more to read.
    private let ending: LoopHandle

    private init(
        _ exchange: Exchange,
        _ onProgress: (@Sendable (TransferProgress) -> Void)?,
        _ rate: RateLimit?
    ) {
        self.exchange = exchange
        self.onProgress = onProgress
        self.rate = rate
        monitor = ThroughputMonitor(exchange.timeouts.speed)
        ending = LoopHandle(loop: exchange.connection.loop)
    }

    /// Starts the task: it sends the rest of the head and of what was composed with it, then the content.
    ///
    /// The task inherits the caller's task-local values, which the source of a body may use.
    package static func start(
        _ head: [UInt8]?,
        content: Content?,
        exchange: Exchange,
        onProgress: (@Sendable (TransferProgress) -> Void)?,
        rate: RateLimit? = nil
    ) -> Upload {
        exchange.connection.beginDuplex()
        if case .stream(let body, _)? = content { body.begin() }
        let upload = Upload(exchange, onProgress, rate)
        if head == nil, content?.hasContent == false { upload.state.withLock { $0 = .sent } }
        // Code that blocks the executor of the caller would block the ends of the call's waits as well.
        let executor = content?.mayBlock == true ? exchange.limit.threads : exchange.limit.executor
        upload.task.withLock {
            $0 = Task(executorPreference: executor) { await upload.run(head, content: content) }
        }
        return upload
    }

    /// Whether there are bytes to be sent.
    var isSending: Bool {
        state.withLock { if case .sending = $0 { true } else { false } }
    }

    /// Whether the request was sent whole, and its source has ended.
    var isFinished: Bool {
        state.withLock { if case .finished = $0 { true } else { false } }
    }

    private var hasEnded: Bool {
        state.withLock {
            switch $0 {
            case .sending, .sent: false
            case .finished, .stopped, .failed: true
            }
        }
    }

    /// The reason that the request was not sent whole; `nil` if it was or may still be.
    package var failure: TransportError? {
        state.withLock { if case .failed(let failure) = $0 { failure } else { nil } }
    }

    /// The failure, if it leaves no response to wait for: the source failed, a time limit has passed, or the
    /// system refused to send although the connection exists: the server then waits for the rest.
    ///
    /// A broken connection is not such a failure, because the server may have answered before; nor is
    /// `cancel`, which comes after the response.
    var hopelessFailure: TransportError? {
        failure.flatMap { $0.leavesNoResponse ? $0 : nil }
    }

    /// Whether the server has refused the rest of the request.
    package private(set) var isStopped: Bool {
        get { stopped.load(ordering: .relaxed) }
        set { stopped.store(newValue, ordering: .relaxed) }
    }

    /// Stops the upload if the server has refused the request before it was sent whole. That is no failure.
    package func stop() {
        let isRefused = state.withLock { state in
            switch state {
            case .sending: true
            case .failed(let failure): !failure.leavesNoResponse
            case .sent, .finished, .stopped: false
            }
        }
        guard isRefused else { return }
        isStopped = true
        cancel()
    }

    /// Stops sending. The task ends as soon as the source returns.
    package func cancel() {
        task.withLock { $0?.cancel() }
    }

    /// Waits until the upload has ended: while bytes are sent without a limit of its own, then within the
    /// limit of writing for the source to tell its end.
    ///
    /// - Throws: the failure, if it did not end well.
    package func waitForEnd() async throws(TransportError) {
        connection.loop.add(ending)
        defer { connection.loop.remove(ending) }
        try await awaitSignals(while: { self.isSending }, .endsWithUpload)
        try await awaitSignals(while: { !self.hasEnded }, exchange.timeouts.write)
        if let failure { throw failure }
    }

    private func awaitSignals(while isBusy: () -> Bool, _ stall: IdleLimit) async throws(TransportError) {
        let deadline = exchange.limit.deadline(.write, stall: stall, from: connection.loop.now)
        while isBusy() { try deadline.check(await ending.waitForSignal(until: deadline.instant)) }
    }

    private func run(_ head: [UInt8]?, content: Content?) async {
        do throws(TransportError) {
            if let head {
                try await send(head, from: 0, total: nil, content: 0, isAll: content?.hasContent == false)
            }
            switch content {
            case .bytes(let bytes, let start):
                sent.store(UInt64(start), ordering: .relaxed)
                try await send(bytes, from: start, total: UInt64(bytes.count))
            case .stream(let body, let length): try await send(body, length: length)
            case nil: break
            }
            end(.finished)
        } catch {
            end(.failed(error))
        }
    }

    private func end(_ new: State) {
        state.withLock { state in
            if case .failed(.cancelled) = new, isStopped { state = .stopped } else { state = new }
        }
        signal()
    }

    private func signal() {
        // The reader has been waiting without a time limit; its limit begins now.
        connection.socket.wakeReader()
        ending.input.signal()
    }

    /// Sends a streamed body: exactly `length` bytes, or in chunks if that is `nil`.
    private func send(_ body: StreamedBody, length: UInt64?) async throws(TransportError) {
        let opened = try await fromSource { try await body.open(connection.loop) }
        let source = length.map(opened.giving) ?? opened
        var given: UInt64 = 0
        while let piece = try await fromSource({ try await source.next() }) {
            guard !piece.isEmpty else { continue }
            given += UInt64(piece.count)
            if let length {
                // Asked before the last piece is sent: the peer may answer that piece before anything else is
                // checked. Only once: what a file gets after that comes behind its end.
                var hasEnded = false
                if given == length, body.endsAtOnce {
                    hasEnded = try await fromSource { try await source.next() } == nil
                }
                try await send(piece, from: 0, total: length, isAll: given == length)
                if hasEnded { break }
            } else {
                try await send(Self.chunk(of: piece), from: 0, total: nil, content: piece.count)
            }
        }
        if length == nil { try await sendTrailers(body) }
    }

    /// Sends the last chunk, with the trailer fields.
    private func sendTrailers(_ body: StreamedBody) async throws(TransportError) {
        var trailers = HTTPHeaders()
        if let make = body.trailers { trailers = try await fromSource { try await make() } }
        let end: [UInt8]
        do throws(HTTP1Error) {
            end = try Self.lastChunk(trailers)
        } catch {
            throw .failed(.write, .http(error))
        }
        try await send(end, from: 0, total: nil, content: 0)
    }

    /// Sends bytes. All of them are content, unless `content` says how many are.
    ///
    /// - Parameter isAll: whether a body with a length is sent whole with them, before its source has ended.
    private func send(
        _ bytes: [UInt8],
        from start: Int,
        total: UInt64?,
        content: Int? = nil,
        isAll: Bool = false
    ) async throws(TransportError) {
        var position = start
        var deadline: Deadline?
        while position < bytes.count {
            if let rate {
                try await rate.wait(.write, within: exchange.limit, on: connection.loop)
            }
            let end = min(bytes.count, position + (rate?.pieceSize ?? bytes.count))
            let step = attempt(isAll: isAll, upTo: bytes.count - position) {
                unsafe bytes.withUnsafeBytes { all in
                    unsafe connection.write(UnsafeRawBufferPointer(rebasing: all[position..<end]))
                }
            }
            if case .moved(let count) = step {
                position += count
                deadline = nil
                if monitor.isOn { monitor.count(count) }
                rate?.count(count, at: connection.loop.now)
                if content == nil { report(count, total: total) }
                try await giveWay(after: count)
            } else {
                try await wait(for: step, &deadline)
            }
        }
        while connection.hasUnsentBytes {
            let step = attempt(isAll: isAll, upTo: nil) { connection.flush() }
            guard case .moved = step else {
                try await wait(for: step, &deadline)
                continue
            }
        }
        if isAll { signal() }
        if let content, content > 0 { report(content, total: total) }
    }

    /// Tries to send. When all is out, the state says so before the reader can look at it: the server may
    /// answer at once, and a body that it has whole is not refused by that.
    private func attempt(isAll: Bool, upTo left: Int?, _ move: () -> Connection.Step) -> Connection.Step {
        guard isAll else { return move() }
        return state.withLock { state in
            let step = move()
            guard case .moved(let count) = step, count == left ?? count, !connection.hasUnsentBytes else {
                return step
            }
            state = .sent
            return step
        }
    }

    /// Checks the call's deadline and yields to other tasks now and then, for a peer that takes everything as
    /// fast as it is sent.
    private func giveWay(after count: Int) async throws(TransportError) {
        yields.count(count)
        guard yields.isDue else { return }
        try exchange.limit.check(.write, at: connection.loop.now)
        await yields.yieldIfDue(on: connection.loop)
    }

    /// Counts content that was sent, and calls the progress callback.
    private func report(_ count: Int, total: UInt64?) {
        let bytes = sent.add(UInt64(count), ordering: .relaxed).newValue
        onProgress?(TransferProgress(bytes: bytes, total: total))
    }

    /// Waits for the event that the step needs. The time limit begins with the first wait after progress.
    private func wait(for step: Connection.Step, _ deadline: inout Deadline?) async throws(TransportError) {
        let start = connection.loop.now
        yields.begin()
        let limits = deadline ?? exchange.limit.deadline(.write, from: start)
        deadline = limits
        _ = try await monitor.check(limits, on: connection.loop) {
            [connection] limits throws(TransportError) in
            try await connection.wait(for: step, as: .writer, limits)
            return true
        }
    }

    /// Calls the source of the body, and turns its error into a failure of the upload.
    private func fromSource<Value>(_ ask: () async throws -> Value) async throws(TransportError) -> Value {
        if Task.isCancelled { throw .cancelled }
        do {
            return try await ask()
        } catch let failure as TransportError {
            throw failure
        } catch let fault as RequestBodyError {
            throw .failed(.write, .requestBody(fault))
        } catch {
            throw error is CancellationError && Task.isCancelled
                ? .cancelled : .failed(.write, .bodySource(error))
        }
    }

    /// Returns a chunk: its size line, the bytes and the line end (RFC 9112, section 7.1).
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

    /// Returns the last chunk and the trailer section.
    private static func lastChunk(_ trailers: HTTPHeaders) throws(HTTP1Error) -> [UInt8] {
        let bound = RequestWriter.lastChunkSizeBound(trailers: trailers)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bound, alignment: 1)
        defer { unsafe buffer.deallocate() }
        let count = try unsafe RequestWriter.writeLastChunk(trailers: trailers, into: buffer)
        return unsafe [UInt8](UnsafeRawBufferPointer(rebasing: buffer[0..<count]))
    }
}

extension TransportError {
    /// Whether a request whose sending failed so has no response to wait for.
    fileprivate var leavesNoResponse: Bool {
        guard case .failed(_, let reason) = self else { return false }
        switch reason {
        case .bodySource, .requestBody, .bodyLength, .timedOut, .tooSlow, .http: return true
        case .system(let error): return error.leavesConnectionOpen
        case .tls(.connectionLost(errno: let code)):
            return SystemError.sending(code: code).leavesConnectionOpen
        default: return false
        }
    }
}
