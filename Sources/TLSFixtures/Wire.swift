internal import CDirectOpenSSL

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The socket of an accepted connection, plain or TLS. Only the connection's own thread uses it.
///
/// Reads and writes block. ``ServerCore/stop()`` shuts the socket down from another thread, which ends them.
final class Wire {
    let socket: Int32
    /// Set by the ClientHello callback.
    var hello: ClientHello? {
        didSet { if let hello { didReceiveHello(hello) } }
    }
    /// Called with every ClientHello that is set.
    var didReceiveHello: (ClientHello) -> Void = { _ in }
    /// Set by the ClientHello callback if the server name is refused.
    var refusal: FixtureTLSSettings.Answer?
    /// The number of bytes that TLS may still send on the socket. The rest is silently dropped.
    var writeAllowance = Int.max
    /// The number of bytes received on the socket, before decryption.
    private(set) var socketByteCount = 0
    /// The first of them.
    private(set) var socketBytes: [UInt8] = []
    /// Whether the TLS handshake has finished.
    private(set) var isSecure = false

    private let isStopping: () -> Bool
    private var tls: (ssl: OpaquePointer, context: TLSContext)?
    private var sawEnd = false
    /// What was read before there was a wire.
    private var alreadyRead: ArraySlice<UInt8>
    /// errno of the last failed socket call, since OpenSSL may change errno before its caller sees it.
    private var lastErrno: Int32 = 0

    init(
        socket: Int32,
        security: TLSContext?,
        alreadyRead: [UInt8],
        isStopping: @escaping () -> Bool
    ) {
        self.socket = socket
        self.alreadyRead = alreadyRead[...]
        self.isStopping = isStopping
        guard let security, let ssl = SSL_new(security.context) else { return }
        tls = (ssl, security)
        let me = Unmanaged.passUnretained(self).toOpaque()
        SSL_set_ex_data(ssl, 0, me)
        let bio = BIO_new(WireBIO.method)
        BIO_set_data(bio, me)
        BIO_set_init(bio, 1)
        SSL_set_bio(ssl, bio, bio)
        SSL_set_accept_state(ssl)
    }

    deinit {
        if let tls { SSL_free(tls.ssl) }
    }

    var speaksTLS: Bool { tls != nil }

    /// Does the TLS handshake. Does nothing on a plain connection or if the handshake is done.
    func handshake() throws(ConnectionEnd) {
        guard let tls, !isSecure else { return }
        ERR_clear_error()
        let result = SSL_do_handshake(tls.ssl)
        guard result == 1 else {
            let end = tlsFailure(result)
            throw refusal == nil || end == .serverStopped ? end : .nameRefused
        }
        isSecure = true
    }

    /// The result of the TLS handshake, or `nil` before it has finished and on a plain connection.
    var facts: FixtureTLSFacts? {
        guard let tls, isSecure else { return nil }
        return FixtureTLSFacts(tls.ssl)
    }

    /// Receives at least one byte.
    func receive(into buffer: UnsafeMutableRawBufferPointer) throws(ConnectionEnd) -> Int {
        guard let tls else {
            let count = receiveRaw(into: buffer)
            if count > 0 { return count }
            throw isStopping() ? .serverStopped : count == 0 ? .clientClosed : .clientReset
        }
        try handshake()
        ERR_clear_error()
        let count = SSL_read(tls.ssl, buffer.baseAddress, Int32(clamping: buffer.count))
        guard count > 0 else { throw tlsFailure(count) }
        return Int(count)
    }

    /// Whether bytes have been read from the socket that ``receive(into:)`` has not returned yet.
    var hasPending: Bool {
        guard let tls else { return false }
        return SSL_has_pending(tls.ssl) == 1
    }

    /// Sends all bytes.
    func send(_ bytes: UnsafeRawBufferPointer) throws(ConnectionEnd) {
        guard let tls else { return try sendRaw(bytes) }
        try handshake()
        guard bytes.count > 0 else { return }
        ERR_clear_error()
        var written = 0
        let result = SSL_write_ex(tls.ssl, bytes.baseAddress, bytes.count, &written)
        guard result == 1 else { throw tlsFailure(result) }
    }

