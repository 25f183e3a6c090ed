internal import CDirectOpenSSL

/// Whether it would take too long to verify with all keys of the certificates: longer than with a hundred RSA
/// keys of 4,096 bits, where those that take no longer than one of these do not count.
///
/// OpenSSL stops at the first signature that is wrong, but not if all faults are wanted: then it uses each
/// key of the chain that a server sends, and the sender may have made them up. An RSA key of 3,072 bits may
/// have an exponent of as many, with which a signature takes 9 ms; one of 4,096 bits usually takes 0.1 ms.
func areCostly(keysOf certificates: OpaquePointer?) -> Bool {
    let work = (0..<max(0, OPENSSL_sk_num(certificates))).reduce(0) { sum, index in
        let certificate = OPENSSL_sk_value(certificates, index).map { OpaquePointer($0) }
        let work = certificate.flatMap { X509_get0_pubkey($0) }.map(work(of:)) ?? 0
        return work > usualWork ? sum + work : sum
    }
    return work > 100 * usualWork
}

/// The exponent is 65,537.
private let usualWork = 4096 * 4096 * 17

/// About how long it takes to verify with a key, in products of two bits.
private func work(of key: OpaquePointer) -> Int {
    let bits = max(0, Int(EVP_PKEY_get_bits(key)))
    let isRSA = [EVP_PKEY_RSA, EVP_PKEY_RSA_PSS].contains(EVP_PKEY_get_base_id(key))
    // DSA and curves: no more than two powers, and usual up to curves of 521 bits.
    guard isRSA else { return bits * bits * 1024 }
    var exponent: OpaquePointer?
    defer { BN_free(exponent) }
    guard EVP_PKEY_get_bn_param(key, "e", &exponent) == 1 else { return bits * bits * bits }
    return bits * bits * Int(BN_num_bits(exponent))
}
