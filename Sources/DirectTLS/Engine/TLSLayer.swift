internal import CDirectOpenSSL

/// One TLS connection over a transport, from handshake to close: what clients and surveys have in common.
///
/// It has one owner at a time: it may move between threads, but two threads must never use it at the same
/// time. No call blocks. Each call makes the progress that the transport allows, and returns whether it needs
/// the transport to be readable or writable. Each clears this thread's error queue before OpenSSL is called,
/// and drains it after a failure.
///
/// A connection is handshaking, open, or closed. Reads and writes fail until it is open. It is closed after
/// the first fatal error or after `close`; from then on the handshake, reads and writes fail with that error,
/// or with `notOpen`.
///
/// The two subclasses differ in when the connection opens: a ``TLSConnection`` opens when the server has
/// proved its identity, a ``SurveyConnection`` after any successful handshake. Everything after that is the
/// same for both, and is `final`.
package class TLSLayer: @unchecked Sendable {
    /// OpenSSL's object. Owned: freed before the state that its BIO points to.
    final let ssl: OpaquePointer
    private final let state: UnsafeMutablePointer<TransportState>
    /// Must live as long as the `SSL`.
    private final let transport: any TLSTransport

    final private(set) var phase = Phase.handshaking
    /// Whether this side has sent its close_notify.
    private final var hasFinishedSending = false
    /// The largest number of bytes in one record, which is also what one call to OpenSSL sends with partial
    /// writes.
    private static let maximumRecordSize = 16384
    /// The question about the server's chain that the handshake waits for the answer to, or has waited for;
    /// `nil` if no judge is asked, and once the connection is open.
    package final var trial: ChainTrial?
    /// The first fatal error, returned by all later calls.
    private final var failure: TLSError?

    /// The state of the connection.
    enum Phase {
        case handshaking
        case open
        /// After a fatal error or `close`. The OpenSSL objects exist until `deinit` frees them.
        case closed
    }

    /// Prepares a client's connection with the settings of an `SSL_CTX`. No bytes are sent yet.
    init(context: OpaquePointer, transport: any TLSTransport) throws(TLSError) {
        ErrorQueue.clear()
        guard let ssl = SSL_new(context) else { throw .badSettings(ErrorQueue.drainedReason()) }
        let state = UnsafeMutablePointer<TransportState>.allocate(capacity: 1)
        state.initialize(to: TransportState(transport: transport))
        guard let bio = makeTransportBIO(state) else {
            let reason = ErrorQueue.drainedReason()
            SSL_free(ssl)
            state.deallocate()
            throw .badSettings(reason)
        }
        // One BIO for both directions takes one reference: the `SSL` now owns ours.
        SSL_set_bio(ssl, bio, bio)
        SSL_set_connect_state(ssl)
        (self.ssl, self.state, self.transport) = (ssl, state, transport)
        // For OpenSSL's callbacks. The connection outlives the `SSL`.
        guard SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque()) == 1 else {
            throw .badSettings(ErrorQueue.drainedReason())
        }
    }

    deinit {
        // Without this, OpenSSL considers the connection broken and its session not resumable.
        SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
        SSL_free(ssl)
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Continues the handshake. After its end data may be sent.
    package func handshake() -> TLSStep {
        handshake(rejection: nil) { () throws(TLSError) in }
    }

    /// Called when a fatal error ends a connection that was open.
    func willClose(after error: TLSError) {}

    /// The name of the peer, for errors of the layer above.
    var peerName: String { "" }

    /// Continues the handshake, and opens the connection at its end.
    ///
    /// - Parameters:
    ///   - rejection: The error of a failed verification. It takes precedence over the errors that the
    ///     verification left in the queue.
    ///   - verify: The checks after a handshake that are not part of OpenSSL's.
    final func handshake(
        rejection: @autoclosure () -> TLSError?,
        verify: () throws(TLSError) -> Void
    ) -> TLSStep {
        guard phase == .handshaking else { return noStep }
        switch continueHandshake(rejection: rejection()) {
        case .moved: break
        case .failed(let error): return .failed(fail(with: error))
        case let step: return step
        }
        do throws(TLSError) {
            try verify()
        } catch {
            return .failed(fail(with: error))
        }
        // From here on its messages no longer count, and reads do not wait for room.
        resetMessageCount(ssl, transport: state)
        state.pointee.keepsUnsent = true
        phase = .open
        return .moved(0)
    }

    /// The end of this does not mean that the certificate is valid.
    private final func continueHandshake(rejection: @autoclosure () -> TLSError?) -> TLSStep {
        ErrorQueue.clear()
        state.pointee.beginReading()
        let result = SSL_do_handshake(ssl)
        state.pointee.endReading()
        guard result != 1 else { return .moved(0) }
        let step = TLSStep(of: ssl, result, state, rejection: rejection())
        return switch step {
        case .ended(let isClean): .failed(isClean ? .alertReceived(.closeNotify) : .truncated)
        default: step
        }
    }

    /// Reads data that has arrived, at most one record of 16 KiB. The work of one call is bounded, however
    /// much data arrives.
    package final func read(into buffer: UnsafeMutableRawBufferPointer) -> TLSStep {
        guard phase == .open, buffer.count > 0 else { return noStep }
        switch readRecord(into: buffer) {
        case .failed(let error): return .failed(fail(with: error))
        case let step: return step
        }
    }

    @inline(__always)
    private final func readRecord(into buffer: UnsafeMutableRawBufferPointer) -> TLSStep {
        state.pointee.beginReading()
        defer { state.pointee.endReading() }
        // The session tickets of a new connection are skipped here; a peer that sends more such messages
        // makes this return `.again`.
        for _ in 0..<4 {
            var count = 0
            ErrorQueue.clear()
            let result = SSL_read_ex(ssl, buffer.baseAddress, buffer.count, &count)
            if result == 1 {
                if state.pointee.messages > 0 { resetMessageCount(ssl, transport: state) }
                return .moved(count)
            }
            let step = classify(result)
            guard case .again = step else { return step }
        }
        return .again
    }

    /// Accepts some of the bytes, at most one record, and sends them if the transport has room.
    ///
    /// Accepted bytes are sent before any others, even if the caller gives up: they are encrypted already.
    /// `hasUnsentBytes` tells whether some of them have not been sent yet, and `flush` sends them.
    package final func write(_ bytes: UnsafeRawBufferPointer) -> TLSStep {
        guard phase == .open, bytes.count > 0 else { return noStep }
        if hasUnsentBytes {
            let step = flush()
            guard case .moved = step else { return step }
        }
        switch writeRecord(UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.maximumRecordSize))) {
        // Not fatal for reads: a peer that no longer reads may have sent a response before, which can still
        // be read.
        case .failed(.connectionLost(let errno)): return .failed(.connectionLost(errno: errno))
        case .failed(let error): return .failed(fail(with: error))
        case let step: return step
        }
    }

    @inline(__always)
    private final func writeRecord(_ bytes: UnsafeRawBufferPointer) -> TLSStep {
        var count = 0
        ErrorQueue.clear()
        state.pointee.begin()
        let result = SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &count)
        if result == 1 { return .moved(count) }
        let step = classify(result)
        guard case .ended = step else { return step }
        return .failed(.truncated)
    }

    /// Sends accepted bytes that have not been sent yet. `.moved` means that none are left.
    package final func flush() -> TLSStep {
        guard hasUnsentBytes else { return .moved(0) }
        return phase == .open ? state.pointee.flush() : noStep
    }

    /// Tells the server that no more data will follow. Data from the server can still be read. After
    /// `.wantsWrite`, call again.
    package final func finishSending() -> TLSStep {
        guard phase == .open, !hasFinishedSending else { return noStep }
        let flushed = flush()
        guard case .moved = flushed else { return flushed }
        let step = sendCloseNotify()
        // A second call would make OpenSSL look for the server's close_notify, and fail on data that the
        // server still sends.
        if case .moved = step { hasFinishedSending = true }
        return step
    }

    /// Sends a close_notify. `.moved` means that it has been sent, or that there is no peer to send it to.
    private final func sendCloseNotify() -> TLSStep {
        ErrorQueue.clear()
        state.pointee.begin()
        let result = SSL_shutdown(ssl)
        guard result < 0 else { return .moved(0) }
        let step = classify(result)
        guard case .ended = step else { return step }
        return .moved(0)
    }

    /// Tells the server that no more data will follow, if the transport accepts it immediately. Reads and
    /// writes fail afterwards.
    package final func close() {
        guard phase == .open else { return phase = .closed }
        phase = .closed
        // A close_notify would wait behind what has not been sent yet.
        guard !hasFinishedSending, !hasUnsentBytes else { return }
        ErrorQueue.clear()
        _ = SSL_shutdown(ssl)
        ErrorQueue.clear()
    }

    /// Whether accepted bytes have not been sent yet.
    package final var hasUnsentBytes: Bool { state.pointee.holdsUnsent }

    /// Frees the record buffers while the connection is idle (about 33 KiB). OpenSSL allocates them again
    /// when needed.
    package final func releaseBuffers() {
        ErrorQueue.clear()
        _ = SSL_free_buffers(ssl)
    }

    /// Frees the certificates that the server sent, apart from its own, and the verified chain.
    ///
    /// OpenSSL would keep them, ten times as large as they were sent, for as long as the connection exists,
    /// and never reads them after a handshake. It has no function for this, but it returns its own stacks,
    /// and copies them as they are into the sessions of later tickets.
    final func releaseCertificates() {
        for stack in [SSL_get_peer_cert_chain(ssl), SSL_get0_verified_chain(ssl)] {
            while let certificate = OPENSSL_sk_pop(stack) { X509_free(OpaquePointer(certificate)) }
        }
    }

    /// Whether bytes have been read from the transport that no `read` has returned yet.
    package final var hasPending: Bool { phase == .open && SSL_has_pending(ssl) == 1 }

    /// The result of a read or a write that is not made: no bytes if the connection is open, else the error.
    private final var noStep: TLSStep {
        phase == .open ? .moved(0) : .failed(failure ?? .notOpen)
    }

    /// Classifies the result of the last call, and clears this thread's error queue.
    @inline(__always)
    private final func classify(_ result: Int32) -> TLSStep {
        TLSStep(of: ssl, result, state, rejection: nil)
    }

    /// Closes the connection because of a fatal error, and returns the error.
    private final func fail(with error: TLSError) -> TLSError {
        if phase == .open { willClose(after: error) }
        phase = .closed
        failure = error
        return error
    }
}

