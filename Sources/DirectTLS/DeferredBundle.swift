internal import CDirectOpenSSL

/// A bundle of roots beside a hashed directory: parsed only when a chain needs an issuer that the directory
/// does not have, which as a rule is never.
///
/// OpenSSL asks its sources in turn, this one last. Parsing takes some 17 ms, once.
final class DeferredBundle: @unchecked Sendable {
    private let path: String
    private let lock = Lock()
    private var isLoaded = false

    private init(_ path: String) {
        self.path = path
    }

    deinit {
        lock.destroy()
    }

    /// The store keeps the bundle until it is freed itself.
    static func attach(_ path: String, to store: OpaquePointer) throws(TLSError) {
        guard let method = bundleMethod.pointer, let source = X509_STORE_add_lookup(store, method) else {
            throw .badSettings("roots from \(path): \(ErrorQueue.drainedReason())")
        }
        X509_LOOKUP_set_method_data(source, Unmanaged.passRetained(DeferredBundle(path)).toOpaque())
    }

    fileprivate func load(into store: OpaquePointer) {
        lock.withLock {
            guard !isLoaded else { return }
            isLoaded = readAll(into: store)
        }
    }

    /// Says whether memory sufficed; else the next handshake that needs the bundle reads it again, and the store passes
    /// over what it has. We are inside a handshake: what stands in the queue afterwards is not its error.
    private func readAll(into store: OpaquePointer) -> Bool {
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

private let bundleMethod = FunctionTable {
    guard let table = X509_LOOKUP_meth_new("deferred bundle") else { return nil }
    X509_LOOKUP_meth_set_get_by_subject(table, findIssuer)
    X509_LOOKUP_meth_set_free(table, releaseBundle)
    return table
}

private func bundle(of source: OpaquePointer?) -> Unmanaged<DeferredBundle>? {
    X509_LOOKUP_get_method_data(source).map { Unmanaged.fromOpaque($0) }
}

private func releaseBundle(_ source: OpaquePointer?) {
    bundle(of: source)?.release()
}

private func findIssuer(
    _ source: OpaquePointer?,
    _ kind: X509_LOOKUP_TYPE,
    _ name: OpaquePointer?,
    _ result: OpaquePointer?
) -> Int32 {
    guard kind == X509_LU_X509, let store = X509_LOOKUP_get_store(source), let bundle = bundle(of: source)
    else {
        return 0
    }
    bundle.takeUnretainedValue().load(into: store)
    X509_STORE_lock(store)
    defer { X509_STORE_unlock(store) }
    guard let found = X509_OBJECT_retrieve_by_subject(X509_STORE_get0_objects(store), kind, name) else {
        return 0
    }
    // OpenSSL expects a borrowed pointer here and adds its own reference, while `set1` adds one too.
    let certificate = X509_OBJECT_get0_X509(found)
    X509_OBJECT_set1_X509(result, certificate)
    X509_free(certificate)
    return 1
}
