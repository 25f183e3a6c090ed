internal import CDirectOpenSSL

/// A server's certificate, kept so that it can be read later. It is not read before, because most are never read.
///
/// The object holds a reference of its own to the certificate that the session holds, too. A certificate is never
/// changed after it has been checked, so any thread may read it.
final class PeerCertificate: @unchecked Sendable {
    private let raw: OpaquePointer

    /// Adds a reference of its own.
    init(_ certificate: OpaquePointer) {
        X509_up_ref(certificate)
        raw = certificate
    }

    deinit {
        X509_free(raw)
    }

    /// The certificate's contents, read at each call.
    var summary: CertificateSummary { CertificateSummary(raw) }
}

extension PeerCertificate: Hashable {
    static func == (left: PeerCertificate, right: PeerCertificate) -> Bool {
        left.raw == right.raw || X509_cmp(left.raw, right.raw) == 0
    }

    /// Hashes no bytes: facts that differ in nothing but the certificate are few, and `==` tells them apart.
    func hash(into hasher: inout Hasher) {}
}
