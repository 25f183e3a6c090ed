internal import CDirectOpenSSL

/// Digests of bytes for protocols other than TLS. Certificates are hashed elsewhere.
package enum MessageDigest {
    /// MD5 (RFC 1321), for protocols that date from before it was broken.
    case md5
    /// SHA-256 (FIPS 180-4).
    case sha256
    /// SHA-512/256 (FIPS 180-4, section 5.3.6.2).
    case sha512To256

    /// Returns the digest of the bytes; `nil` if this OpenSSL was built or configured without the algorithm.
    package func digest(of bytes: [UInt8]) -> [UInt8]? {
        OpenSSLLibrary.use()
        let algorithm =
            switch self {
            case .md5: EVP_md5()
            case .sha256: EVP_sha256()
            case .sha512To256: EVP_sha512_256()
            }
        var length: UInt32 = 0
        let digest = [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, count in
            let isDone = EVP_Digest(bytes, bytes.count, buffer.baseAddress, &length, algorithm, nil) == 1
            count = isDone ? Int(length) : 0
        }
        ErrorQueue.clear()
        return digest.isEmpty ? nil : digest
    }

    /// Returns the HMAC with SHA-256 (RFC 2104); `nil` as for `digest`.
    package static func hmacSHA256(_ bytes: [UInt8], key: [UInt8]) -> [UInt8]? {
        OpenSSLLibrary.use()
        var output = [UInt8](repeating: 0, count: 32)
        var count = 0
        let mac = EVP_Q_mac(
            nil,
            "HMAC",
            nil,
            "SHA256",
            nil,
            key,
            key.count,
            bytes,
            bytes.count,
            &output,
            output.count,
            &count
        )
        ErrorQueue.clear()
        return mac != nil && count == output.count ? output : nil
    }
}

/// Returns the SHA-256 hash of the bytes.
func sha256(_ bytes: [UInt8]) -> [UInt8] {
    OpenSSLLibrary.use()
    return [UInt8](unsafeUninitializedCapacity: 32) { buffer, used in
        used = EVP_Digest(bytes, bytes.count, buffer.baseAddress, nil, EVP_sha256(), nil) == 1 ? 32 : 0
    }
}