/// As the transport of another TLS connection, this one is the connection to a proxy.
extension TLSLayer: TLSTransport {
    package final func receive(into buffer: UnsafeMutableRawBufferPointer) -> TLSStep {
        let step = read(into: buffer)
        guard case .wantsRead = step else { return below(step) }
        // The bytes waited for may answer something that has not been sent yet. If that fails, a response may
        // have been sent before.
        return switch flush() {
        case .wantsWrite: .wantsWrite
        case .again: .again
        default: step
        }
    }

    package final func send(_ bytes: UnsafeRawBufferPointer) -> TLSStep { below(write(bytes)) }

    /// Returns a step of this layer as the layer above has to see it: a failure says whose it is, unless only
    /// the connection is lost.
    package final func below(_ step: TLSStep) -> TLSStep {
        switch step {
        case .failed(.connectionLost), .failed(.proxyConnection): step
        case .failed(let error): .failed(.proxyConnection(name: peerName, error))
        default: step
        }
    }
}

/// The results of the handshake.
extension TLSLayer {
    /// The cipher suite's IANA name; empty before the handshake.
    final var cipher: String {
        SSL_CIPHER_standard_name(SSL_get_current_cipher(ssl)).map { String(cString: $0) } ?? ""
    }

    /// The group of the key exchange; `nil` if OpenSSL does not report one.
    final var group: String? {
        let number = direct_SSL_get_negotiated_group(ssl)
        guard number != NID_undef else { return nil }
        // Groups that have no object identifier, such as the hybrid ones of OpenSSL 3.5, are known by TLS's
        // number.
        let isNumber = number & TLSEXT_nid_unknown != 0
        return (isNumber ? SSL_group_to_name(ssl, number) : OBJ_nid2sn(number)).map { String(cString: $0) }
    }

    /// The protocol that the server chose by ALPN; `nil` if it chose none.
    final var chosenProtocol: String? {
        var bytes: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &bytes, &count)
        guard let bytes, count > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
    }
}
