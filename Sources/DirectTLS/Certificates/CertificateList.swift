internal import CDirectOpenSSL

/// Certificates parsed from bytes that the user provided, freed with this object.
final class CertificateList {
    private let items: [OpaquePointer]
    /// What is wrong behind them; `nil` if these are all.
    let fault: String?

    /// Parses the certificates. An error names their role.
    @inline(never)
    init(pem bytes: [UInt8], as role: String = "certificates") throws(TLSError) {
        (items, fault) = (try PEMItem.certificate.all(in: bytes, as: role), nil)
    }

    /// Parses the certificates in front of the first that cannot be read.
    init(beginningOf bytes: [UInt8]) {
        (items, fault) = PEMItem.certificate.beginning(of: bytes)
    }

    /// Parses one certificate in DER.
    init(der bytes: [UInt8]) throws(TLSError) {
        ErrorQueue.clear()
        let certificate = bytes.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_X509(nil, &cursor, buffer.count)
        }
        guard let certificate else {
            throw .badSettings("certificate in DER form: \(ErrorQueue.drainedReason())")
        }
        (items, fault) = ([certificate], nil)
    }

    /// The certificates. Borrowed.
    var all: [OpaquePointer] { items }

    /// The first certificate. Borrowed.
    var first: OpaquePointer? { items.first }

    deinit {
        for certificate in items { X509_free(certificate) }
    }

    /// Uses the first as the client's certificate and the rest as its chain. The context adds references of
    /// its own.
    func show(in context: OpaquePointer) throws(TLSError) {
        for (index, certificate) in items.enumerated() {
            let taken =
                index == 0
                ? SSL_CTX_use_certificate(context, certificate)
                : direct_SSL_CTX_add1_chain_cert(context, certificate)
            guard taken == 1 else {
                throw .badSettings("client certificate \(index + 1): \(ErrorQueue.drainedReason())")
            }
        }
    }
}

/// Frees a stack of certificates with its references.
func freeCertificates(_ stack: OpaquePointer) {
    for index in 0..<OPENSSL_sk_num(stack) { X509_free(OpaquePointer(OPENSSL_sk_value(stack, index))) }
    OPENSSL_sk_free(stack)
}

/// Whether the certificate is its own issuer, by name and key identifier.
func isSelfSigned(_ certificate: OpaquePointer) -> Bool {
    X509_get_extension_flags(certificate) & UInt32(EXFLAG_SS) != 0
}
