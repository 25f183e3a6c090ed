internal import CDirectOpenSSL

/// A file of roots in PEM, read during a handshake into a store that other connections use at the same time.
struct RootFile {
    let path: String

    /// Adds the file's roots to the store, which skips those that it already has.
    ///
    /// Returns whether memory sufficed. A root that is incomplete for lack of memory is not added, because the store
    /// would keep it for good. This runs inside a handshake, so the error queue is left without errors of its own.
    @discardableResult
    func add(to store: OpaquePointer) -> Bool {
        ErrorQueue.clear()
        guard let file = BIO_new_file(path, "r") else { return hasEndedInOrder() }
        defer { BIO_free(file) }
        var isWhole = true
        while let certificate = PEM_read_bio_X509_AUX(file, nil, refusePassword, nil) {
            defer { X509_free(certificate) }
            guard !isDamagedRoot(certificate), !ErrorQueue.drainSaysNoMemory() else {
                isWhole = false
                continue
            }
            // The store adds a reference of its own.
            X509_STORE_add_cert(store, certificate)
        }
        return hasEndedInOrder() && isWhole
    }

    /// Returns whether reading ended with an error, as it does at the end of a file, but with none for lack of
    /// memory. Without memory, OpenSSL may also end without any error.
    private func hasEndedInOrder() -> Bool {
        ERR_peek_last_error() != 0 && !ErrorQueue.drainSaysNoMemory()
    }
}

extension TrustStore {
    /// Answers a lookup with a root from the store, in the form that OpenSSL expects of a lookup method. Returns
    /// whether there is one.
    static func answer(
        _ result: OpaquePointer?,
        with name: OpaquePointer?,
        in store: OpaquePointer
    ) -> Bool {
        X509_STORE_lock(store)
        defer { X509_STORE_unlock(store) }
        guard let found = X509_OBJECT_retrieve_by_subject(X509_STORE_get0_objects(store), X509_LU_X509, name)
        else { return false }
        // OpenSSL expects a borrowed pointer here and adds its own reference, while `set1` adds one, too.
        let certificate = X509_OBJECT_get0_X509(found)
        X509_OBJECT_set1_X509(result, certificate)
        X509_free(certificate)
        return true
    }
}
