internal import CDirectOpenSSL

/// How far a handshake has come.
package enum HandshakeStep: Equatable {
    /// The server has proved its identity: bytes may flow.
    case done
    case wantsRead
    case wantsWrite
    /// As `ReadStep.again`.
    case again
    case failed(TLSError)
}

/// What a read brought.
package enum ReadStep: Equatable {
    case bytes(Int)
    /// Input was used up, no data has come of it yet, and there may be more input: the caller looks at its limits,
    /// lets other tasks run, and reads again. It must not wait for the transport.
    case again
    case wantsRead
    case wantsWrite
    /// The server said that it has sent everything.
    case closeNotify
    /// The stream ended without the server saying so: what came may not be all.
    case truncated
    case failed(TLSError)
}

/// What a write took.
package enum WriteStep: Equatable {
    case bytes(Int)
    case wantsRead
    case wantsWrite
    case failed(TLSError)
}

/// One TLS connection over a transport, from handshake to close.
///
/// One owner at a time: it may move between threads, and never be in use by two. Nothing here waits; each
/// call makes the progress the transport allows and says what it needs. Reading and writing before the
/// handshake is done is refused, so no byte of a request goes out before the certificate was accepted.
package final class TLSConnection: @unchecked Sendable {
    package let identity: ServerIdentity

    /// Owned: freed in `deinit`, before the state that its BIO points to.
    let ssl: OpaquePointer
    let transport: UnsafeMutablePointer<TransportState>
    let context: TLSContext
    let sessions: SessionCache?
    let sessionKey: SessionKey

    private(set) var phase = Phase.handshaking
    /// Whether our goodbye has been sent.
    private var hasFinishedSending = false
    /// Bytes that a write has taken and OpenSSL could not send: they are offered to it again, and nothing else is
    /// before they are out.
    private var unfinishedRecord: [UInt8] = []
    /// Whether there are any. Beside them, as every request asks: to look at an array of an object costs more than the
    /// answer.
    @exclusivity(unchecked) private var holdsBytes = false
    /// The most that one record carries, and one call to OpenSSL with partial writes sends.
    private static let recordSize = 16384
    /// The first fatal error, repeated to whoever calls again.
    private var failure: TLSError?
    /// What the certificate check found, for the error the handshake then fails with.
    var rejection: Rejection?
    /// The keys of the chain that was verified, by this handshake or the one that is resumed. Empty where no pins
    /// ask for them.
    var chainKeys: [KeyPin] = []
    /// A session that came before the server's identity was settled. Owned.
    var earlySession: OpaquePointer?

    enum Phase {
        case handshaking
        case open
        /// Failed or closed: only the pointers are left to free.
        case over
    }

    /// Prepares a connection that will prove `identity` and offer a session of the same identity and `port`.
    /// The transport must outlive it. Nothing is sent yet.
    package init(
        context: TLSContext,
        identity: ServerIdentity,
        transport: TLSTransport,
        sessions: SessionCache? = nil,
        port: UInt16 = 443
    ) throws(TLSError) {
        ErrorQueue.clear()
        guard let ssl = SSL_new(context.raw) else { throw .badSettings(ErrorQueue.drainedReason()) }
        self.ssl = ssl
        self.identity = identity
        self.context = context
        self.sessions = context.settings.resumesSessions ? sessions : nil
        sessionKey = SessionKey(identity: identity, port: port, context: context.number)
        self.transport = .allocate(capacity: 1)
        self.transport.initialize(to: TransportState(transport: transport))
        try attachTransport()
        try expectIdentity()
        offerSession()
        SSL_set_connect_state(ssl)
    }

    deinit {
        // Without this OpenSSL calls the connection broken, and its session not resumable.
        SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
        SSL_free(ssl)
        if let earlySession { SSL_SESSION_free(earlySession) }
        transport.deinitialize(count: 1)
        transport.deallocate()
    }

    /// Continues the handshake. `.done` promises a verified certificate for the identity, also on a resumed
    /// session.
    package func handshake() -> HandshakeStep {
        guard phase == .handshaking else { return phase == .open ? .done : .failed(failure ?? .notOpen) }
        ErrorQueue.clear()
        transport.pointee.beginReading()
        let result = SSL_do_handshake(ssl)
        transport.pointee.endReading()
        guard result != 1 else { return settle() }
        switch reasonToStop(result) {
        case .wantsRead: return transport.pointee.isDrained ? .wantsRead : .again
        case .wantsWrite: return .wantsWrite
        case .closeNotify: return .failed(end(.alertReceived(number: 0, name: alertName(0))))
        case .truncated: return .failed(end(.truncated))
        case .failed(let error): return .failed(end(error))
        }
    }

    /// Reads what has arrived, at most one record of 16 KiB. Returns soon, however much arrives.
    package func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadStep {
        guard phase == .open, buffer.count > 0 else { return nothingRead }
        transport.pointee.beginReading()
        defer { transport.pointee.endReading() }
        // The session tickets of a new connection are passed here; a peer that sends more of the kind is not.
        for _ in 0..<4 {
            var count = 0
            ErrorQueue.clear()
            let result = SSL_read_ex(ssl, buffer.baseAddress, buffer.count, &count)
            if result == 1 {
                if transport.pointee.messages > 0 { forgetMessages(ssl, transport) }
                return .bytes(count)
            }
            switch reasonToStop(result) {
            case .wantsRead:
                if transport.pointee.isDrained { return .wantsRead }
            case .wantsWrite: return .wantsWrite
            case .closeNotify: return .closeNotify
            case .truncated: return .truncated
            case .failed(let error): return .failed(end(error))
            }
        }
        return .again
    }

    /// Takes some of the bytes, at most a record, and sends them if there is room.
    ///
    /// What has been taken goes out before anything else is written, whatever becomes of the caller: OpenSSL may have
    /// encrypted it already. `hasUnfinishedRecord` says whether some of it still waits for room, and `flush` sends it.
    package func write(_ bytes: UnsafeRawBufferPointer) -> WriteStep {
        guard phase == .open, bytes.count > 0 else { return nothingWritten }
        if holdsBytes {
            let step = flush()
            guard case .bytes = step else { return step }
        }
        let record = UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.recordSize))
        switch writeOnce(record) {
        case .wantsRead, .wantsWrite:
            unfinishedRecord = [UInt8](record)
            holdsBytes = true
            return .bytes(record.count)
        case let step: return step
        }
    }

    /// Sends the bytes that were taken and still wait for room. `.bytes` says that there are none left.
    package func flush() -> WriteStep {
        while holdsBytes {
            guard phase == .open else { return nothingWritten }
            let step = unfinishedRecord.withUnsafeBytes { writeOnce($0) }
            guard case .bytes(let count) = step else { return step }
            // Fewer where the peer has asked for smaller records.
            unfinishedRecord.removeFirst(min(count, unfinishedRecord.count))
            holdsBytes = !unfinishedRecord.isEmpty
        }
        return .bytes(0)
    }

    private func writeOnce(_ bytes: UnsafeRawBufferPointer) -> WriteStep {
        var count = 0
        ErrorQueue.clear()
        let result = SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &count)
        if result == 1 { return .bytes(count) }
        switch reasonToStop(result) {
        case .wantsRead: return .wantsRead
        case .wantsWrite: return .wantsWrite
        case .closeNotify, .truncated: return .failed(end(.truncated))
        // Who no longer listens may have answered before: what has arrived can still be read.
        case .failed(.connectionLost(let errno)): return .failed(.connectionLost(errno: errno))
        case .failed(let error): return .failed(end(error))
        }
    }

    /// Tells the server that nothing more will come; what it sends can still be read. After `.wantsWrite` call
    /// again.
    package func finishSending() -> WriteStep {
        guard phase == .open, !hasFinishedSending else { return nothingWritten }
        let step = flush()
        guard case .bytes = step else { return step }
        ErrorQueue.clear()
        let result = SSL_shutdown(ssl)
        guard result < 0 else {
            // Called once more, OpenSSL would look for the server's goodbye, and stumble over what it still sends.
            hasFinishedSending = true
            return .bytes(0)
        }
        switch reasonToStop(result) {
        case .wantsRead: return .wantsRead
        case .wantsWrite: return .wantsWrite
        case .closeNotify, .truncated: return .bytes(0)
        case .failed(let error): return .failed(error)
        }
    }

    /// Tells the server that nothing more will come, if the transport takes it at once. Nothing can be read or
    /// written afterwards.
    package func close() {
        guard phase == .open else { return phase = .over }
        phase = .over
        // A goodbye in the middle of a record would be a broken record.
        guard !hasFinishedSending, !holdsBytes else { return }
        ErrorQueue.clear()
        _ = SSL_shutdown(ssl)
        ErrorQueue.clear()
    }

    /// Whether bytes have been taken that still wait for room.
    package var hasUnfinishedRecord: Bool { holdsBytes }

    /// Gives the record buffers back while the connection idles (some 33 KiB); they return when needed.
    package func releaseBuffers() {
        ErrorQueue.clear()
        _ = SSL_free_buffers(ssl)
    }

    /// Whether bytes have been taken from the transport that no read has returned yet.
    package var hasPending: Bool {
        phase == .open && SSL_has_pending(ssl) == 1
    }

    /// Gives OpenSSL our BIO, and the callbacks a way back to this object, which outlives the `SSL`.
    private func attachTransport() throws(TLSError) {
        guard let bio = makeTransportBIO(transport) else { throw .badSettings(ErrorQueue.drainedReason()) }
        // One BIO for both directions takes one reference: the `SSL` now owns ours.
        SSL_set_bio(ssl, bio, bio)
        guard SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque()) == 1 else {
            throw .badSettings(ErrorQueue.drainedReason())
        }
    }

    private var nothingRead: ReadStep {
        phase == .open ? .bytes(0) : .failed(failure ?? .notOpen)
    }

    private var nothingWritten: WriteStep {
        phase == .open ? .bytes(0) : .failed(failure ?? .notOpen)
    }

    private func end(_ error: TLSError) -> TLSError {
        phase = .over
        failure = error
        return error
    }

    /// OpenSSL is content; now what it leaves to us.
    private func settle() -> HandshakeStep {
        do throws(TLSError) {
            try checkServer()
        } catch {
            return .failed(end(error))
        }
        forgetMessages(ssl, transport)
        phase = .open
        storeEarlySession()
        return .done
    }
}
