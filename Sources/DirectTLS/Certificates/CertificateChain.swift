internal import CDirectOpenSSL

/// The certificates of a handshake, kept so that they can be read later. They are not read before, because most never are.
///
/// The object holds references of its own. Certificates are never changed after they have been checked, so any thread may
/// read them.
package final class CertificateChain: @unchecked Sendable {
    /// An OpenSSL stack. Owned, never empty.
    let stack: OpaquePointer

    /// Keeps the certificates of a borrowed stack; `nil` if there are none.
    init?(_ borrowed: OpaquePointer?) {
        guard let borrowed, OPENSSL_sk_num(borrowed) > 0, let stack = X509_chain_up_ref(borrowed) else {
            return nil
        }
        self.stack = stack
    }

    deinit {
        for certificate in raw { X509_free(certificate) }
        OPENSSL_sk_free(stack)
    }

    /// The certificates, the server's own first. Read and copied at each call.
    package var summaries: [CertificateSummary] { raw.map { CertificateSummary($0) } }

    /// When the first of the certificates ends, in seconds since 1970; `nil` if none of their dates can be read.
    var expiry: Int? { raw.compactMap { CertificateReader($0).notAfter }.min() }

    /// The certificates. Borrowed.
    private var raw: [OpaquePointer] {
        (0..<max(0, OPENSSL_sk_num(stack))).compactMap { index in
            OPENSSL_sk_value(stack, index).map { OpaquePointer($0) }
        }
    }
}

extension CertificateChain: Hashable {
    package static func == (left: CertificateChain, right: CertificateChain) -> Bool {
        if left === right { return true }
        let (own, others) = (left.raw, right.raw)
        return own.count == others.count && zip(own, others).allSatisfy { X509_cmp($0, $1) == 0 }
    }

    /// Hashes no bytes: values that differ in nothing but the certificates are few, and `==` tells them apart.
    package func hash(into hasher: inout Hasher) {}
}
