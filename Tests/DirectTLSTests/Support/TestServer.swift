import CDirectOpenSSL
import DirectTLS
import TLSFixtures

/// OpenSSL's server side, in memory. One `SSL_CTX` with one certificate; each connection is a `ServerSide`.
final class TestServer: @unchecked Sendable {
    let raw: OpaquePointer
    /// The answer to ALPN, or nil for none.
    private let alpnAnswer: UnsafeMutableBufferPointer<UInt8>?
    /// The SNI of each ClientHello, nil where there was none.
    private(set) var offeredNames: [String?] = []

    struct Plan {
        var versions = TLS1_2_VERSION...TLS1_3_VERSION
        var alpn: String?
        var verifyMode: Int32 = SSL_VERIFY_NONE
        var trusts: TestCertificate?
        var cipherList: String?
        var chain: [TestCertificate] = []
    }

    init(_ certificate: TestCertificate?, _ plan: Plan = Plan()) {
        guard let raw = SSL_CTX_new(TLS_server_method()) else { fatalError("no context") }
        self.raw = raw
        alpnAnswer = plan.alpn.map { text in
            let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: text.utf8.count)
            _ = bytes.initialize(from: text.utf8)
            return bytes
        }
        SSL_CTX_set_security_level(raw, 0)
        _ = direct_SSL_CTX_set_version_range(raw, plan.versions.lowerBound, plan.versions.upperBound)
        if let certificate {
            SSL_CTX_use_certificate(raw, certificate.x509)
            SSL_CTX_use_PrivateKey(raw, certificate.key)
        }
        for certificate in plan.chain { _ = direct_SSL_CTX_add1_chain_cert(raw, certificate.x509) }
        if let list = plan.cipherList { SSL_CTX_set_cipher_list(raw, list) }
        SSL_CTX_set_verify(raw, plan.verifyMode, nil)
        if let root = plan.trusts { X509_STORE_add_cert(SSL_CTX_get_cert_store(raw), root.x509) }
        let context: [UInt8] = [1]
        SSL_CTX_set_session_id_context(raw, context, 1)
        let me = Unmanaged.passUnretained(self).toOpaque()
        SSL_CTX_set_client_hello_cb(raw, noteHello, me)
        if alpnAnswer != nil { SSL_CTX_set_alpn_select_cb(raw, answerALPN, me) }
    }

    /// Sends a fixture's certificate and chain, in all versions or in one.
    convenience init(_ fixture: FixtureCertificate, _ version: TLSVersion? = nil) throws {
        let number = version.map { Int32($0.rawValue) }
        self.init(nil, Plan(versions: (number ?? TLS1_2_VERSION)...(number ?? TLS1_3_VERSION)))
        let memory = BIO_new(BIO_s_mem()), keyMemory = BIO_new(BIO_s_mem())
        defer {
            BIO_free(memory)
            BIO_free(keyMemory)
        }
        BIO_puts(memory, fixture.chainPEM)
        BIO_puts(keyMemory, fixture.keyPEM)
        var isFirst = true
        while let certificate = PEM_read_bio_X509(memory, nil, nil, nil) {
            if isFirst {
                SSL_CTX_use_certificate(raw, certificate)
            } else {
                _ = direct_SSL_CTX_add1_chain_cert(raw, certificate)
            }
            isFirst = false
            X509_free(certificate)
        }
        ERR_clear_error()
        let parsed = PEM_read_bio_PrivateKey(keyMemory, nil, nil, nil)
        defer { EVP_PKEY_free(parsed) }
        guard SSL_CTX_use_PrivateKey(raw, parsed) == 1 else { throw Unexpected("key") }
    }

    deinit {
        SSL_CTX_free(raw)
        alpnAnswer?.deallocate()
    }

    func accept() -> ServerSide { ServerSide(self) }

    fileprivate func note(_ name: String?) { offeredNames.append(name) }

    fileprivate func answer(
        _ out: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
        _ count: UnsafeMutablePointer<UInt8>?
    ) -> Int32 {
        guard let alpnAnswer else { return SSL_TLSEXT_ERR_NOACK }
        out?.pointee = UnsafePointer(alpnAnswer.baseAddress)
        count?.pointee = UInt8(alpnAnswer.count)
        return SSL_TLSEXT_ERR_OK
    }
}

private func noteHello(
    _ ssl: OpaquePointer?,
    _ alert: UnsafeMutablePointer<Int32>?,
    _ server: UnsafeMutableRawPointer?
) -> Int32 {
    var start: UnsafePointer<UInt8>?
    var count = 0
    let isThere = SSL_client_hello_get0_ext(ssl, UInt32(TLSEXT_TYPE_server_name), &start, &count) == 1
    // List length, kind, name length: five bytes, then the name.
    let name = isThere ? UnsafeBufferPointer(start: start, count: count).dropFirst(5) : nil
    let text = name.map { String(decoding: $0, as: UTF8.self) }
    server.map { Unmanaged<TestServer>.fromOpaque($0).takeUnretainedValue().note(text) }
    return SSL_CLIENT_HELLO_SUCCESS
}

private func answerALPN(
    _ ssl: OpaquePointer?,
    _ out: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ count: UnsafeMutablePointer<UInt8>?,
    _ offered: UnsafePointer<UInt8>?,
    _ offeredCount: UInt32,
    _ server: UnsafeMutableRawPointer?
) -> Int32 {
    server.map { Unmanaged<TestServer>.fromOpaque($0).takeUnretainedValue().answer(out, count) } ?? 0
}

