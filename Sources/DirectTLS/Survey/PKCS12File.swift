internal import CDirectOpenSSL

/// The certificates of a file in PKCS#12 (RFC 7292), and whether its key is that of the first.
package struct PKCS12File {
    /// That of the key first, if there is one for it.
    package let certificates: [ServedCertificate]
    /// Whether the key is that of the first certificate; `nil` if the file has no key.
    package let hasMatchingKey: Bool?

    package enum Fault: Error {
        case malformed
        case wrongPassphrase
        /// OpenSSL cannot read it for this reason.
        case unreadable(String)
    }

    /// Reads a file. Without a passphrase, that of a file without one is tried.
    package init(_ bytes: [UInt8], passphrase: String?) throws(Fault) {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        let file = bytes.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_PKCS12(nil, &cursor, buffer.count)
        }
        guard let file else { throw .malformed }
        defer { PKCS12_free(file) }
        var (key, leaf, others): (OpaquePointer?, OpaquePointer?, OpaquePointer?)
        guard PKCS12_parse(file, passphrase, &key, &leaf, &others) == 1 else {
            let reason = ErrorQueue.drainedReason()
            throw reason.contains("mac verify failure") ? .wrongPassphrase : .unreadable(reason)
        }
        defer {
            EVP_PKEY_free(key)
            X509_free(leaf)
            others.map(freeCertificates)
        }
        let above = others.map { stack in
            (0..<OPENSSL_sk_num(stack)).compactMap { index in
                OPENSSL_sk_value(stack, index).map { ServedCertificate(OpaquePointer($0)) }
            }
        }
        certificates = (leaf.map { [ServedCertificate($0)] } ?? []) + (above ?? [])
        hasMatchingKey = key.map { key in leaf.map { X509_check_private_key($0, key) == 1 } ?? false }
    }
}
