internal import CDirectOpenSSL

/// One TLS connection over a transport, from handshake to close.
///
/// It has one owner at a time: it may move between threads, but must never be used by two at once. No call waits.
/// Each call makes the progress that the transport allows and returns what it needs.
///
/// A connection is handshaking, open, or over. Reads and writes are refused until it is open, so no byte of a request
/// is sent before the certificate was accepted. It is over after the first fatal error or after `close`, and then the
/// handshake, reads and writes fail with that error, or with `notOpen`.
package final class TLSConnection: @unchecked Sendable {
    /// The identity that the server's certificate must prove.
    package let identity: ServerIdentity

    /// Owned: freed in `deinit`, before the state that its BIO points to.
    let ssl: OpaquePointer
    let transport: UnsafeMutablePointer<TransportState>
    let context: TLSContext
    let sessions: SessionCache?
    let sessionKey: SessionKey

    private(set) var phase = Phase.handshaking
    /// Whether our close_notify has been sent.
    private var hasFinishedSending = false
    /// Bytes that a write has taken and OpenSSL could not send. They are offered to it again, and no other bytes
    /// before they are sent.
    private var unfinishedRecord: [UInt8] = []
    /// Whether there are such bytes. Kept separately because every request asks: looking at an array of an object
    /// costs more than that.
    @exclusivity(unchecked) private var holdsBytes = false
    /// The largest number of bytes in one record, which is also what one call to OpenSSL sends with partial writes.
    private static let recordSize = 16384
    /// The first fatal error, returned by all later calls.
    private var failure: TLSError?
    /// The fault that certificate verification found, for the error with which the handshake fails.
    var rejection: VerificationFailure?
    /// The keys of the verified chain, of this handshake or of the one that is resumed. Empty if there are no pins to
    /// check.
    var chainKeys: [KeyPin] = []
    /// A session that arrived before the server was verified. Owned.
    var earlySession: OpaquePointer?

    /// The state of the connection.
    enum Phase {
        case handshaking
        case open
        /// Failed or closed: the pointers only remain to be freed.
        case over
    }

    /// Prepares a connection that will prove `identity` and offer a session of the same identity and `port`. The
    /// transport must outlive it. No bytes are sent yet.
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
        try configureVerification()
        offerSession()
        SSL_set_connect_state(ssl)
    }

    deinit {
        // Without this, OpenSSL considers the connection broken and its session not resumable.
        SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
        SSL_free(ssl)
        if let earlySession { SSL_SESSION_free(earlySession) }
        transport.deinitialize(count: 1)
        transport.deallocate()
    }

    /// Continues the handshake. `.done` guarantees a certificate verified for the identity, also on a resumed
    /// session.
    package func handshake() -> HandshakeStep {
        guard phase == .handshaking else { return phase == .open ? .done : .failed(failure ?? .notOpen) }
        ErrorQueue.clear()
        transport.pointee.beginReading()
        let result = SSL_do_handshake(ssl)
        transport.pointee.endReading()
        guard result != 1 else { return settle() }
        switch classify(result) {
        case .wantsRead: return transport.pointee.isDrained ? .wantsRead : .again
        case .wantsWrite: return .wantsWrite
        case .closeNotify: return .failed(end(.alertReceived(.closeNotify)))
        case .truncated: return .failed(end(.truncated))
        case .failed(let error): return .failed(end(error))
        }
    }

    /// Reads data that has arrived, at most one record of 16 KiB. Returns after bounded work, however much arrives.
    package func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadStep {
        guard phase == .open, buffer.count > 0 else { return nothingRead }
        transport.pointee.beginReading()
        defer { transport.pointee.endReading() }
        // The session tickets of a new connection are skipped here; a peer that sends more such messages makes this
        // return `.again`.
        for _ in 0..<4 {
            var count = 0
            ErrorQueue.clear()
            let result = SSL_read_ex(ssl, buffer.baseAddress, buffer.count, &count)
            if result == 1 {
                if transport.pointee.messages > 0 { forgetMessages(ssl, transport: transport) }
                return .bytes(count)
            }
            switch classify(result) {
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

    /// Takes some of the bytes, at most one record, and sends them if there is room.
    ///
    /// Bytes that were taken are sent before any others, even if the caller gives up: OpenSSL may have encrypted them
    /// already. `hasUnfinishedRecord` tells whether some of them still wait for room, and `flush` sends them.
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

    /// Sends bytes that were taken and still wait for room. `.bytes` means that there are none left.
    package func flush() -> WriteStep {
        while holdsBytes {
            guard phase == .open else { return nothingWritten }
            let step = unfinishedRecord.withUnsafeBytes { writeOnce($0) }
            guard case .bytes(let count) = step else { return step }
            // Fewer bytes if the peer has asked for smaller records.
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
        switch classify(result) {
        case .wantsRead: return .wantsRead
        case .wantsWrite: return .wantsWrite
        case .closeNotify, .truncated: return .failed(end(.truncated))
        // A peer that no longer reads may have responded before: data that has arrived can still be read.
        case .failed(.connectionLost(let errno)): return .failed(.connectionLost(errno: errno))
        case .failed(let error): return .failed(end(error))
        }
    }

    /// Tells the server that no more data will follow. Data from the server can still be read. After `.wantsWrite`,
    /// call again.
    package func finishSending() -> WriteStep {
        guard phase == .open, !hasFinishedSending else { return nothingWritten }
        let step = flush()
        guard case .bytes = step else { return step }
        ErrorQueue.clear()
        let result = SSL_shutdown(ssl)
        guard result < 0 else {
            // A second call would make OpenSSL look for the server's close_notify, and fail on data that the server
            // still sends.
            hasFinishedSending = true
            return .bytes(0)
        }
        switch classify(result) {
        case .wantsRead: return .wantsRead
        case .wantsWrite: return .wantsWrite
        case .closeNotify, .truncated: return .bytes(0)
        case .failed(let error): return .failed(error)
        }
    }

    /// Tells the server that no more data will follow, if the transport accepts it immediately. Reads and writes fail
    /// afterwards.
    package func close() {
        guard phase == .open else { return phase = .over }
        phase = .over
        // A close_notify in the middle of a record would be a broken record.
        guard !hasFinishedSending, !holdsBytes else { return }
        ErrorQueue.clear()
        _ = SSL_shutdown(ssl)
        ErrorQueue.clear()
    }

    /// Whether bytes were taken that still wait for room.
    package var hasUnfinishedRecord: Bool { holdsBytes }

    /// Frees the record buffers while the connection is idle (about 33 KiB). OpenSSL allocates them again when
    /// needed.
    package func releaseBuffers() {
        ErrorQueue.clear()
        _ = SSL_free_buffers(ssl)
    }

    /// Whether bytes were taken from the transport that no read has returned yet.
    package var hasPending: Bool {
        phase == .open && SSL_has_pending(ssl) == 1
    }

    /// Gives OpenSSL our BIO, and gives the callbacks a pointer to this object, which outlives the `SSL`.
    private func attachTransport() throws(TLSError) {
        guard let bio = makeTransportBIO(transport) else { throw .badSettings(ErrorQueue.drainedReason()) }
        // One BIO for both directions takes one reference: the `SSL` now owns ours.
        SSL_set_bio(ssl, bio, bio)
        guard SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque()) == 1 else {
            throw .badSettings(ErrorQueue.drainedReason())
        }
    }

    /// Classifies the result of the last call, and clears this thread's error queue.
    @inline(__always)
    private func classify(_ result: Int32) -> SSLResult {
        SSLResult(of: ssl, result, transport, rejection: rejection?.error)
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

    /// Makes the checks that OpenSSL leaves to its caller after a handshake, and opens the connection.
    private func settle() -> HandshakeStep {
        do throws(TLSError) {
            try verifyPeer()
        } catch {
            return .failed(end(error))
        }
        forgetMessages(ssl, transport: transport)
        phase = .open
        storeEarlySession()
        return .done
    }
}
