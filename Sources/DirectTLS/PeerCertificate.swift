internal import CDirectOpenSSL

/// A server's certificate, held for whoever wants to read it later; most never do, so nothing is read before.
///
/// The reference is one of several to what the session holds, too. Nobody changes a certificate that has been
/// checked, so any thread may read it.
final class PeerCertificate: @unchecked Sendable {
    private let raw: OpaquePointer

    /// Takes a reference of its own.
    init(_ certificate: OpaquePointer) {
        X509_up_ref(certificate)
        raw = certificate
    }

    deinit {
        X509_free(raw)
    }

    /// What it says, read at each call.
    var summary: CertificateSummary { CertificateSummary(raw) }
}

extension PeerCertificate: Hashable {
    static func == (left: PeerCertificate, right: PeerCertificate) -> Bool {
        left.raw == right.raw || X509_cmp(left.raw, right.raw) == 0
    }

    /// Nothing: the facts that it belongs to have the fingerprint.
    func hash(into hasher: inout Hasher) {}
}
