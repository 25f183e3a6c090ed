internal import CDirectOpenSSL

/// Digests of bytes, for what protocols ask for besides TLS; certificates have their own.
package enum MessageDigest {
    /// For protocols that were made when it was still good.
    case md5
    case sha256

    /// The digest of all of them; nothing if this OpenSSL was built, or set up, without the algorithm.
    package func digest(of bytes: [UInt8]) -> [UInt8]? {
        let algorithm = self == .md5 ? EVP_md5() : EVP_sha256()
        var length: UInt32 = 0
        let digest = [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, count in
            let isDone = EVP_Digest(bytes, bytes.count, buffer.baseAddress, &length, algorithm, nil) == 1
            count = isDone ? Int(length) : 0
        }
        ErrorQueue.clear()
        return digest.isEmpty ? nil : digest
    }

    /// HMAC with SHA-256 (RFC 2104); nothing as above.
    package static func hmacSHA256(_ bytes: [UInt8], key: [UInt8]) -> [UInt8]? {
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