/// One connection seen from the server, and the wire to it, which can be made slow, cut or broken.
final class ServerSide: TLSTransport {
    let ssl: OpaquePointer
    let server: TestServer
    private let toServer = BIO_new(BIO_s_mem())
    private let toClient = BIO_new(BIO_s_mem())
    private(set) var received: [UInt8] = []
    /// OpenSSL's reason for the first error on this side.
    private(set) var failure: String?

    /// The most bytes one call moves; with 1, every second call also would block.
    var bytesAtOnce = Int.max
    /// How many bytes of the client's there is room for, until more is made.
    var room = Int.max
    /// Where the server's bytes contain the first of these, the client sees the second.
    var forgery: (original: [UInt8], forged: [UInt8])?
    /// After what the server has sent, the client sees the end of the stream.
    var endsStream = false
    /// After what the server has sent, the client sees this error; its writes see it at once.
    var brokenBy: Int32 = 0
    /// The client's writes alone see this error.
    var brokenWritesBy: Int32 = 0
    /// Bytes the client sent, as they went over the wire.
    private(set) var bytesFromClient = 0
    /// How often the client's read moved bytes.
    private(set) var readsOfClient = 0
    private var calls = 0

    init(_ server: TestServer) {
        guard let ssl = SSL_new(server.raw) else { fatalError("no connection") }
        self.ssl = ssl
        self.server = server
        // An empty memory BIO means "later", not "end".
        for bio in [toServer, toClient] { BIO_ctrl(bio, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nil) }
        SSL_set_bio(ssl, toServer, toClient)
        SSL_set_accept_state(ssl)
    }

    deinit {
        SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
        SSL_free(ssl)
    }

    /// Lets the server do what it can.
    func work() {
        var buffer = [UInt8](repeating: 0, count: 20_000)
        var count = 0
        while failure == nil {
            let result =
                SSL_is_init_finished(ssl) == 1
                ? SSL_read_ex(ssl, &buffer, buffer.count, &count) : SSL_do_handshake(ssl)
            guard result == 1 else { return note(result) }
            received += buffer.prefix(count)
            count = 0
        }
    }

    func send(_ text: String) {
        var count = 0
        let bytes = Array(text.utf8)
        note(SSL_write_ex(ssl, bytes, bytes.count, &count))
    }

    /// Returns what has been received since it was last asked.
    func takeReceived() -> [UInt8] {
        defer { received = [] }
        return received
    }

    /// Sends these bytes, and nothing if there are none.
    func encrypt(_ bytes: ArraySlice<UInt8>) {
        var count = 0
        if !bytes.isEmpty {
            note(bytes.withUnsafeBytes { SSL_write_ex(ssl, $0.baseAddress, $0.count, &count) })
        }
    }

    func sendCloseNotify() {
        SSL_shutdown(ssl)
        ERR_clear_error()
    }

    /// Sends so many messages that change this side's own keys; says how long one is on the wire.
    @discardableResult
    func updateKeys(times: Int) -> Int {
        let before = BIO_ctrl_pending(toClient)
        for _ in 0..<times {
            SSL_key_update(ssl, SSL_KEY_UPDATE_NOT_REQUESTED)
            note(SSL_do_handshake(ssl))
        }
        return Int(BIO_ctrl_pending(toClient) - before) / max(1, times)
    }

    /// Puts bytes on the wire that TLS did not make.
    func sendRaw(_ bytes: [UInt8]) {
        BIO_write(toClient, bytes, Int32(bytes.count))
    }

    func note(_ result: Int32) {
        if result != 1, SSL_get_error(ssl, result) == SSL_ERROR_SSL, failure == nil {
            failure = String(cString: ERR_reason_error_string(ERR_peek_error()))
        }
        ERR_clear_error()
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> TLSStep {
        if stutters() { return .wantsRead }
        let moved = BIO_read(toClient, buffer.baseAddress, Int32(clamping: min(buffer.count, bytesAtOnce)))
        if moved > 0 {
            readsOfClient += 1
            forge(UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(moved))))
            return .moved(Int(moved))
        }
        if brokenBy != 0 { return .failed(.connectionLost(errno: brokenBy)) }
        return endsStream ? .ended(clean: true) : .wantsRead
    }

    private func forge(_ bytes: UnsafeMutableRawBufferPointer) {
        guard let (original, forged) = forgery, bytes.count >= original.count else { return }
        for start in 0...(bytes.count - original.count)
        where bytes[start..<start + original.count].elementsEqual(original) {
            UnsafeMutableRawBufferPointer(rebasing: bytes[start...]).copyBytes(from: forged)
        }
    }

    func send(_ bytes: UnsafeRawBufferPointer) -> TLSStep {
        if stutters() { return .wantsWrite }
        if case let code = max(brokenBy, brokenWritesBy), code != 0 {
            return .failed(.connectionLost(errno: code))
        }
        guard room > 0 else { return .wantsWrite }
        let moved = Int(
            BIO_write(toServer, bytes.baseAddress, Int32(clamping: min(bytes.count, bytesAtOnce, room)))
        )
        bytesFromClient += moved
        if room != .max { room -= moved }
        return .moved(moved)
    }

    private func stutters() -> Bool {
        calls += 1
        return bytesAtOnce == 1 && calls % 2 == 0
    }
}

/// A transport that gives each read the same answer, and takes everything.
final class StuckTransport: TLSTransport {
    private let answer: TLSStep

    init(_ answer: TLSStep) {
        self.answer = answer
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> TLSStep { answer }
    func send(_ bytes: UnsafeRawBufferPointer) -> TLSStep { .moved(bytes.count) }
}
