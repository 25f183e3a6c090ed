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
