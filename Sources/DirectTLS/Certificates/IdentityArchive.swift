internal import CDirectOpenSSL

/// An archive in PKCS#12 (RFC 7292), which has certificates, and as a rule a key with its own among them.
package final class IdentityArchive {
    private let key: PrivateKey?
    /// The certificate of the key. Owned.
    private let leaf: OpaquePointer?
    /// The other certificates, a stack that is owned with its elements; `nil` for none.
    private let others: OpaquePointer?

    package enum Fault: Error {
        /// It is no such archive, for OpenSSL's reason.
        case malformed(String)
        case wrongPassphrase
        /// OpenSSL cannot read it for this reason.
        case unreadable(String)
    }

    /// Reads an archive. Without a passphrase, that of an archive without one is tried.
    package init(_ bytes: [UInt8], passphrase: String?) throws(Fault) {
        // OpenSSL takes a C string.
        guard passphrase?.utf8.contains(0) != true else { throw .wrongPassphrase }
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        let archive = bytes.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_PKCS12(nil, &cursor, buffer.count)
        }
        guard let archive else { throw .malformed(ErrorQueue.drainedReason()) }
        defer { PKCS12_free(archive) }
        // PKCS12_parse takes a missing checksum for a wrong passphrase. What is wrong then does not decrypt.
        if PKCS12_mac_present(archive) == 0, let passphrase {
            PKCS12_set_mac(archive, passphrase, -1, nil, 0, 1, EVP_sha256())
        }
        var key: OpaquePointer?
        var leaf: OpaquePointer?
        var others: OpaquePointer?
        guard PKCS12_parse(archive, passphrase, &key, &leaf, &others) == 1 else {
            EVP_PKEY_free(key)
            X509_free(leaf)
            others.map(freeCertificates)
            throw Self.fault()
        }
        self.key = key.map { PrivateKey(owning: $0) }
        self.leaf = leaf
        self.others = others
    }

    deinit {
        X509_free(leaf)
        others.map(freeCertificates)
    }

    /// Returns what a queue of errors says of an archive that cannot be read.
    private static func fault() -> Fault {
        let first = ErrorQueue.reason(of: ERR_peek_error())
        while case let code = ERR_get_error(), code != 0 {
            let (library, reason) = (ERR_GET_LIB(code), ERR_GET_REASON(code))
            guard library == ERR_LIB_PKCS12 else { continue }
            // An archive has a checksum as a rule; without one the content does not decrypt.
            if reason == PKCS12_R_MAC_VERIFY_FAILURE || reason == PKCS12_R_PKCS12_CIPHERFINAL_ERROR {
                return .wrongPassphrase
            }
        }
        return .unreadable(first)
    }

    /// All certificates, that of the key first. Valid as long as this object.
    var all: [OpaquePointer] {
        let above = others.map { stack in
            (0..<OPENSSL_sk_num(stack)).compactMap { OPENSSL_sk_value(stack, $0).map { OpaquePointer($0) } }
        }
        return (leaf.map { [$0] } ?? []) + (above ?? [])
    }

    /// Whether the key is that of the first certificate; `nil` if the archive has no key.
    package var hasMatchingKey: Bool? {
        key.map { key in leaf.map(key.isKey(of:)) ?? false }
    }

    /// The key with its certificates in PEM, not encrypted, that of the key first.
    var identity: (certificates: [UInt8], privateKey: [UInt8]) {
        get throws(TLSError) {
            guard let key, let leaf, key.isKey(of: leaf) else {
                throw .badSettings("PKCS#12: no key with its certificate")
            }
            var certificates: [UInt8] = []
            for certificate in all {
                certificates += try pemText(of: "client certificate") { PEM_write_bio_X509($0, certificate) }
            }
            return (certificates, try key.pem)
        }
    }
}

extension TLSError {
    init(_ fault: IdentityArchive.Fault) {
        switch fault {
        case .wrongPassphrase: self = .wrongPassphrase
        case .malformed(let reason), .unreadable(let reason): self = .badSettings("PKCS#12: \(reason)")
        }
    }
}
