internal import CDirectOpenSSL

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A TLS connection to a server that must prove its identity.
///
/// Reads and writes are refused until it has, so no byte of a request is sent before the certificate was
/// accepted.
package final class TLSConnection: TLSLayer, @unchecked Sendable {
    /// The identity that the server's certificate must prove.
    package let identity: ServerIdentity
    /// The server name that is sent; `nil` for none.
    private let serverName: String?
    /// Whether and how the server name is encrypted; `nil` if that was not asked for.
    let ech: ECHOffer?

    let context: TLSContext
    let sessions: SessionCache?
    let sessionKey: SessionKey

    /// The findings of certificate verification, for the error with which the handshake fails.
    var rejection: RejectedChain?
    /// The pins of the server; `nil` without any.
    let pins: ServerPins?
    /// The faults that the settings' override accepted, which are all that the chain has.
    var overruled: [TLSError] = []
    /// The proof of this handshake, or of the one that is resumed.
    var proof = ServerProof()
    /// Whether the server has passed all checks.
    private var hasPassed = false
    /// Whether the server has refused the encrypted client hello with a certificate for the public name.
    var hasProvedPublicName = false
    /// Whether the handshake offered a session, and has not failed yet.
    private var hasOfferedSession = false
    /// Whether the session of the `SSL` was new before the server was verified.
    private var hasEarlySession = false

    /// Prepares a connection that will prove `identity` and offer a session of the same identity and `port`.
    /// No bytes are sent yet. The identity is sent as SNI if it is a name.
    convenience init(
        context: TLSContext,
        identity: ServerIdentity,
        transport: any TLSTransport,
        sessions: SessionCache? = nil,
        port: UInt16 = 443
    ) throws(TLSError) {
        try self.init(
            context: context,
            identity: identity,
            names: HelloNames(serverName: identity.kind == .name ? identity.text : nil),
            transport: transport,
            sessions: sessions,
            port: port
        )
    }

    /// Prepares a connection with names of its own for its client hello.
    package init(
        context: TLSContext,
        identity: ServerIdentity,
        names: HelloNames,
        transport: any TLSTransport,
        sessions: SessionCache?,
        port: UInt16
    ) throws(TLSError) {
        self.identity = identity
        pins = context.settings.pins.pins(of: identity)
        serverName = names.serverName
        ech = names.ech
        self.context = context
        self.sessions = context.settings.resumesSessions ? sessions : nil
        sessionKey = SessionKey(
            identity: identity,
            serverName: serverName,
            isEncrypted: names.ech?.config != nil,
            port: port,
            context: context.number
        )
        try super.init(context: context.raw, transport: transport)
        try configureVerification()
        if let ech { try offerECH(ech) }
        offerSession()
    }

    override var peerName: String { identity.text }

    /// Continues the handshake. Its end guarantees a certificate verified for the identity, also on a resumed
    /// session.
    package override func handshake() -> TLSStep {
        let wasOpen = phase == .open
        let step = handshake(rejection: rejection?.error ?? echRejection) { () throws(TLSError) in
            try verifyPeer()
        }
        if case .moved = step, !wasOpen {
            hasOfferedSession = false
            releaseCertificates()
            // It has all certificates as sent, and the verdict is in the proof.
            if trial != nil { trial = nil }
            storeEarlySession()
        }
        if case .failed = step, phase != .open { dropOfferedSessions() }
        return step
    }

    /// Drops the sessions of the server after a fatal alert, in either direction (RFC 5246, section 7.2.2;
    /// RFC 8446, section 6.2).
    override func willClose(after error: TLSError) {
        switch error {
        case .alertReceived, .protocolFailure: sessions?.removeAll(for: sessionKey)
        default: break
        }
    }
}

extension TLSConnection {
    /// Sets the identity that the certificate must prove, and the server name.
    func configureVerification() throws(TLSError) {
        SSL_set_verify(ssl, SSL_VERIFY_PEER, nil)
        guard identity.demand(in: SSL_get0_param(ssl)),
            serverName.map({ direct_SSL_set_tlsext_host_name(ssl, $0) == 1 }) ?? true
        else { throw .uncheckableHost("cannot be checked: \(printable(identity.text))") }
    }

    /// Makes the checks that OpenSSL leaves to its caller: it lets a session of one name resume for another,
    /// and reports success if no certificate was checked.
    ///
    /// Called before our certificate is chosen, and at the end of every handshake: one that resumes a session
    /// asks for no certificate, and not every server does.
    func verifyPeer() throws(TLSError) {
        guard !hasPassed else { return }
        guard let certificate = SSL_get0_peer_certificate(ssl) else { throw .noPeerCertificate }
        let code = Int32(clamping: SSL_get_verify_result(ssl))
        guard code == X509_V_OK else { throw fault(code, certificate: certificate) }
        if SSL_session_reused(ssl) == 1 { try checkAgain(certificate) } else { noteChain() }
        if ech != nil { try checkECH() }
        try checkStaple()
        try checkPins()
        // OpenSSL checks this itself only since 3.0.15.
        if let chosen = chosenProtocol, chosen != "http/1.1" { throw .unexpectedProtocol(chosen) }
        try askVerifier()
        hasPassed = true
    }

