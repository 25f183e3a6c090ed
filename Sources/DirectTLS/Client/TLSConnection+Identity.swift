internal import CDirectOpenSSL

extension TLSConnection {
    /// Sets the identity that the certificate must prove, and sends a name, but never an address, as SNI.
    func configureVerification() throws(TLSError) {
        SSL_set_verify(ssl, SSL_VERIFY_PEER, nil)
        let sendsName = identity.kind == .name
        guard identity.demand(in: SSL_get0_param(ssl)),
            !sendsName || direct_SSL_set_tlsext_host_name(ssl, identity.text) == 1
        else { throw .badIdentity("cannot be checked: \(printable(identity.text))") }
    }

    /// Makes the checks that OpenSSL leaves to its caller: it lets a session of one name resume for another, and
    /// reports success if no certificate was checked.
    func verifyPeer() throws(TLSError) {
        guard let certificate = SSL_get0_peer_certificate(ssl) else { throw .noPeerCertificate }
        let code = Int32(clamping: SSL_get_verify_result(ssl))
        guard code == X509_V_OK else { throw fault(code, certificate: certificate) }
        if SSL_session_reused(ssl) == 1 { try checkAgain(certificate) }
        try checkPins()
        // OpenSSL checks this itself only since 3.0.15.
        if let chosen = driver.chosenProtocol, chosen != "http/1.1" { throw .unexpectedProtocol(chosen) }
    }

    /// Checks name and expiry again for a resumed session, in which OpenSSL checks neither.
    private func checkAgain(_ certificate: OpaquePointer) throws(TLSError) {
        let matches =
            switch identity.kind {
            case .name: X509_check_host(certificate, identity.text, 0, nameCheckFlags, nil)
            case .address: X509_check_ip_asc(certificate, identity.text, nameCheckFlags)
            }
        guard matches == 1 else {
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
        VerificationFailure(
            code,
            depth: 0,
            at: certificate,
            leaf: certificate,
            chain: nil,
            identity: identity
        ).error
    }
}

/// OpenSSL's callback that replaces its own verification, called once in a handshake that does not resume.
let checkServerChain: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { check, _ in
    guard let check else { return 0 }
    let index = SSL_get_ex_data_X509_STORE_CTX_idx()
    guard let ssl = X509_STORE_CTX_get_ex_data(check, index),
        let connection = TLSConnection.owning(OpaquePointer(ssl))
    else {
        X509_STORE_CTX_set_error(check, X509_V_ERR_APPLICATION_VERIFICATION)
        return 0
    }
    let rules = connection.context.settings.certificateRules
    connection.rejection = ChainCheck(check, rules: rules, identity: connection.identity).run()
    return connection.rejection == nil ? 1 : 0
}
