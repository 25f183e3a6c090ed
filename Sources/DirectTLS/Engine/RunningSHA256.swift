internal import CDirectOpenSSL

/// The SHA-256 hash of bytes that arrive piece by piece.
package final class RunningSHA256 {
    /// Owned. `nil` without memory for it: OpenSSL's functions would follow the pointer.
    private let state: OpaquePointer?

    /// Starts a hash.
    package init() {
        let state = EVP_MD_CTX_new()
        let isReady = state.map { EVP_DigestInit_ex($0, EVP_sha256(), nil) == 1 } ?? false
        if !isReady { EVP_MD_CTX_free(state) }
        self.state = isReady ? state : nil
        ErrorQueue.clear()
    }

    deinit {
        EVP_MD_CTX_free(state)
    }

    /// Adds bytes to the hash.
    package func add(_ bytes: UnsafeRawBufferPointer) {
        guard let state else { return }
        EVP_DigestUpdate(state, bytes.baseAddress, bytes.count)
    }

    /// Returns the hash of all bytes that were added; no bytes if there was no memory for it. Must be called only once.
    package func finish() -> [UInt8] {
        guard let state else { return [] }
        return [UInt8](unsafeUninitializedCapacity: 32) { buffer, used in
            used = EVP_DigestFinal_ex(state, buffer.baseAddress, nil) == 1 ? 32 : 0
        }
    }
}