    /// Decides whether the server may see our certificate: not before it has passed all checks, and not at
    /// all if it has proved nothing.
    fileprivate func mayProceedToIdentity() -> Bool {
        // An error in the queue would make the handshake look failed.
        defer { ErrorQueue.clear() }
        do throws(TLSError) {
            try verifyPeer()
            // In TLS 1.2 the key of a server without a key exchange of one use is proved by its last message
            // only. Until then anyone may have sent a copy of its certificate.
            guard !overruled.isEmpty || direct_SSL_has_peer_signature(ssl) == 1 else {
                let reason =
                    "the server wants the client's certificate, and has proved no key of its own: cipher suites "
                    + "that begin with TLS_RSA_ are not to be offered"
                throw .protocolFailure(.other, reason: reason, code: 0)
            }
        } catch {
            rejection = RejectedChain(error: error, certificates: nil)
            return false
        }
        // This connection's copy. The server gets an empty list of certificates.
        if !overruled.isEmpty { SSL_certs_clear(ssl) }
        return true
    }

    /// Keeps the chain of a full handshake: the verified one, or the one that was sent if its faults were
    /// accepted.
    private func noteChain() {
        proof.chain = CertificateChain(chain)
        if sessions != nil { proof.chainExpiry = CertificateChain.expiry(of: chain) }
        proof.revocationExpiry = context.revocationExpiry
        proof.lastUse = time(nil) + ServerProof.longestUse
    }

    /// The chain of a full handshake: the verified one, or the one that was sent if its faults were accepted.
    /// Borrowed.
    private var chain: OpaquePointer? {
        overruled.isEmpty ? SSL_get0_verified_chain(ssl) : SSL_get_peer_cert_chain(ssl)
    }

    /// Checks name and expiry again for a resumed session, in which OpenSSL checks neither.
    private func checkAgain(_ certificate: OpaquePointer) throws(TLSError) {
        guard identity.proof(in: certificate) != nil else {
            let isName = identity.kind == .name
            throw fault(
                isName ? X509_V_ERR_HOSTNAME_MISMATCH : X509_V_ERR_IP_ADDRESS_MISMATCH,
                certificate: certificate
            )
        }
        guard X509_cmp_current_time(X509_get0_notAfter(certificate)) == 1 else {
            throw fault(X509_V_ERR_CERT_HAS_EXPIRED, certificate: certificate)
        }
    }

    private func fault(_ code: Int32, certificate: OpaquePointer) -> TLSError {
        TLSError(
            CertificateFault(
                code: Int(code),
                reason: String(cString: X509_verify_cert_error_string(Int(code))),
                depth: 0,
                subject: CertificateReader(certificate).subject,
                expected: identity.text,
                served: CertificateReader(certificate).names(atMost: 20).all
            )
        )
    }
}

/// OpenSSL's callback that replaces its own verification, called once in a handshake that does not resume;
/// with a judge, again when there is a verdict (SSL_set_retry_verify(3)).
let checkServerChain: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { check, _ in
    guard let check else { return 0 }
    let index = SSL_get_ex_data_X509_STORE_CTX_idx()
    guard let ssl = X509_STORE_CTX_get_ex_data(check, index),
        let connection = TLSConnection.owning(OpaquePointer(ssl))
    else {
        X509_STORE_CTX_set_error(check, X509_V_ERR_APPLICATION_VERIFICATION)
        return 0
    }
    switch connection.verify(check) {
    case .accepted: return 1
    case .undecided:
        // The result that counts if OpenSSL should ever go on without the verdict.
        X509_STORE_CTX_set_error(check, X509_V_ERR_UNSPECIFIED)
        ErrorQueue.clear()
        return direct_SSL_set_retry_verify(OpaquePointer(ssl)) > 0 ? 1 : 0
    case .rejected(let faults):
        guard connection.overrules(faults, of: check) else { return 0 }
    }
    // Nothing is to take it for a verified one.
    if !connection.overruled.isEmpty { X509_STORE_CTX_set0_verified_chain(check, nil) }
    X509_STORE_CTX_set_error(check, X509_V_OK)
    // An error in the queue would make the handshake look failed.
    ErrorQueue.clear()
    return 1
}

/// OpenSSL's callback before it chooses the client's certificate, because the server has asked for one. In
/// TLS
/// 1.2 the callback that verifies the chain is called before the server's staple has arrived.
let judgeBeforeIdentity: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { ssl, _ in
    guard let ssl, let connection = TLSConnection.owning(ssl) else { return 0 }
    return connection.mayProceedToIdentity() ? 1 : 0
}

extension TLSConnection {
    /// Whether the settings' override accepts each of the faults. Otherwise the first that it does not accept
    /// is that of the handshake.
    fileprivate func overrules(_ faults: [CertificateFault], of check: OpaquePointer) -> Bool {
        let sent = CertificateChain(X509_STORE_CTX_get0_untrusted(check))
        let refused = faults.first { !isAccepted($0, sent) }
        guard let refused else {
            overruled = faults.map(TLSError.init)
            return true
        }
        X509_STORE_CTX_set_error(check, Int32(clamping: refused.code))
        rejection = RejectedChain(error: TLSError(refused), certificates: sent)
        return false
    }

