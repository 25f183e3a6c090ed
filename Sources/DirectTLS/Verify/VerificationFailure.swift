internal import CDirectOpenSSL

/// The first fault that certificate verification found.
final class VerificationFailure {
    let error: TLSError
    /// The certificates that the server sent, which a failed handshake does not keep elsewhere.
    let chain: CertificateChain?

    /// The fault that an `X509_STORE_CTX` has.
    ///
    /// - Parameters:
    ///   - reason: The fault in words; `nil` for OpenSSL's.
    ///   - sent: The certificates that the server sent. Borrowed.
    init(of check: OpaquePointer, reason: String?, sent: OpaquePointer?, expected: String) {
        chain = CertificateChain(sent)
        error = TLSError(
            verification: X509_STORE_CTX_get_error(check),
            reason: reason,
            depth: X509_STORE_CTX_get_error_depth(check),
            at: X509_STORE_CTX_get_current_cert(check),
            leaf: X509_STORE_CTX_get0_cert(check),
            expected: expected
        )
    }
}

extension TLSError {
    /// The error of a certificate that verification refuses with this code.
    init(
        verification code: Int32,
        reason: String? = nil,
        depth: Int32 = 0,
        at certificate: OpaquePointer?,
        leaf: OpaquePointer?,
        expected: String
    ) {
        let served = leaf.map { CertificateReader($0).names(atMost: 20).all } ?? []
        let fault = CertificateFault(
            code: Int(code),
            reason: reason ?? String(cString: X509_verify_cert_error_string(Int(code))),
            depth: Int(depth),
            subject: certificate.map { CertificateReader($0).subject } ?? "",
            expected: expected,
            served: served
        )
        self =
            fault.kind == .nameMismatch
            ? .nameMismatch(expected: expected, served: served) : .certificateRejected(fault)
    }
}
