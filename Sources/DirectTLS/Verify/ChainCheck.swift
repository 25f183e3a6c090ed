internal import CDirectOpenSSL

/// Verifies a server's certificates: with OpenSSL, along other paths if OpenSSL's own path fails, and with
/// our rules.
struct ChainCheck {
    /// An `X509_STORE_CTX` that is ready to verify. Borrowed.
    let check: OpaquePointer
    private let rules: [ChainRule]
    /// What the certificate has to prove, for the error.
    private let expected: String
    /// The certificates that the server sent. Borrowed.
    let sent: OpaquePointer?

    init(_ check: OpaquePointer, rules: CertificateRules, expected: String) {
        self.check = check
        self.rules = rules.rules
        self.expected = expected
        sent = X509_STORE_CTX_get0_untrusted(check)
    }

    /// Verifies the chain, and leaves the result in the `X509_STORE_CTX` too, from which OpenSSL takes the
    /// alert and the chain.
    func run() -> VerificationFailure? {
        // Failed attempts leave errors behind, and one in the queue would make a good handshake look failed.
        ERR_set_mark()
        guard let rejection = rejectionOfFirstPath() else {
            ERR_pop_to_mark()
            return nil
        }
        if isCurable, var search = PathSearch(after: check),
            let chain = search.find(where: { rules.firstFault(in: $0) == nil })
        {
            adopt(chain)
            ERR_pop_to_mark()
            return nil
        }
        ERR_clear_last_mark()
        return rejection
    }

    /// Verifies the path that OpenSSL builds, and returns its first fault: OpenSSL's own, else one of our
    /// rules.
    func rejectionOfFirstPath() -> VerificationFailure? {
        guard X509_verify_cert(check) == 1 else {
            if X509_STORE_CTX_get_error(check) == X509_V_OK {
                X509_STORE_CTX_set_error(check, X509_V_ERR_UNSPECIFIED)
            }
            return rejection(because: nil)
        }
        guard let chain = X509_STORE_CTX_get0_chain(check), let fault = rules.firstFault(in: chain) else {
            return nil
        }
        X509_STORE_CTX_set_error(check, fault.rule.code)
        X509_STORE_CTX_set_error_depth(check, fault.certificate.depth)
        X509_STORE_CTX_set_current_cert(check, fault.certificate.raw)
        return rejection(because: fault.rule.fault)
    }

    func rejection(because reason: String?) -> VerificationFailure {
        VerificationFailure(of: check, reason: reason, sent: sent, expected: expected)
    }

    /// Whether the fault may be one of the path and not of the server's own certificate.
    private var isCurable: Bool {
        if X509_STORE_CTX_get_error_depth(check) > 0 { return true }
        switch CertificateFault.Kind(code: Int(X509_STORE_CTX_get_error(check))) {
        case .unknownIssuer, .badSignature, .outsideNameConstraints, .ruleViolated: return true
        default: return false
        }
    }

    /// Makes the chain of another path the result. The `X509_STORE_CTX` takes over our reference.
    private func adopt(_ chain: OpaquePointer) {
        X509_STORE_CTX_set0_verified_chain(check, chain)
        X509_STORE_CTX_set_error(check, X509_V_OK)
        X509_STORE_CTX_set_error_depth(check, 0)
    }
}
