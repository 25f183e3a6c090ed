internal import CDirectOpenSSL

/// OpenSSL itself: its version and its initialisation.
package enum OpenSSLLibrary {
    /// The name and version of the library in use, such as "OpenSSL 3.0.19 27 Jan 2026".
    package static var version: String { String(cString: OpenSSL_version(OPENSSL_VERSION)) }

    /// Starts the library, for connections.
    ///
    /// - Throws: If it is another library than the package was compiled for.
    static func start() throws(TLSError) {
        use()
        if let mixture { throw .badSettings(mixture) }
    }

    /// Comes before every other use of OpenSSL, of which any may be the first in the process. Most uses begin
    /// with ``ErrorQueue/clear()``, which calls it.
    @inline(__always)
    static func use() { started }

    private static let started: Void = direct_start_OpenSSL()

    private static let mixture = mixture(
        headers: OPENSSL_VERSION_MAJOR,
        library: OPENSSL_version_major(),
        says: version
    )

    /// What is wrong if the functions that the linker found are not those of the headers: an app can contain
    /// two frameworks with the same functions, of which one is BoringSSL's or of another version.
    static func mixture(headers: Int32, library: UInt32, says name: String) -> String? {
        guard headers != library || !name.hasPrefix("OpenSSL ") else { return nil }
        return
            "the headers are those of OpenSSL \(headers), but the library is \(name): remove one of the two"
    }
}

/// `http/1.1`, preceded by its length (RFC 7301, section 3.1).
let offeredProtocols: [UInt8] = [8] + Array("http/1.1".utf8)
