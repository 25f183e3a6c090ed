internal import CDirectOpenSSL
internal import DirectCore

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The places where this system keeps its trusted certificates.
///
/// A directory with links named by hash is searched for one issuer at a time, during the handshake that needs
/// it (microseconds). A bundle is parsed as a whole (about 17 ms), so it is the second choice.
struct SystemRoots: Hashable, Sendable {
    /// The directories, separated by colons as in `SSL_CERT_DIR`.
    var directories: String?
    var bundle: String?

    /// Returns the places that the environment names, else a hashed directory, else a bundle.
    static func find(
        environment: (String) -> String? = environmentVariable,
        directories: [String] = knownDirectories,
        bundles: [String] = knownBundles
    ) throws(TLSError) -> SystemRoots {
        if let named = named(by: environment) { return named }
        if let directory = directories.first(where: { isHashed($0) }) {
            return SystemRoots(directories: directory)
        }
        if let bundle = bundles.first(where: { access($0, R_OK) == 0 }) { return SystemRoots(bundle: bundle) }
        throw .badSettings("this system's roots were not found; set SSL_CERT_FILE or SSL_CERT_DIR")
    }

    /// Whether the environment names places.
    static var areNamed: Bool { named(by: environmentVariable) != nil }

    private static func named(by environment: (String) -> String?) -> SystemRoots? {
        let named = SystemRoots(
            directories: environment("SSL_CERT_DIR"),
            bundle: environment("SSL_CERT_FILE")
        )
        return named == SystemRoots() ? nil : named
    }

    /// Adds the directories as a lookup, and reads the bundle, or defers reading it if there is a hashed
    /// directory.
    func add(to store: OpaquePointer) throws(TLSError) {
        let paths = directories?.split(separator: ":").map(String.init) ?? []
        if let directories {
            guard paths.contains(where: { access($0, R_OK | X_OK) == 0 }) else {
                throw .badSettings("no directory of roots can be read in \(directories)")
            }
            // Otherwise every certificate would have an unknown issuer, without a reason.
            guard bundle != nil || paths.contains(where: { isHashed($0, atLeast: 1) }) else {
                throw .badSettings("\(directories) has no roots: no links named by hash")
            }
            try HashedDirectories.attach(paths, to: store)
        }
        guard let bundle else { return }
        if access(bundle, R_OK) == 0, paths.contains(where: { isHashed($0) }) {
            try DeferredBundle.attach(bundle, to: store)
        } else {
            try RootFile(path: bundle).certificates().add(to: store)
        }
    }

    /// Returns one store for all contexts that trust only the system: OpenSSL keeps in it the certificates it
    /// has read from the directory. The caller owns one reference.
    static func shared() throws(TLSError) -> OpaquePointer {
        try cache.store(for: find())
    }

    private static let cache = SharedStore()
}

/// The store that was built last, and the places it was built from. If the places change, because the
/// environment has changed, a new store replaces it.
private final class SharedStore: Sendable {
    private let current = Locked<(roots: SystemRoots, store: OpaquePointer)?>(nil)

    func store(for roots: SystemRoots) throws(TLSError) -> OpaquePointer {
        try current.withLock { current throws(TLSError) in
            if current?.roots != roots {
                let store = try TrustStore.filled { store throws(TLSError) in try roots.add(to: store) }
                if let old = current { X509_STORE_free(old.store) }
                current = (roots, store)
            }
            guard let current, X509_STORE_up_ref(current.store) == 1 else {
                throw .badSettings("the system's roots cannot be shared")
            }
            return current.store
        }
    }
}

/// Whether the directory has as many `xxxxxxxx.0` entries as a system's roots. A handful are an
/// administrator's additions: then the system's roots are in the bundle.
private func isHashed(_ path: String, atLeast count: Int = fewestRoots) -> Bool {
    guard let directory = opendir(path) else { return false }
    defer { closedir(directory) }
    var found = 0
    while found < count, let entry = readdir(directory) {
        if isHashName(entry) { found += 1 }
    }
    return found == count
}

private let fewestRoots = 20

private func isHashName(_ entry: UnsafeMutablePointer<dirent>) -> Bool {
    withUnsafeBytes(of: &entry.pointee.d_name) { name in
        name.count > 10 && name[8] == UInt8(ascii: ".") && name[9] == UInt8(ascii: "0") && name[10] == 0
            && name[..<8].allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            }
    }
}

/// Returns the value of an environment variable; `nil` if it is empty or not set. A program with raised
/// privileges ignores its environment, as OpenSSL does: also one with file capabilities, whose user is the
/// real one (secure_getenv(3)).
private func environmentVariable(_ name: String) -> String? {
    #if canImport(Darwin)
    let value = issetugid() == 0 ? getenv(name) : nil
    #else
    let value = secure_getenv(name)
    #endif
    guard let value, value.pointee != 0 else { return nil }
    return String(cString: value)
}

private let knownDirectories = [
    String(cString: X509_get_default_cert_dir()),
    "/etc/ssl/certs",
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust/extracted/pem/directory-hash",
]

private let knownBundles = [
    String(cString: X509_get_default_cert_file()),
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
]
