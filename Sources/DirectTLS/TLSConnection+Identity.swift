internal import CDirectOpenSSL

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Wildcards for whole labels only, and never the subject's common name (RFC 9525, sections 6.3 and 6.4).
let nameCheckFlags = UInt32(
    X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT
)

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
        if let chosen = chosenProtocol, chosen != "http/1.1" { throw .unexpectedProtocol(chosen) }
    }

    /// The protocol that the server chose by ALPN; `nil` if it chose none.
    var chosenProtocol: String? {
        var bytes: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &bytes, &count)
        guard let bytes, count > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
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

extension ServerIdentity {
    /// Makes OpenSSL check the name or address. Returns false if it cannot.
    func demand(in parameters: OpaquePointer?) -> Bool {
        X509_VERIFY_PARAM_set_hostflags(parameters, nameCheckFlags)
        return switch kind {
        case .name: X509_VERIFY_PARAM_set1_host(parameters, text, 0) == 1
        case .address: X509_VERIFY_PARAM_set1_ip_asc(parameters, text) == 1
        }
    }
}

/// The first fault that certificate verification found.
final class VerificationFailure {
    let error: TLSError
    /// The certificates that the server sent, which a failed handshake does not keep elsewhere. Owned.
    let chain: OpaquePointer?

    init(
        _ code: Int32,
        reason: String? = nil,
        depth: Int32,
        at certificate: OpaquePointer?,
        leaf: OpaquePointer?,
        chain: OpaquePointer?,
        identity: ServerIdentity
    ) {
        self.chain = chain.flatMap(X509_chain_up_ref)
        let served = leaf.map { CertificateReader($0).names(atMost: 20).all } ?? []
        switch code {
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
            error = .nameMismatch(expected: identity.text, served: served)
        default:
            error = .certificateRejected(
                CertificateFault(
                    code: Int(code),
                    reason: reason ?? String(cString: X509_verify_cert_error_string(Int(code))),
                    depth: Int(depth),
                    subject: certificate.map { CertificateReader($0).subject } ?? "",
                    expected: identity.text,
                    served: served
                )
            )
        }
    }

    deinit {
        guard let chain else { return }
        for index in 0..<OPENSSL_sk_num(chain) { X509_free(OpaquePointer(OPENSSL_sk_value(chain, index))) }
        OPENSSL_sk_free(chain)
    }
}
