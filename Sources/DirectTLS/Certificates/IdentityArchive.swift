internal import CDirectOpenSSL

/// A key with its certificates from an archive in PKCS#12 (RFC 7292), freed with this object.
final class IdentityArchive {
    private let key: PrivateKey
    /// The certificate of the key. Owned.
    private let certificate: OpaquePointer
    /// The other certificates, a stack that is owned with its elements; `nil` for none.
    private let others: OpaquePointer?

    init(_ bytes: [UInt8], passphrase: String) throws(TLSError) {
        // OpenSSL takes a C string.
        guard !passphrase.utf8.contains(0) else { throw .wrongPassphrase }
        ErrorQueue.clear()
        let archive = bytes.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_PKCS12(nil, &cursor, buffer.count)
        }
        guard let archive else { throw .badSettings("PKCS#12: \(ErrorQueue.drainedReason())") }
        defer { PKCS12_free(archive) }
        var (key, certificate, others): (OpaquePointer?, OpaquePointer?, OpaquePointer?)
        let isParsed = PKCS12_parse(archive, passphrase, &key, &certificate, &others) == 1
        if isParsed, let key, let certificate {
            (self.key, self.certificate, self.others) = (PrivateKey(owning: key), certificate, others)
            ErrorQueue.clear()
            return
        }
        EVP_PKEY_free(key)
        X509_free(certificate)
        freeCertificates(others)
        guard !isParsed else { throw .badSettings("PKCS#12: no key with its certificate") }
        throw Self.error()
    }

    deinit {
        X509_free(certificate)
        freeCertificates(others)
    }

    /// The key in PEM, not encrypted.
    var privateKey: [UInt8] {
        get throws(TLSError) { try key.pem }
    }

    /// The certificates in PEM, that of the key first.
    var certificates: [UInt8] {
        get throws(TLSError) {
            var all = [certificate]
            for index in 0..<max(0, OPENSSL_sk_num(others)) {
                if let other = OPENSSL_sk_value(others, index) { all.append(OpaquePointer(other)) }
            }
            var text: [UInt8] = []
            for certificate in all {
                text += try pemText(of: "client certificate") { PEM_write_bio_X509($0, certificate) }
            }
            return text
        }
    }

    /// Returns the error of an archive that cannot be read, from the error queue.
    private static func error() -> TLSError {
        let first = ErrorQueue.reason(of: ERR_peek_error())
        while case let code = ERR_get_error(), code != 0 {
            let (library, reason) = (ERR_GET_LIB(code), ERR_GET_REASON(code))
            guard library == ERR_LIB_PKCS12 else { continue }
            // An archive has a checksum as a rule; without one the content does not decrypt.
            if reason == PKCS12_R_MAC_VERIFY_FAILURE || reason == PKCS12_R_PKCS12_CIPHERFINAL_ERROR {
                ErrorQueue.clear()
                return .wrongPassphrase
            }
        }
        return .badSettings("PKCS#12: \(first)")
    }
}

private func freeCertificates(_ stack: OpaquePointer?) {
    for index in 0..<max(0, OPENSSL_sk_num(stack)) {
        X509_free(OPENSSL_sk_value(stack, index).map { OpaquePointer($0) })
    }
    OPENSSL_sk_free(stack)
}
