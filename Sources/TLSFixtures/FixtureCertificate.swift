internal import CDirectOpenSSL

/// A certificate with its private key and the chain a server sends with it.
///
/// The OpenSSL objects are never changed after `init`, only counted, which is safe from any thread.
public final class FixtureCertificate: @unchecked Sendable {
    let x509: OpaquePointer
    let key: OpaquePointer
    /// What follows the leaf on the wire, in this order.
    let chain: [OpaquePointer]
    /// The DNS names and the canonical addresses it is for, as far as they are text; lower case.
    let names: [String]

    /// Takes over the reference to each object.
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
    public var der: [UInt8] { derBytes(ofX509: x509) }

    /// The public key (SubjectPublicKeyInfo) in DER: what a pin hashes.
    public var publicKeyDER: [UInt8] { derBytes { i2d_X509_PUBKEY(X509_get_X509_PUBKEY(x509), $0) } }

    /// SHA-256 of the leaf.
    public var fingerprint: [UInt8] { sha256(der) }

    /// SHA-256 of the public key, as pins use it.
    public var publicKeyHash: [UInt8] { sha256(publicKeyDER) }

    /// The leaf alone in PEM.
    public var pem: String { withMemoryBIO { PEM_write_bio_X509($0, x509) } }

    /// Leaf and chain in PEM, in the order they are sent.
    public var chainPEM: String {
        pem + chain.map { certificate in withMemoryBIO { PEM_write_bio_X509($0, certificate) } }.joined()
    }

    /// The private key in PEM, unencrypted.
    public var keyPEM: String {
        withMemoryBIO { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
    }

    /// The same certificate sent with these behind it, in this order; none: a missing intermediate.
    public func sent(with others: [FixtureCertificate]) -> FixtureCertificate {
        let chain = others.map(\.x509)
        for certificate in [x509] + chain { X509_up_ref(certificate) }
        EVP_PKEY_up_ref(key)
        return FixtureCertificate(x509: x509, key: key, chain: chain)
    }

    /// Whether one of its DNS names is this one (lower case) or a wildcard above it.
    func covers(_ name: String) -> Bool {
        names.contains { pattern in
            guard pattern.hasPrefix("*.") else { return pattern == name }
            guard let dot = name.firstIndex(of: ".") else { return false }
            return pattern.dropFirst() == name[dot...]
        }
    }

    /// Makes the connection use it; an error stays in OpenSSL's queue.
    func use(on ssl: OpaquePointer) -> Bool {
        let stack = OPENSSL_sk_new_null()
        defer { OPENSSL_sk_free(stack) }
        for certificate in chain { OPENSSL_sk_push(stack, UnsafeRawPointer(certificate)) }
        return SSL_use_cert_and_key(ssl, x509, key, stack, 1) == 1
    }
}

func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil)
    return digest
}

/// The dNSName entries in lower case; the iPAddress entries play no part in choosing by SNI.
private func subjectAlternativeNames(of certificate: OpaquePointer) -> [String] {
    guard let raw = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else { return [] }
    let names = OpaquePointer(raw)
    defer { GENERAL_NAMES_free(names) }
    return (0..<OPENSSL_sk_num(names)).compactMap { index in
        guard let entry = OPENSSL_sk_value(names, index) else { return nil }
        var kind: Int32 = 0
        let value = GENERAL_NAME_get0_value(entry.assumingMemoryBound(to: GENERAL_NAME.self), &kind)
        guard kind == GEN_DNS, let value else { return nil }
        let text = value.assumingMemoryBound(to: ASN1_STRING.self)
        let bytes = UnsafeBufferPointer(
            start: ASN1_STRING_get0_data(text),
            count: Int(ASN1_STRING_length(text))
        )
        return String(decoding: bytes, as: UTF8.self).lowercased()
    }
}
