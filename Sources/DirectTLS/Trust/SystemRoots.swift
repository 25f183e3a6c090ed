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
        if let bundle = bundles.first(where: { access($0, R_OK) == 0 && !isEmptyFile($0) }) {
            return SystemRoots(bundle: bundle)
        }
        for directory in directories where try !hashedFiles(in: directory).isEmpty {
            return SystemRoots(directories: directory)
        }
        throw .badSettings("this system's roots were not found; set SSL_CERT_FILE or SSL_CERT_DIR")
    }

    /// The places that the environment names; `nil` if it names none.
    static var named: SystemRoots? { named(by: environmentVariable) }

    private var paths: [String] {
        (bundle.map { [$0] } ?? []) + (directories?.split(separator: ":").map(String.init) ?? [])
    }

    /// The paths that the environment names, unless all of them are places where systems keep their roots.
    static func unusualPaths(environment: (String) -> String? = environmentVariable) -> [String] {
        let paths = named(by: environment)?.paths ?? []
        return paths.allSatisfy((knownDirectories + knownBundles).contains) ? [] : paths
    }

    private static func named(by environment: (String) -> String?) -> SystemRoots? {
        let named = SystemRoots(
            directories: environment("SSL_CERT_DIR"),
            bundle: environment("SSL_CERT_FILE")
        )
        return named == SystemRoots() ? nil : named
    }

    /// Reads all roots.
    func read() throws(TLSError) -> RootIndex {
        guard let directories else { return try index(ofBundle: bundle ?? "") }
        var files: [CertificateFile] = []
        for path in directories.split(separator: ":").map(String.init) {
            for file in try hashedFiles(in: path) {
                files.append(try CertificateFile(reading: RootFile(path: file, isRegular: true)))
            }
        }
        // Beside directories it hides nothing either.
        if let bundle { files.append(try CertificateFile(reading: RootFile(path: bundle))) }
        let index = try RootIndex(files: files, bundle: nil, of: "roots")
        // Otherwise every certificate would have an unknown issuer, without a reason.
        guard !index.isEmpty else {
            throw .badSettings(
                "\(paths.joined(separator: ", ")) has no roots: it cannot be read, or no links are named by hash"
            )
        }
        return index
    }

    private func index(ofBundle path: String) throws(TLSError) -> RootIndex {
        let file = RootFile(path: path)
        return try RootIndex(bundle: file.bytes(), of: file.role)
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
        /// The places that it was read from.
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
        if let index = known ?? nil, !index.isOutdated { return index }
        defer { state.withLock { $0.isBeingRead = false } }
        let index = try roots.read()
        state.withLock { ($0.index, $0.roots) = (index, roots) }
        return index
    }
}

/// A file of roots that may have faults.
struct CertificateFile {
    let path: String
    /// The text; `nil` if it cannot be read.
    let text: [UInt8]?

    /// Reads the file. A lack of descriptors is an error: it passes, and an index would be kept without the
    /// root. Any other fault is the file's own.
    init(reading file: RootFile) throws(TLSError) {
        path = file.path
        do throws(FileFault) {
            text = try file.contents()
        } catch {
            guard !error.isShortage else { throw error.error(of: file.role) }
            text = nil
        }
    }
}

/// Whether there is nothing in a file, as while the system's certificates are installed.
private func isEmptyFile(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_size == 0
}

/// Returns the files of a directory that are named by the hash of a subject (`c_rehash`). A directory that
/// cannot be read has none.
private func hashedFiles(in path: String) throws(TLSError) -> [String] {
    func passOver(_ fault: FileFault) throws(TLSError) {
        if fault.isShortage { throw fault.error(of: "roots from \(path)") }
    }
    guard let directory = opendir(path) else {
        try passOver(FileFault(code: errno))
        return []
    }
    defer { closedir(directory) }
    var files: [String] = []
    errno = 0
    while let entry = readdir(directory) {
        if isHashName(entry) {
            files.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { name in
                    "\(path)/" + String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
                }
            )
        }
        errno = 0
    }
    try passOver(FileFault(code: errno))
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
