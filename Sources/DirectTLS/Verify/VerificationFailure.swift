internal import CDirectOpenSSL

/// The first fault that certificate verification found.
final class VerificationFailure {
    let error: TLSError
    /// The certificates that the server sent, which a failed handshake does not keep elsewhere.
    let chain: CertificateChain?

    init(
        _ code: Int32,
        reason: String? = nil,
        depth: Int32,
        at certificate: OpaquePointer?,
        leaf: OpaquePointer?,
        chain: OpaquePointer?,
        identity: ServerIdentity
    ) {
        self.chain = CertificateChain(chain)
        let served = leaf.map { CertificateReader($0).names(atMost: 20).all } ?? []
        let fault = CertificateFault(
            code: Int(code),
            reason: reason ?? String(cString: X509_verify_cert_error_string(Int(code))),
            depth: Int(depth),
            subject: certificate.map { CertificateReader($0).subject } ?? "",
            expected: identity.text,
            served: served
        )
        error =
            fault.kind == .nameMismatch
            ? .nameMismatch(expected: identity.text, served: served) : .certificateRejected(fault)
    }
}
