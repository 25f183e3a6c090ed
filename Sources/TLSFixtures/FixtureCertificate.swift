internal import CDirectOpenSSL

/// A certificate with its private key and the chain that a server sends with it.
///
/// The OpenSSL objects do not change after `init`; only their reference counts do, which is safe from any
/// thread.
public final class FixtureCertificate: @unchecked Sendable {
    let x509: OpaquePointer
    let key: OpaquePointer
    /// The certificates that are sent after the leaf, in this order.
    let chain: [OpaquePointer]
    /// The DNS names of subjectAltName in lower case.
    let names: [String]

    /// Takes ownership of one reference to each object.
    init(x509: OpaquePointer, key: OpaquePointer, chain: [OpaquePointer]) {
        self.x509 = x509
        self.key = key
        self.chain = chain
        names = subjectAlternativeNames(of: x509)
    }

    deinit {
        X509_free(x509)
        EVP_PKEY_free(key)
        chain.forEach { X509_free($0) }
    }

    /// The subject, for example "CN=a.test".
    public var subject: String { text(ofName: X509_get_subject_name(x509)) }

    /// The leaf in DER.
    public var der: [UInt8] { derBytes { i2d_X509(x509, $0) } }

    /// The public key (SubjectPublicKeyInfo) in DER: the input of a pin's hash.
    package var publicKeyDER: [UInt8] { derBytes { i2d_X509_PUBKEY(X509_get_X509_PUBKEY(x509), $0) } }

    /// The SHA-256 digest of the leaf in DER.
    public var fingerprint: [UInt8] { sha256(der) }

    /// The SHA-256 digest of the public key, as used in pins.
    public var publicKeyHash: [UInt8] { sha256(publicKeyDER) }

    /// The leaf in PEM, without the chain.
    public var pem: String { withMemoryBIO { PEM_write_bio_X509($0, x509) } }

    /// The leaf and the chain in PEM, in the order in which they are sent.
    public var chainPEM: String {
        pem + chain.map { certificate in withMemoryBIO { PEM_write_bio_X509($0, certificate) } }.joined()
    }

    /// The private key in PEM, unencrypted.
    public var keyPEM: String {
        withMemoryBIO { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
    }

    /// Returns the same certificate with another chain.
    ///
    /// - Parameter others: The certificates to send after the leaf, in this order. An empty array omits every
    ///   intermediate.
    public func sent(with others: [FixtureCertificate]) -> FixtureCertificate {
        let chain = others.map(\.x509)
        for certificate in [x509] + chain { X509_up_ref(certificate) }
        EVP_PKEY_up_ref(key)
        return FixtureCertificate(x509: x509, key: key, chain: chain)
    }

    /// Whether one of the DNS names equals `name` (in lower case) or is a wildcard that matches it.
    func covers(_ name: String) -> Bool {
        names.contains { pattern in
            guard pattern.hasPrefix("*.") else { return pattern == name }
            guard let dot = name.firstIndex(of: ".") else { return false }
            return pattern.dropFirst() == name[dot...]
        }
    }

    /// Makes a connection use this certificate. On failure, returns `false` and leaves the error in OpenSSL's
    /// queue.
    func use(on ssl: OpaquePointer) -> Bool {
        let stack = OPENSSL_sk_new_null()
        defer { OPENSSL_sk_free(stack) }
        for certificate in chain { OPENSSL_sk_push(stack, UnsafeRawPointer(certificate)) }
        return SSL_use_cert_and_key(ssl, x509, key, stack, 1) == 1
    }
}

/// Returns the SHA-256 digest of these bytes.
func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil)
    return digest
}

/// Returns the dNSName entries in lower case. iPAddress entries are omitted, since SNI carries no addresses.
private func subjectAlternativeNames(of certificate: OpaquePointer) -> [String] {
    guard let raw = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else { return [] }
    let names = OpaquePointer(raw)
    defer { GENERAL_NAMES_free(names) }
    return (0..<OPENSSL_sk_num(names)).compactMap { index in
        guard let entry = OPENSSL_sk_value(names, index) else { return nil }
        var kind: Int32 = 0
        let value = GENERAL_NAME_get0_value(entry.assumingMemoryBound(to: GENERAL_NAME.self), &kind)
        guard kind == GEN_DNS, let value else { return nil }
        var count: Int32 = 0
        let start = direct_ASN1_STRING_get0_data(value, &count)
        let bytes = UnsafeBufferPointer(start: start, count: Int(count))
        return String(decoding: bytes, as: UTF8.self).lowercased()
    }
}
