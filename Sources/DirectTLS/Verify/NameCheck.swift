internal import CDirectOpenSSL

/// The check of a server's name or address against the subjectAltName of its certificate.
///
/// A wildcard stands for one label, as a whole, with at least two labels after it, and the subject's common
/// name never counts (RFC 9525, sections 6.3 and 6.4).
extension ServerIdentity {
    private static let flags = UInt32(
        X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT
    )

    /// Makes OpenSSL check the name or address in a verification. Returns false if it cannot.
    func demand(in parameters: OpaquePointer?) -> Bool {
        X509_VERIFY_PARAM_set_hostflags(parameters, Self.flags)
        guard kind == .name else { return X509_VERIFY_PARAM_set1_ip_asc(parameters, text) == 1 }
        // The identity is a name that has been parsed, or a wildcard for it.
        direct_X509_VERIFY_PARAM_accept_all_names(parameters)
        guard X509_VERIFY_PARAM_set1_host(parameters, text, 0) == 1 else { return false }
        guard let wildcard else { return true }
        return X509_VERIFY_PARAM_add1_host(parameters, wildcard, 0) == 1
    }

    /// Returns the entry of the certificate that proves the name or address; `nil` if there is none.
    func proof(in certificate: OpaquePointer) -> String? {
        guard kind == .name else {
            return X509_check_ip_asc(certificate, text, Self.flags) == 1 ? text : nil
        }
        return Self.entry(for: text, in: certificate)
            ?? wildcard.flatMap { Self.entry(for: $0, in: certificate) }
    }

    /// Whether the certificate has an entry for a name, which need be no server's.
    static func proves(_ certificate: OpaquePointer, name: String) -> Bool {
        entry(for: name, in: certificate) != nil
    }

    private static func entry(for name: String, in certificate: OpaquePointer) -> String? {
        var entry: UnsafeMutablePointer<CChar>?
        guard X509_check_host(certificate, name, 0, flags, &entry) == 1 else { return nil }
        defer { CRYPTO_free(entry, nil, 0) }
        return entry.map { String(cString: $0) } ?? name
    }

    /// The wildcard that covers the name, if OpenSSL itself would not let it; else `nil`.
    ///
    /// To OpenSSL a wildcard stands for letters, digits and hyphens only, and before labels of the same that
    /// neither begin nor end with a hyphen. RFC 9525 has no such rule, and neither have browsers and curl:
    /// names with underscores are in use below the wildcards of several large hosts. Asked for the wildcard
    /// as if it were a name, OpenSSL finds that entry and no other.
    private var wildcard: String? {
        guard kind == .name, let dot = text.firstIndex(of: ".") else { return nil }
        let parent = text[dot...]
        let hasEdge = parent.split(separator: ".").contains { $0.hasPrefix("-") || $0.hasSuffix("-") }
        guard hasEdge || text.contains("_") else { return nil }
        // At least two labels have to be left: OpenSSL compares what is no wildcard to it by its letters.
        return parent.dropFirst().contains(".") ? "*\(parent)" : nil
    }
}
