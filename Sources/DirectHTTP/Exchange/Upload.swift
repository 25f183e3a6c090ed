internal import DirectHTTP1
internal import DirectIO

/// The sending of a body by a task of its own, so that the response can be read meanwhile.
///
/// A server may answer before it has read everything, or answer piece by piece and read no further until
/// its answer is taken: one task alone would wait for ever.
final class Upload: @unchecked Sendable {
    enum Content: Sendable {
        case bytes([UInt8], from: Int)
        case stream(length: UInt64?, @Sendable () -> RequestBody.Source)
    }

    private enum State {
        case running
        case finished
        case failed(CallFailure)
    }

    private let connection: Connection
    private let patience: Patience
    private let state = Locked(State.running)
    private let task = Locked<Task<Void, Never>?>(nil)

    private init(_ connection: Connection, _ patience: Patience) {
        self.connection = connection
        self.patience = patience
    }

    static func start(_ content: Content, on connection: Connection, _ patience: Patience) -> Upload {
        connection.beginDuplex()
        let upload = Upload(connection, patience)
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
        case .bodySource, .bodyLength, .timedOut: return failure
        default: return nil
        }
    }

    /// No more is sent. The task ends as soon as the source lets it.
    func cancel() {
        task.withLock { $0?.cancel() }
    }

    private func run(_ content: Content) async {
        do throws(CallFailure) {
            switch content {
            case .bytes(let bytes, let start): try await send(bytes, from: start)
            case .stream(let length, let makeSource): try await send(makeSource(), length)
            }
            state.withLock { $0 = .finished }
        } catch {
            state.withLock { $0 = .failed(error) }
        }
        // The reader has been waiting without a limit; now it counts.
        connection.socket.input.signal()
    }

    private func send(_ bytes: [UInt8], from start: Int) async throws(CallFailure) {
        var sent = start
        while sent < bytes.count {
            let step = unsafe bytes.withUnsafeBytes { all in
                unsafe connection.write(UnsafeRawBufferPointer(rebasing: all[sent...]))
            }
            if case .moved(let count) = step {
                sent += count
            } else {
                try await connection.wait(for: step, patience)
            }
        }
    }

    private func send(_ source: RequestBody.Source, _ length: UInt64?) async throws(CallFailure) {
        var given: UInt64 = 0
        while let piece = try await next(of: source) {
            guard !piece.isEmpty else { continue }
            given += UInt64(piece.count)
            if let length {
                guard given <= length else {
                    throw .failed(.write, .bodyLength(announced: length, given: given))
                }
                try await send(piece, from: 0)
            } else {
                try await sendChunk(piece)
            }
        }
        if let length {
            guard given == length else {
                throw .failed(.write, .bodyLength(announced: length, given: given))
            }
        } else {
            try await send(Self.lastChunk, from: 0)
        }
    }

    private func next(of source: RequestBody.Source) async throws(CallFailure) -> [UInt8]? {
        if Task.isCancelled { throw .cancelled }
        do {
            return try await source.next()
        } catch {
            throw error is CancellationError && Task.isCancelled
                ? .cancelled : .failed(.write, .bodySource(error))
        }
    }

    /// A chunk in one piece: its size, the bytes, and the end of its line (RFC 9112, section 7.1).
    private func sendChunk(_ piece: [UInt8]) async throws(CallFailure) {
        let framed = unsafe [UInt8](
            unsafeUninitializedCapacity: piece.count + RequestWriter.chunkHeadSizeBound
                + RequestWriter.chunkEnd.count
        ) { buffer, count in
            let all = UnsafeMutableRawBufferPointer(buffer)
            count = unsafe RequestWriter.writeChunkHead(size: piece.count, into: all)
            count += unsafe piece.copyPrefix(to: all, at: count)
            count += unsafe RequestWriter.chunkEnd.copyPrefix(to: all, at: count)
        }
        try await send(framed, from: 0)
    }

    private static let lastChunk = Array("0\r\n\r\n".utf8)
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
