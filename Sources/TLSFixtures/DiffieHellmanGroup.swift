internal import CDirectOpenSSL

/// A group for ephemeral Diffie-Hellman, good or bad.
package enum DiffieHellmanGroup: Sendable {
    /// A prime of 512 bits, made for this process.
    case bits512
    /// RFC 2409, section 6.2.
    case bits1024
    /// RFC 3526, section 3.
    case bits2048
    /// A modulus of 2048 bits that is no prime: the square of the one of 1024.
    case composite
    /// The prime of 2048 bits with a generator of order 2.
    case smallSubgroup

    func install(in context: OpaquePointer) throws(FixtureError) {
        // Fewer than 1024 bits are refused by OpenSSL's own judge at every level.
        if self == .bits512 { SSL_CTX_set_security_callback(context) { _, _, _, _, _, _, _ in 1 } }
        let der = parameters
        let key = der.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_KeyParams(EVP_PKEY_DH, nil, &cursor, bytes.count)
        }
        guard let key else { throw openSSLError("Diffie-Hellman group \(self)") }
        guard SSL_CTX_set0_tmp_dh_pkey(context, key) == 1 else {
            EVP_PKEY_free(key)
            throw openSSLError("Diffie-Hellman group \(self)")
        }
    }

    /// DHParameter (PKCS #3): a sequence of modulus and generator.
    private var parameters: [UInt8] {
        let modulus = modulus
        // Minus one has order 2.
        let generator = self == .smallSubgroup ? modulus.dropLast() + [modulus[modulus.count - 1] - 1] : [2]
        return der(
            0x30,
            der(0x02, [0] + modulus) + der(0x02, generator.count > 1 ? [0] + generator : generator)
        )
    }

    /// The modulus, whose first bit is set.
    private var modulus: [UInt8] {
        let number = BN_new()
        defer { BN_free(number) }
        switch self {
        case .bits512: BN_generate_prime_ex(number, 512, 0, nil, nil, nil)
        case .bits1024: BN_get_rfc2409_prime_1024(number)
        case .bits2048, .smallSubgroup: BN_get_rfc3526_prime_2048(number)
        case .composite:
            let context = BN_CTX_new()
            defer { BN_CTX_free(context) }
            BN_get_rfc2409_prime_1024(number)
            BN_sqr(number, number, context)
        }
        return [UInt8](unsafeUninitializedCapacity: Int(BN_num_bits(number) + 7) / 8) { bytes, count in
            count = Int(BN_bn2bin(number, bytes.baseAddress))
        }
    }

    /// An element with this tag.
    private func der(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        let length: [UInt8] =
            count < 128 ? [UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(truncatingIfNeeded: count)]
        return [tag] + length + content
    }
}
