internal import CDirectOpenSSL

/// Digests of bytes, for what protocols ask for besides TLS.
package enum MessageDigest {
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
        return digest.isEmpty ? nil : digest
    }
}
