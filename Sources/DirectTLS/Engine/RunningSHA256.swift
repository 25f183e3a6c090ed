internal import CDirectOpenSSL

/// The SHA-256 hash of bytes that arrive piece by piece.
package final class RunningSHA256 {
    /// Owned. `nil` without memory for it: OpenSSL's functions would follow the pointer.
    private let state: OpaquePointer?

    /// Starts a hash.
    package init() {
        OpenSSLLibrary.use()
        let state = EVP_MD_CTX_new()
        let isReady = state.map { EVP_DigestInit_ex($0, EVP_sha256(), nil) == 1 } ?? false
        if !isReady { EVP_MD_CTX_free(state) }
        self.state = isReady ? state : nil
        ErrorQueue.clear()
    }

    private init(_ state: OpaquePointer?) {
        self.state = state
    }

    deinit {
        EVP_MD_CTX_free(state)
    }

    /// Adds bytes to the hash.
    package func add(_ bytes: UnsafeRawBufferPointer) {
        guard let state else { return }
        EVP_DigestUpdate(state, bytes.baseAddress, bytes.count)
    }

    /// Adds bytes to the hash.
    package func add(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes(add)
    }

    /// Returns a hash of the same bytes, to which others can be added.
    package func copy() -> RunningSHA256 {
        let copy = EVP_MD_CTX_new()
        let isReady = if let state, let copy { EVP_MD_CTX_copy_ex(copy, state) == 1 } else { false }
        if !isReady { EVP_MD_CTX_free(copy) }
        ErrorQueue.clear()
        return RunningSHA256(isReady ? copy : nil)
    }

    /// Returns the hash of the bytes that were added so far; more can be added. Returns no bytes if there was
    /// no memory for it.
    package func current() -> [UInt8] { copy().finish() }

    /// Returns the hash of all bytes that were added; no bytes if there was no memory for it. Must be called
    /// only once.
    package func finish() -> [UInt8] {
        guard let state else { return [] }
        return [UInt8](unsafeUninitializedCapacity: 32) { buffer, used in
            used = EVP_DigestFinal_ex(state, buffer.baseAddress, nil) == 1 ? 32 : 0
        }
    }
}
