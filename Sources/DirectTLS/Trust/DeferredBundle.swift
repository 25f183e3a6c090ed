internal import CDirectOpenSSL
internal import DirectCore

/// A bundle of roots in addition to a hashed directory. It is parsed only when a chain needs an issuer that
/// the directory does not have, which is rare.
///
/// OpenSSL asks its lookups in order, and this one last. Parsing takes about 17 ms, once.
final class DeferredBundle: Sendable {
    private let path: String
    private let state = Locked(State.unread)

    private enum State {
        case unread
        /// The last attempt ended at a root that could not be parsed.
        case broken(after: Int)
        case read
    }

    private init(_ path: String) {
        self.path = path
    }

    /// Adds the bundle to a store, which keeps it until the store itself is freed.
    static func attach(_ path: String, to store: OpaquePointer) throws(TLSError) {
        guard let method = bundleMethod.pointer, let source = X509_STORE_add_lookup(store, method) else {
            throw .badSettings("roots from \(path): \(ErrorQueue.drainedReason())")
        }
        X509_LOOKUP_set_method_data(source, Unmanaged.passRetained(DeferredBundle(path)).toOpaque())
    }

    /// Reads the bundle into the store, if that has not been done.
    fileprivate func load(into store: OpaquePointer) {
        state.withLock { state in
            if case .read = state { return }
            // After a failure, the next handshake that needs the bundle reads it again.
            switch (RootFile(path: path).add(to: store), state) {
            case (.whole, _): state = .read
            // A root that is malformed stays so. Lack of memory would hardly end two attempts at the same
            // place.
            case (.broken(let count), .broken(let before)) where count == before: state = .read
            case (.broken(let count), _): state = .broken(after: count)
            case (.incomplete, _): state = .unread
            }
        }
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
    kind: X509_LOOKUP_TYPE,
    name: OpaquePointer?,
    result: OpaquePointer?
) -> Int32 {
    guard kind == X509_LU_X509, let store = X509_LOOKUP_get_store(source), let bundle = bundle(of: source)
    else {
        return 0
    }
    bundle.takeUnretainedValue().load(into: store)
    return TrustStore.answer(result, with: name, in: store) ? 1 : 0
}
