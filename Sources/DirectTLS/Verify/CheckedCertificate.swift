internal import CDirectOpenSSL

/// A certificate and its position in a chain. Borrows the pointers of the chain, and must not outlive it.
struct CheckedCertificate {
    let raw: OpaquePointer
    /// The whole chain, from the server's certificate to a root.
    let chain: OpaquePointer
    /// The position in the chain; 0 is the server's own certificate.
    let depth: Int32
    /// Whether this is the trusted certificate at the chain's end.
    let isRoot: Bool

    /// Returns all certificates of the chain, the server's first.
    ///
    /// - Parameter isOpen: Whether the chain ends before a trusted root.
    static func all(of chain: OpaquePointer, isOpen: Bool = false) -> [CheckedCertificate] {
        let count = OPENSSL_sk_num(chain)
        return (0..<max(0, count)).compactMap { depth in
            OPENSSL_sk_value(chain, depth).map {
                CheckedCertificate(
                    raw: OpaquePointer($0),
                    chain: chain,
                    depth: depth,
                    isRoot: !isOpen && depth == count - 1
                )
            }
        }
    }

    /// Whether this is the server's own certificate.
    var isServers: Bool { depth == 0 }

    /// Whether its basicConstraints mark it as an authority.
    var isAuthority: Bool { hasFlag(EXFLAG_CA) && hasFlag(EXFLAG_BCONS) }

    func hasFlag(_ flag: Int32) -> Bool {
        X509_get_extension_flags(raw) & UInt32(bitPattern: flag) != 0
    }

    /// Whether it has the extension of this kind.
    func has(_ kind: Int32) -> Bool {
        X509_get_ext_by_NID(raw, kind, -1) >= 0
    }

    /// Whether it has the extension of this kind, marked as critical.
    func marksCritical(_ kind: Int32) -> Bool {
        let index = X509_get_ext_by_NID(raw, kind, -1)
        return index >= 0 && X509_EXTENSION_get_critical(X509_get_ext(raw, index)) == 1
    }

    /// Calls `body` with the decoded extension; `nil` if there is none or it cannot be decoded. The extension
    /// is freed afterwards.
    func withExtension<Result>(
        _ kind: Int32,
        free: (OpaquePointer) -> Void,
        body: (OpaquePointer?) -> Result
    ) -> Result {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        guard let decoded = X509_get_ext_d2i(raw, kind, nil, nil).map({ OpaquePointer($0) }) else {
            return body(nil)
        }
        defer { free(decoded) }
        return body(decoded)
    }

    /// All names of its subjectAltName: a rule that ended at some of them would end where a server likes.
    var names: CertificateReader.Names {
        CertificateReader(raw).names(atMost: .max)
    }
}
