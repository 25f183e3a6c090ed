internal import CDirectOpenSSL

/// OpenSSL itself: its version and its initialisation.
package enum OpenSSLLibrary {
    /// The name and version of the library in use, such as "OpenSSL 3.0.19 27 Jan 2026".
    package static var version: String { String(cString: OpenSSL_version(OPENSSL_VERSION)) }

    /// Loads OpenSSL's configuration file, as any program does: it may contain the administrator's policy or
    /// a FIPS provider (skipping it would save 0.3 ms). OpenSSL's own clean-up at `exit` is disabled: it
    /// would unload the library under threads that still use it.
    static func start() throws(TLSError) {
        _ = started
        if let mixture { throw .badSettings(mixture) }
    }

    private static let started = OPENSSL_init_ssl(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)

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
