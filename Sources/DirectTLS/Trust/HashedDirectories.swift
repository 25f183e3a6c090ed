internal import CDirectOpenSSL
internal import DirectCore

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Directories with a file of roots for each hash of a subject (`c_rehash`). They are searched for one issuer
/// at a time, during the handshake that needs it.
///
/// This replaces OpenSSL's own lookup, which puts a root into the store while it reads it: a root read while
/// memory runs out may lack its key, and then all certificates below it are rejected for as long as the store
/// exists.
final class HashedDirectories: Sendable {
    private let paths: [String]

    private init(_ paths: [String]) {
        self.paths = paths
    }

    /// Adds the directories to a store, which keeps them until the store itself is freed.
    static func attach(_ paths: [String], to store: OpaquePointer) throws(TLSError) {
        guard let method = directoryMethod.pointer, let source = X509_STORE_add_lookup(store, method) else {
            throw .badSettings(
                "roots from \(paths.joined(separator: ":")): \(ErrorQueue.drainedReason())"
            )
        }
        X509_LOOKUP_set_method_data(source, Unmanaged.passRetained(HashedDirectories(paths)).toOpaque())
    }

    /// Reads the files of roots that may have this subject. Returns whether the store then has such a root.
    fileprivate func find(
        _ name: OpaquePointer,
        for store: OpaquePointer,
        result: OpaquePointer?
    ) -> Bool {
        var isHashed: Int32 = 0
        let hash = X509_NAME_hash_ex(name, nil, nil, &isHashed)
        defer { ErrorQueue.clear() }
        guard isHashed == 1 else { return false }
        let stem = Hex.encode(padded: UInt32(truncatingIfNeeded: hash))
        return paths.contains { path in
            for number in 0... {
                let file = "\(path)/\(stem).\(number)"
                guard access(file, F_OK) == 0 else { break }
                RootFile(path: file).add(to: store)
            }
            return TrustStore.answer(result, with: name, in: store)
        }
    }
}

private let directoryMethod = FunctionTable {
    guard let table = X509_LOOKUP_meth_new("hashed directories") else { return nil }
    X509_LOOKUP_meth_set_get_by_subject(table, findRoot)
    X509_LOOKUP_meth_set_free(table, releaseDirectories)
    return table
}

private func directories(of source: OpaquePointer?) -> Unmanaged<HashedDirectories>? {
    X509_LOOKUP_get_method_data(source).map { Unmanaged.fromOpaque($0) }
}

private func releaseDirectories(_ source: OpaquePointer?) {
    directories(of: source)?.release()
}

private func findRoot(
    _ source: OpaquePointer?,
    kind: X509_LOOKUP_TYPE,
    name: OpaquePointer?,
    result: OpaquePointer?
) -> Int32 {
    guard kind == X509_LU_X509, let name, let store = X509_LOOKUP_get_store(source),
        let directories = directories(of: source)
    else { return 0 }
    return directories.takeUnretainedValue().find(name, for: store, result: result) ? 1 : 0
}
