internal import CDirectOpenSSL

/// A file of roots in PEM form, read within a handshake into a store that others use at the same time.
struct RootFile {
    let path: String

    /// Adds the file's roots to the store, which passes over those that it has.
    ///
    /// Says whether memory sufficed. A root that lacks something for want of memory stays out of the store, which would
    /// keep it for good. We are inside a handshake: what stands in the queue afterwards is not its error.
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
            // The store takes a reference of its own.
            X509_STORE_add_cert(store, certificate)
        }
        return hasEndedInOrder() && isWhole
    }

    /// Whether the reading ended with an error, as it does at the end of a file, and with none for want of memory.
    /// Without memory OpenSSL may also end it without a word.
    private func hasEndedInOrder() -> Bool {
        ERR_peek_last_error() != 0 && !ErrorQueue.drainSaysNoMemory()
    }
}

extension TrustStore {
    /// Answers a lookup with a root that the store has, as OpenSSL wants it of a source. Says whether there is one.
    static func answer(
        _ result: OpaquePointer?,
        with name: OpaquePointer?,
        in store: OpaquePointer
    ) -> Bool {
        X509_STORE_lock(store)
        defer { X509_STORE_unlock(store) }
        guard let found = X509_OBJECT_retrieve_by_subject(X509_STORE_get0_objects(store), X509_LU_X509, name)
        else { return false }
        // OpenSSL expects a borrowed pointer here and adds its own reference, while `set1` adds one too.
        let certificate = X509_OBJECT_get0_X509(found)
        X509_OBJECT_set1_X509(result, certificate)
        X509_free(certificate)
        return true
    }
}