    private func isAccepted(_ fault: CertificateFault, _ sent: CertificateChain?) -> Bool {
        // It is about the server of the request, and a public name never is that.
        guard let override = context.settings.insecureOverride, unansweredPublicName == nil, fault.isNamed
        else {
            return false
        }
        return override.accepts(RejectedServer(name: identity.text, fault: TLSError(fault), chain: sent))
    }

    /// Reads the staple, and requires one that says "good" if the settings do. On a resumed session the
    /// staple of its first handshake counts; the session is not offered for longer than that holds
    /// (CVE-2024-0853).
    func checkStaple() throws(TLSError) {
        let mode = context.settings.stapling
        guard mode != .ignored else { return }
        if SSL_session_reused(ssl) == 0 {
            let staple = withRoots { roots in
                OCSPStaple(of: ssl, chain: overruled.isEmpty ? chain : nil, store: roots)
            }
            proof.stapledStatus = staple.status
            proof.stapleExpiry = staple.expiry
        }
        guard mode == .required, proof.stapledStatus != .good else { return }
        throw .staple(proof.stapledStatus)
    }

    /// Asks the settings' verifier, with the chain and the staple of the handshake that the session began
    /// with.
    fileprivate func askVerifier() throws(TLSError) {
        guard let verifier = context.settings.verifier else { return }
        let server = VerifiedServer(
            name: identity.text,
            stapledStatus: proof.stapledStatus,
            isResumed: SSL_session_reused(ssl) == 1,
            acceptedFaults: overruled,
            chain: proof.chain
        )
        guard case .reject(let reason) = verifier.check(server) else { return }
        throw .rejectedByVerifier(reason: reason)
    }
}

extension TLSConnection {
    /// Requires a pinned key in the verified chain, not in the certificates that the server sent
    /// (CVE-2016-2402). Runs before any byte of a request, also on a resumed session, with the keys of the
    /// chain that the session began with.
    func checkPins() throws(TLSError) {
        guard let pins else { return }
        if SSL_session_reused(ssl) == 0 {
            // After accepted faults only the server's own, which the handshake has proved.
            proof.keys = Array(
                (chain.map(ServerPins.keys) ?? []).prefix(overruled.isEmpty ? .max : 1)
            )
        }
        let observer = context.settings.pins.observer
        if pins.reports(proof.keys) { observer?.tell(mismatch(wasReportOnly: true)) }
        guard !pins.accepts(proof.keys) else { return }
        let mismatch = mismatch(wasReportOnly: false)
        observer?.tell(mismatch)
        throw .keyNotPinned(mismatch)
    }

    private func mismatch(wasReportOnly: Bool) -> KeyMismatch {
        KeyMismatch(name: identity.text, seen: proof.keys, wasReportOnly: wasReportOnly)
    }
}

extension TLSConnection {
    /// OpenSSL's callback for a new session that can be resumed: at the end of a TLS 1.2 handshake, and
    /// within any later read in TLS 1.3. Returns 0: OpenSSL keeps the reference that it passes.
    static let keepNewSession: @convention(c) (OpaquePointer?, OpaquePointer?) -> Int32 = { ssl, session in
        guard let ssl, let session, let connection = TLSConnection.owning(ssl) else { return 0 }
        connection.keep(session)
        return 0
    }

    /// Returns the connection that this `SSL` belongs to. It outlives its `SSL`, so the pointer cannot
    /// dangle.
    static func owning(_ ssl: OpaquePointer) -> TLSConnection? {
        SSL_get_ex_data(ssl, 0).map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }

    /// Offers the newest session of the same identity, port and context.
    func offerSession() {
        guard let saved = sessions?.take(for: sessionKey), let session = saved.restored() else { return }
        proof = saved.proof
        hasOfferedSession = true
        // The `SSL` adds a reference of its own.
        _ = SSL_set_session(ssl, session)
        SSL_SESSION_free(session)
    }

    /// Drops the sessions of this server after a handshake that offered one and has failed, or was never
    /// answered. The next connection then makes a full handshake, which fails only if the server itself is
    /// not acceptable. A session of TLS 1.2 would otherwise be offered again and again.
    package func dropOfferedSessions() {
        guard hasOfferedSession else { return }
        hasOfferedSession = false
        sessions?.removeAll(for: sessionKey)
    }

    /// Stores the session that OpenSSL had before the server was verified. It must not be stored earlier.
    private func storeEarlySession() {
        guard hasEarlySession, let session = SSL_get_session(ssl) else { return }
        hasEarlySession = false
        keep(session)
    }

    /// Keeps a copy of a new session.
    private func keep(_ session: OpaquePointer) {
        guard phase == .open else { return hasEarlySession = true }
        // A resumed handshake would not ask the override again.
        guard let sessions, overruled.isEmpty, let saved = SavedSession(session, proof: proof) else { return }
        sessions.store(saved, for: sessionKey)
    }
}
