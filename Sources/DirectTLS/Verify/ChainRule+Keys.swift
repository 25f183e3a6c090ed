internal import CDirectOpenSSL

extension ChainRule {
    /// Baseline Requirements, section 6.1.5, and RFC 8446, section 4.2.3: RSA and elliptic curves. TLS 1.3,
    /// browsers, Go and rustls have dropped DSA; OpenSSL still accepts it in authorities.
    static let onlyCurrentKeyKinds = ChainRule(
        "a key that is neither RSA nor elliptic curve (Baseline Requirements, 6.1.5)"
    ) { certificate in
        guard let key = X509_get0_pubkey(certificate.raw) else { return true }
        switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS, EVP_PKEY_EC, EVP_PKEY_ED25519, EVP_PKEY_ED448: return false
        default: return true
        }
    }

    /// Baseline Requirements, section 6.1.5: the length of an RSA modulus is a multiple of 8 bits.
    static let wholeByteKeys = ChainRule(
        "an RSA key whose length is not a multiple of 8 bits (Baseline Requirements, 6.1.5)"
    ) { certificate in
        guard let key = X509_get0_pubkey(certificate.raw) else { return true }
        let kind = EVP_PKEY_get_base_id(key)
        return (kind == EVP_PKEY_RSA || kind == EVP_PKEY_RSA_PSS) && EVP_PKEY_get_bits(key) % 8 != 0
    }

    /// Baseline Requirements, section 6.1.5: only the three NIST curves that browsers support.
    static let onlyCurvesOfTheWeb = ChainRule(
        "a key on a curve other than P-256, P-384 and P-521 (Baseline Requirements, 6.1.5)"
    ) { certificate in
        guard let key = X509_get0_pubkey(certificate.raw) else { return true }
        switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_EC: return !curvesOfTheWeb.contains(curve(of: key))
        case EVP_PKEY_ED25519, EVP_PKEY_ED448: return true
        default: return false
        }
    }
}

private let curvesOfTheWeb = [NID_X9_62_prime256v1, NID_secp384r1, NID_secp521r1]

private func curve(of key: OpaquePointer) -> Int32 {
    var name = [CChar](repeating: 0, count: 64)
    var count = 0
    guard EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1 else { return NID_undef }
    return OBJ_txt2nid(name)
}
