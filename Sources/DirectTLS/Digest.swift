internal import CDirectOpenSSL

/// The few digests that protocols above need: not for certificates, which have their own.
package enum Digest {
    /// MD5, for protocols that were made when it was still good; nothing where OpenSSL has been built without.
    package static func md5(_ bytes: [UInt8]) -> [UInt8]? {
        var output = [UInt8](repeating: 0, count: 16)
        let isDone = EVP_Digest(bytes, bytes.count, &output, nil, EVP_md5(), nil) == 1
        ERR_clear_error()
        return isDone ? output : nil
    }

    /// HMAC with SHA-256 (RFC 2104).
    package static func hmacSHA256(_ bytes: [UInt8], key: [UInt8]) -> [UInt8]? {
        var output = [UInt8](repeating: 0, count: 32)
        var count = 0
        let isDone =
            EVP_Q_mac(
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
            ) != nil
        ERR_clear_error()
        return isDone && count == output.count ? output : nil
    }
}

extension [UInt8] {
    /// Two lower-case digits for each byte.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
