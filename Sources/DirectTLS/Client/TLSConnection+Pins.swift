internal import CDirectOpenSSL

extension TLSConnection {
    /// Requires a pinned key in the verified chain, not in the certificates that the server sent (CVE-2016-2402).
    /// Runs before any byte of a request, also on a resumed session, with the keys of the chain that the session
    /// began with.
    func checkPins() throws(TLSError) {
        let pins = context.settings.pins
        guard !pins.isEmpty else { return }
        let demanded = pins.demanded(of: identity, reportOnly: false)
        let watched = pins.demanded(of: identity, reportOnly: true)
        guard demanded != nil || watched != nil else { return }
        if SSL_session_reused(ssl) == 0 { chainKeys = verifiedKeys }
        if let watched, watched.isDisjoint(with: chainKeys) {
            pins.observer?.tell(mismatch(wasReportOnly: true))
        }
        guard let demanded, demanded.isDisjoint(with: chainKeys) else { return }
        let mismatch = mismatch(wasReportOnly: false)
        pins.observer?.tell(mismatch)
        throw .keyNotPinned(mismatch)
    }

    private func mismatch(wasReportOnly: Bool) -> KeyMismatch {
        KeyMismatch(name: identity.text, seen: chainKeys, wasReportOnly: wasReportOnly)
    }

    private var verifiedKeys: [KeyPin] {
        guard let chain = SSL_get0_verified_chain(ssl) else { return [] }
        return CheckedCertificate.all(of: chain).compactMap { certificate in
            KeyPin(sha256: DirectTLS.sha256(CertificateReader(certificate.raw).publicKeyInfo))
        }
    }
}
