internal import CDirectOpenSSL

extension TLSContext {
    /// Verifies a chain like a handshake, but without a connection.
    ///
    /// - Parameters:
    ///   - chain: The server's certificate in DER, followed by the other certificates that it sends, in any order.
    ///   - identity: The identity that the server's certificate must prove.
    ///   - time: The time for checking dates, in seconds since 1970; `nil` means now.
    ///   - intermediates: The largest number of certificates between the server's and a root.
    /// - Returns: The reason why the chain is not trusted, or `nil` if it is.
    package func verify(
        _ chain: [[UInt8]],
        for identity: ServerIdentity,
        at time: Int? = nil,
        intermediates: Int? = nil
    ) -> TLSError? {
        do throws(TLSError) {
            let certificates = try chain.map { bytes throws(TLSError) in try CertificateList(der: bytes) }
            // All pointers below borrow from the certificates.
            defer { withExtendedLifetime(certificates) {} }
            guard let leaf = certificates.first?.first else { throw .noPeerCertificate }
            guard let check = X509_STORE_CTX_new(), let sent = OPENSSL_sk_new_null() else {
                throw .badSettings("no memory for a verification")
            }
            // The stack borrows the certificates, and must outlive the check.
            defer { OPENSSL_sk_free(sent) }
            defer { X509_STORE_CTX_free(check) }
            for list in certificates { list.first.map { _ = OPENSSL_sk_push(sent, UnsafeRawPointer($0)) } }
            guard X509_STORE_CTX_init(check, SSL_CTX_get_cert_store(raw), leaf, sent) == 1 else {
                throw .badSettings(ErrorQueue.drainedReason())
            }
            try prepare(check, identity: identity, time: time, intermediates: intermediates)
            defer { ErrorQueue.clear() }
            return ChainCheck(check, rules: settings.certificateRules, identity: identity).run()?.error
        } catch {
            return error
        }
    }

    /// Does what OpenSSL itself does at the end of a handshake, and `configureVerification` before one.
    private func prepare(
        _ check: OpaquePointer,
        identity: ServerIdentity,
        time: Int?,
        intermediates: Int?
    ) throws(TLSError) {
        let parameters = X509_STORE_CTX_get0_param(check)
        X509_VERIFY_PARAM_set_auth_level(parameters, SSL_CTX_get_security_level(raw))
        X509_STORE_CTX_set_default(check, "ssl_server")
        X509_VERIFY_PARAM_set1(parameters, SSL_CTX_get0_param(raw))
        guard identity.demand(in: parameters) else {
            throw .badIdentity("cannot be checked: \(printable(identity.text))")
        }
        if let time { X509_VERIFY_PARAM_set_time(parameters, time) }
        if let intermediates { X509_VERIFY_PARAM_set_depth(parameters, Int32(clamping: intermediates)) }
    }
}
