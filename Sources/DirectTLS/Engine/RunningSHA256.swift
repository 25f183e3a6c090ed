internal import CDirectOpenSSL

/// The SHA-256 hash of bytes that arrive piece by piece.
package final class RunningSHA256 {
    /// Owned.
    private let state = EVP_MD_CTX_new()

    /// Starts a hash.
    package init() {
        EVP_DigestInit_ex(state, EVP_sha256(), nil)
    }

    deinit {
        EVP_MD_CTX_free(state)
    }

    /// Adds bytes to the hash.
    package func add(_ bytes: UnsafeRawBufferPointer) {
        EVP_DigestUpdate(state, bytes.baseAddress, bytes.count)
    }

    /// Returns the hash of all bytes that were added. Must be called only once.
    package func finish() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { buffer, used in
            used = EVP_DigestFinal_ex(state, buffer.baseAddress, nil) == 1 ? 32 : 0
        }
    }
}

/// Returns the base64 text of the bytes with padding (RFC 4648, section 4).
package func base64(_ bytes: [UInt8]) -> String {
    let count = (bytes.count + 2) / 3 * 4
    return String(unsafeUninitializedCapacity: count + 1) { buffer in
        max(0, Int(EVP_EncodeBlock(buffer.baseAddress, bytes, Int32(clamping: bytes.count))))
    }
}

/// Returns the bytes as lower-case hexadecimal digits.
package func hexText(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    return String(decoding: text, as: UTF8.self)
}
