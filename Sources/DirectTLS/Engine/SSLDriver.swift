internal import CDirectOpenSSL

/// An OpenSSL connection over a transport: the mechanics that clients and surveys have in common.
///
/// It owns the `SSL` and the state of its BIO. It decides nothing: whether a server is trusted, and whether
/// data may be sent, is up to its owner, `TLSConnection` or `SurveyConnection`. One caller at a time; no call
/// waits. Each call clears this thread's error queue before OpenSSL is called, and drains it after a failure.
///
/// A value that cannot be copied, so that it is part of its owner, and no pointer has to be followed to reach
/// it.
struct SSLDriver: ~Copyable {
    /// Owned: freed before the state that its BIO points to.
    let ssl: OpaquePointer
    private let state: UnsafeMutablePointer<TransportState>
    /// Must live as long as the `SSL`.
    private let transport: any TLSTransport

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
        self.ssl = ssl
        self.state = state
        self.transport = transport
    }

    deinit {
        // Without this, OpenSSL considers the connection broken and its session not resumable.
        SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
        SSL_free(ssl)
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Gives OpenSSL's callbacks a pointer to the owner, which outlives the `SSL`.
    func setOwner(_ owner: AnyObject) throws(TLSError) {
        guard SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(owner).toOpaque()) == 1 else {
            throw .badSettings(ErrorQueue.drainedReason())
        }
    }

    /// Continues the handshake. Its end does not mean that the certificate is valid.
    ///
    /// - Parameter rejection: The error of a failed verification. It takes precedence over the errors that
    ///   the verification left in the queue.
    func handshake(rejection: @autoclosure () -> TLSError?) -> TLSStep {
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

    /// Begins the time after the handshake: its messages no longer count, and reads do not wait for room.
    func beginData() {
        DirectTLS.resetMessageCount(ssl, transport: state)
        state.pointee.keepsUnsent = true
    }

    /// Reads data that has arrived, at most one record of 16 KiB. Returns after bounded work, however much
    /// arrives.
    @inline(__always)
    func read(into buffer: UnsafeMutableRawBufferPointer) -> TLSStep {
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

    /// Accepts some of the bytes. Those that the transport has no room for are kept.
    @inline(__always)
    func write(_ bytes: UnsafeRawBufferPointer) -> TLSStep {
        var count = 0
        ErrorQueue.clear()
        state.pointee.begin()
        let result = SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &count)
        if result == 1 { return .moved(count) }
        let step = classify(result)
        guard case .ended = step else { return step }
        return .failed(.truncated)
    }

    /// Whether accepted bytes have not been sent yet.
    var holdsUnsent: Bool { state.pointee.holdsUnsent }

    /// Sends accepted bytes that have not been sent yet. `.moved` means that none are left.
    func flush() -> TLSStep { state.pointee.flush() }

    /// Sends a close_notify. `.moved` means that it has been sent, or that there is no peer to send it to.
    func shutDown() -> TLSStep {
        ErrorQueue.clear()
        state.pointee.begin()
        let result = SSL_shutdown(ssl)
        guard result < 0 else { return .moved(0) }
        let step = classify(result)
        guard case .ended = step else { return step }
        return .moved(0)
    }

    /// Sends a close_notify if the transport accepts it immediately.
    func close() {
        ErrorQueue.clear()
        _ = SSL_shutdown(ssl)
        ErrorQueue.clear()
    }

    /// Frees the record buffers (about 33 KiB). OpenSSL allocates them again when needed.
    func releaseBuffers() {
        ErrorQueue.clear()
        _ = SSL_free_buffers(ssl)
    }

    /// Frees the certificates that the server sent, apart from its own, and the verified chain.
    ///
    /// OpenSSL would keep them, ten times as large as they were sent, for as long as the connection exists,
    /// and never reads them after a handshake. It has no function for this, but it returns its own stacks,
    /// and copies them as they are into the sessions of later tickets.
    func releaseCertificates() {
        for stack in [SSL_get_peer_cert_chain(ssl), SSL_get0_verified_chain(ssl)] {
            while let certificate = OPENSSL_sk_pop(stack) { X509_free(OpaquePointer(certificate)) }
        }
    }

    /// Whether bytes were taken from the transport that no read has returned yet.
    var hasPending: Bool { SSL_has_pending(ssl) == 1 }

    /// Classifies the result of the last call, and clears this thread's error queue.
    @inline(__always)
    private func classify(_ result: Int32) -> TLSStep {
        TLSStep(of: ssl, result, state, rejection: nil)
    }
}

extension SSLDriver {
    /// The cipher suite's IANA name; empty before the handshake.
    var cipher: String {
        SSL_CIPHER_standard_name(SSL_get_current_cipher(ssl)).map { String(cString: $0) } ?? ""
    }

    /// The group of the key exchange; `nil` if OpenSSL does not report one.
    var group: String? {
        let number = direct_SSL_get_negotiated_group(ssl)
        guard number != NID_undef else { return nil }
        // Groups that have no object identifier, such as the hybrid ones of OpenSSL 3.5, are known by TLS's
        // number.
        let isNumber = number & TLSEXT_nid_unknown != 0
        return (isNumber ? SSL_group_to_name(ssl, number) : OBJ_nid2sn(number)).map { String(cString: $0) }
    }

    /// The protocol that the server chose by ALPN; `nil` if it chose none.
    var chosenProtocol: String? {
        var bytes: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &bytes, &count)
        guard let bytes, count > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
    }
}
