internal import CDirectOpenSSL

/// OpenSSL's initialisation.
enum OpenSSLLibrary {
    /// Loads OpenSSL's configuration file, as any program does: it may contain the administrator's policy or
    /// a FIPS provider (skipping it would save 0.3 ms). OpenSSL's own clean-up at `exit` is disabled: it
    /// would unload the library under threads that still use it.
    static func start() { _ = started }

    private static let started = OPENSSL_init_ssl(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
}

/// `http/1.1`, preceded by its length (RFC 7301, section 3.1).
let offeredProtocols: [UInt8] = [8] + Array("http/1.1".utf8)