    func send(_ bytes: [UInt8]) throws(ConnectionEnd) {
        try Self.typed { try bytes.withUnsafeBytes { try self.send($0) } }
    }

    /// Sends bytes on the socket itself, bypassing TLS.
    func sendRaw(_ bytes: UnsafeRawBufferPointer) throws(ConnectionEnd) {
        var rest = bytes
        while rest.count > 0 {
            let count = Sockets.send(socket, bytes: rest)
            guard count > 0 else { throw isStopping() ? .serverStopped : .clientReset }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    func sendRaw(_ bytes: [UInt8]) throws(ConnectionEnd) {
        try Self.typed { try bytes.withUnsafeBytes { try self.sendRaw($0) } }
    }

    /// Asks a TLS 1.2 client to renegotiate, or a TLS 1.3 client to update its keys.
    func askForNewKeys() throws(ConnectionEnd) {
        try handshake()
        guard let tls else { return }
        ERR_clear_error()
        let isNewest = SSL_version(tls.ssl) == TLS1_3_VERSION
        try sendMessage(
            isNewest ? SSL_key_update(tls.ssl, SSL_KEY_UPDATE_REQUESTED) : SSL_renegotiate(tls.ssl)
        )
    }

    /// Updates the keys that the server sends with and does not ask the client to do the same (TLS 1.3).
    func updateKeys() throws(ConnectionEnd) {
        try handshake()
        guard let tls else { return }
        ERR_clear_error()
        try sendMessage(SSL_key_update(tls.ssl, SSL_KEY_UPDATE_NOT_REQUESTED))
    }

    /// Sends the handshake message that an OpenSSL function has just prepared, if that function succeeded.
    private func sendMessage(_ asked: Int32) throws(ConnectionEnd) {
        guard let tls else { return }
        let result = asked == 1 ? SSL_do_handshake(tls.ssl) : asked
        guard result == 1 else { throw tlsFailure(result) }
    }

    /// Sends the first part of a session ticket that is longer than one record. TLS sends nothing after it.
    func sendHalfATicket() throws(ConnectionEnd) {
        try handshake()
        guard let tls else { return }
        ERR_clear_error()
        fixture_SSL_set_max_send_fragment(tls.ssl, 512)
        let padding = [UInt8](repeating: 0, count: 3000)
        guard SSL_SESSION_set1_ticket_appdata(SSL_get_session(tls.ssl), padding, padding.count) == 1 else {
            return
        }
        // One record of 512 bytes and the beginning of the next.
        writeAllowance = 600
        let asked = SSL_new_session_ticket(tls.ssl)
        let result = asked == 1 ? SSL_do_handshake(tls.ssl) : asked
        guard result == 1 else { throw tlsFailure(result) }
    }

    /// Sends close_notify if TLS is established, and keeps the socket open.
    func sendCloseNotify() {
        guard let tls, isSecure else { return }
        ERR_clear_error()
        SSL_shutdown(tls.ssl)
    }

    /// Sends FIN. Reading is still possible.
    func halfClose() {
        shutdown(socket, Int32(SHUT_WR))
    }

    /// The read function of the BIO.
    fileprivate func transportRead(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        receiveRaw(into: buffer)
    }

    /// The write function of the BIO. It drops what a refusal or the write allowance forbids, and reports it
    /// as sent.
    fileprivate func transportWrite(_ bytes: UnsafeRawBufferPointer) -> Int {
        switch refusal {
        case .close, .reset: return bytes.count
        default: break
        }
        let allowed = UnsafeRawBufferPointer(rebasing: bytes.prefix(writeAllowance))
        if writeAllowance != .max { writeAllowance -= allowed.count }
        var rest = allowed
        while rest.count > 0 {
            let count = Sockets.send(socket, bytes: rest)
            guard count > 0 else {
                lastErrno = errno
                return -1
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        return bytes.count
    }

    fileprivate var isAtEnd: Bool { sawEnd }

    private func receiveRaw(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = takeAlreadyRead(into: buffer) ?? Sockets.receive(socket, bytes: buffer)
        if count > 0 {
            socketByteCount += count
            let room = ConnectionRecord.socketBytesLimit - socketBytes.count
            if room > 0 { socketBytes += buffer[..<min(count, room)] }
        }
        if count == 0 { sawEnd = true }
        if count < 0 { lastErrno = errno }
        return count
    }

    private func takeAlreadyRead(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard !alreadyRead.isEmpty else { return nil }
        let count = min(buffer.count, alreadyRead.count)
        buffer.copyBytes(from: alreadyRead.prefix(count))
        alreadyRead.removeFirst(count)
        return count
    }

    /// Returns the end of the connection that fits the last failed OpenSSL call.
    private func tlsFailure(_ result: Int32) -> ConnectionEnd {
        guard let tls else { return .clientClosed }
        let kind = SSL_get_error(tls.ssl, result)
        let error = ERR_peek_error()
        ERR_clear_error()
        if isStopping() { return .serverStopped }
        if kind == SSL_ERROR_ZERO_RETURN { return .clientClosed }
        let reason = ERR_GET_REASON(error)
        // OpenSSL reports a received alert as reason 1000 plus the alert's number.
        if ERR_GET_LIB(error) == ERR_LIB_SSL, (1000..<1256).contains(reason) {
            return .clientAlert(UInt8(reason - 1000))
        }
        if lastErrno != 0 { return .clientReset }
        if sawEnd { return .clientCut }
        return .tlsFailed(openSSLText(error))
    }

    /// Calls `body` with a typed error: closures of the standard library rethrow untyped errors, and all that
    /// is thrown here is ``ConnectionEnd``.
    private static func typed(_ body: () throws -> Void) throws(ConnectionEnd) {
        do {
            try body()
        } catch let end as ConnectionEnd {
            throw end
        } catch {
            throw .tlsFailed("\(error)")
        }
    }
}

extension FixtureTLSFacts {
    fileprivate init(_ ssl: OpaquePointer) {
        version = String(cString: SSL_get_version(ssl))
        cipher = SSL_CIPHER_get_name(SSL_get_current_cipher(ssl)).map { String(cString: $0) } ?? ""
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &length)
        applicationProtocol =
            length == 0
            ? nil : String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
        isResumed = SSL_session_reused(ssl) == 1
        let outer = fixture_SSL_get1_outer_name(ssl)
        defer { fixture_OPENSSL_free(outer) }
        outerServerName = outer.map { String(cString: $0) }
        let certificate = SSL_get1_peer_certificate(ssl)
        defer { X509_free(certificate) }
        clientCertificate = certificate.map { certificate in derBytes { i2d_X509(certificate, $0) } }
        clientSubject = certificate.map { text(ofName: X509_get_subject_name($0)) }
    }
}

/// The BIO between OpenSSL and a ``Wire``. OpenSSL's socket BIO sends with write(2), which would kill the
/// test process with SIGPIPE if the client had disconnected.
private enum WireBIO {
    nonisolated(unsafe) static let method: OpaquePointer? = makeMethod()

    private static func makeMethod() -> OpaquePointer? {
        let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "fixture wire")
        BIO_meth_set_read(method) { bio, bytes, count in
            guard let wire = wire(of: bio) else { return -1 }
            return Int32(
                wire.transportRead(UnsafeMutableRawBufferPointer(start: bytes, count: Int(count)))
            )
        }
        BIO_meth_set_write(method) { bio, bytes, count in
            guard let wire = wire(of: bio) else { return -1 }
            return Int32(wire.transportWrite(UnsafeRawBufferPointer(start: bytes, count: Int(count))))
        }
        BIO_meth_set_ctrl(method) { bio, command, _, _ in
            switch command {
            case BIO_CTRL_FLUSH, BIO_CTRL_DUP: 1
            case BIO_CTRL_EOF: wire(of: bio)?.isAtEnd == true ? 1 : 0
            default: 0
            }
        }
        return method
    }
}

private func wire(of bio: OpaquePointer?) -> Wire? {
    BIO_get_data(bio).map { Unmanaged<Wire>.fromOpaque($0).takeUnretainedValue() }
}
