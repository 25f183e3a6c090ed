internal import CDirectOpenSSL
internal import DirectCore

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The places where this system keeps its trusted certificates, which are read once, off the event loop.
struct SystemRoots: Hashable, Sendable {
    /// The directories, separated by colons as in `SSL_CERT_DIR`.
    var directories: String?
    var bundle: String?

    /// Returns the places that the environment names, else a bundle, else a directory with links named by
    /// hash.
    static func find(
        environment: (String) -> String? = environmentVariable,
        directories: [String] = knownDirectories,
        bundles: [String] = knownBundles
    ) throws(TLSError) -> SystemRoots {
        if let named = named(by: environment) { return named }
        if let bundle = bundles.first(where: { access($0, R_OK) == 0 }) {
            return SystemRoots(bundle: bundle)
        }
        for directory in directories where try !hashedFiles(in: directory).isEmpty {
            return SystemRoots(directories: directory)
        }
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

    /// Reads all roots.
    func read() throws(TLSError) -> RootIndex {
        var texts: [[UInt8]] = []
        if let directories {
            let paths = directories.split(separator: ":").map(String.init)
            guard paths.contains(where: { access($0, R_OK | X_OK) == 0 }) else {
                throw .badSettings("no directory of roots can be read in \(directories)")
            }
            for path in paths {
                for file in try hashedFiles(in: path) {
                    do throws(TLSError) {
                        texts.append(try RootFile(path: file).bytes())
                    } catch {
                        try passOver(file, error)
                    }
                }
            }
            // A file without a root is none of the others' concern.
            texts.removeAll { PEMBlocks.certificates(in: $0)?.isEmpty != false }
            // Otherwise every certificate would have an unknown issuer, without a reason.
            guard bundle != nil || !texts.isEmpty else {
                throw .badSettings("\(directories) has no roots: no links named by hash")
            }
        }
        if let bundle { texts.append(try RootFile(path: bundle).bytes()) }
        return try RootIndex(texts: texts, of: "roots from \(bundle ?? directories ?? "")")
    }

    /// Returns one index for all contexts that trust the system.
    static func shared() throws(TLSError) -> RootIndex {
        try cache.index(for: find())
    }

    private static let cache = SharedIndex()
}

/// The index that was read last, and the places it was read from. If the places change, because the
/// environment has changed, a new one replaces it.
private final class SharedIndex: Sendable {
    private struct State {
        var index: RootIndex?
        /// Where it was read from.
        var roots = SystemRoots()
        var isBeingRead = false
    }

    private let state = Locked(State())
    private let change = Condition()

    /// Returns the index. What another thread reads is waited for, but not for long, because its file may
    /// hang.
    func index(for roots: SystemRoots) throws(TLSError) -> RootIndex {
        // Each who has waited wakes the next one.
        defer { change.signal() }
        let known = state.wait(at: change, nanoseconds: 1_000_000_000) { state, isLast -> RootIndex?? in
            if state.roots == roots, let index = state.index { return index }
            guard isLast || !state.isBeingRead else { return nil }
            state.isBeingRead = true
            return .some(nil)
        }
        if let index = known ?? nil { return index }
        defer { state.withLock { $0.isBeingRead = false } }
        let index = try roots.read()
        state.withLock { ($0.index, $0.roots) = (index, roots) }
        return index
    }
}

/// Lets a file or directory be missing that is gone, or not for this user. Any other failure, such as a lack
/// of descriptors, passes: what was read meanwhile would lack these roots for as long as the process lives.
private func passOver(_ path: String, _ failure: TLSError) throws(TLSError) {
    if access(path, R_OK) == 0 { throw failure }
}

/// Returns the files of a directory that are named by the hash of a subject (`c_rehash`).
private func hashedFiles(in path: String) throws(TLSError) -> [String] {
    guard let directory = opendir(path) else {
        try passOver(path, .badSettings("roots from \(path): \(errnoText(errno))"))
        return []
    }
    defer { closedir(directory) }
    var files: [String] = []
    while let entry = readdir(directory) {
        if isHashName(entry) {
            files.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { name in
                    "\(path)/" + String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
                }
            )
        }
    }
    return files
}

/// Whether the name is eight hexadecimal digits, a dot and a number.
private func isHashName(_ entry: UnsafeMutablePointer<dirent>) -> Bool {
    withUnsafeBytes(of: &entry.pointee.d_name) { name in
        let name = name.prefix { $0 != 0 }
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let letters = UInt8(ascii: "a")...UInt8(ascii: "f")
        return name.count > 9 && name[8] == UInt8(ascii: ".") && name[9...].allSatisfy(digits.contains)
            && name[..<8].allSatisfy { digits.contains($0) || letters.contains($0) }
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
