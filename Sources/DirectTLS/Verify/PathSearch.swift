internal import CDirectOpenSSL

/// Searches for another path from a server's certificate to a root, among the certificates that the server
/// sent.
///
/// OpenSSL follows only one issuer for each certificate, the first that matches by name and date, and gives
/// up if that leads to no root. Servers send cross-signed certificates of the same authority, in any order,
/// and RFC 8446, section 4.4.2 asks clients to cope (RFC 4158 describes path building).
///
/// The search is depth-first from the server's certificate. Each path whose top has a trusted issuer is given
/// to OpenSSL alone, which verifies it like any other: no chain is accepted that OpenSSL would not accept
/// from a server that sends just these certificates. The first chain that OpenSSL and our rules accept ends
/// the search. The server chooses the certificates, so their number, the length of a path, the steps and the
/// attempts are all limited, and an authority occurs only once in a path.
struct PathSearch {
    /// The verification that failed, used for its roots and parameters. Borrowed.
    private let check: OpaquePointer
    private let leaf: OpaquePointer
    private let others: [OpaquePointer]
    // The server chooses the search space, and a mesh of cross-certificates has more paths than can be tried.
    private static let mostCertificates: Int32 = 100
    private static let longestPath = 10
    private var stepsLeft = 256
    /// Each attempt costs as many signature checks as the path has certificates.
    private var attemptsLeft = 16

    init?(after check: OpaquePointer) {
        guard let leaf = X509_STORE_CTX_get0_cert(check) else { return nil }
        self.check = check
        self.leaf = leaf
        let sent = X509_STORE_CTX_get0_untrusted(check)
        others = (0..<max(0, min(OPENSSL_sk_num(sent), Self.mostCertificates))).compactMap { index in
            OPENSSL_sk_value(sent, index).map { OpaquePointer($0) }
        }.filter { certificate in
            // A self-signed certificate ends a path without result: a root counts only because it is in the
            // store.
            X509_get_extension_flags(certificate) & UInt32(EXFLAG_SS) == 0
                && X509_cmp(certificate, leaf) != 0
        }
        guard !others.isEmpty else { return nil }
    }

    /// Returns the first chain that both OpenSSL and `accepts` accept. The caller owns it.
    mutating func find(where accepts: (OpaquePointer) -> Bool) -> OpaquePointer? {
        var path = [leaf]
        return extend(&path, accepts: accepts)
    }

    /// Extends the path by one issuer at a time, and returns the first chain that is accepted.
    private mutating func extend(
        _ path: inout [OpaquePointer],
        accepts: (OpaquePointer) -> Bool
    ) -> OpaquePointer? {
        guard let top = path.last, attemptsLeft > 0 else { return nil }
        if hasTrustedIssuer(top) {
            attemptsLeft -= 1
            if let chain = verified(path, accepts: accepts) { return chain }
        }
        guard path.count < Self.longestPath else { return nil }
        for issuer in others where X509_check_issued(issuer, top) == X509_V_OK {
            guard !path.contains(where: { isSame($0, other: issuer) }) else { continue }
            guard stepsLeft > 0 else { return nil }
            stepsLeft -= 1
            path.append(issuer)
            if let chain = extend(&path, accepts: accepts) { return chain }
            path.removeLast()
        }
        return nil
    }

    /// Whether both are the same authority: a path with the same authority twice is a loop, whatever the
    /// certificates.
    private func isSame(_ one: OpaquePointer, other: OpaquePointer) -> Bool {
        let names = (X509_get_subject_name(one), X509_get_subject_name(other))
        guard X509_NAME_cmp(names.0, names.1) == 0 else { return false }
        guard let key = X509_get0_pubkey(one), let otherKey = X509_get0_pubkey(other) else {
            return false
        }
        return EVP_PKEY_eq(key, otherKey) == 1
    }

    /// Whether the store has an issuer of the certificate.
    private func hasTrustedIssuer(_ certificate: OpaquePointer) -> Bool {
        var issuer: OpaquePointer?
        defer { X509_free(issuer) }
        return X509_STORE_CTX_get_get_issuer(check)?(&issuer, check, certificate) == 1
    }

    /// Returns the chain that OpenSSL builds from the path and the roots, if it is valid. The caller owns it.
    private func verified(
        _ path: [OpaquePointer],
        accepts: (OpaquePointer) -> Bool
    ) -> OpaquePointer? {
        guard let attempt = X509_STORE_CTX_new(), let sent = OPENSSL_sk_new_null() else { return nil }
        // The stack borrows the certificates, and must outlive the attempt.
        defer { OPENSSL_sk_free(sent) }
        defer { X509_STORE_CTX_free(attempt) }
        for certificate in path.dropFirst() { OPENSSL_sk_push(sent, UnsafeRawPointer(certificate)) }
        guard X509_STORE_CTX_init(attempt, X509_STORE_CTX_get0_store(check), leaf, sent) == 1,
            X509_VERIFY_PARAM_set1(X509_STORE_CTX_get0_param(attempt), X509_STORE_CTX_get0_param(check))
                == 1,
            // Else a root of the same name as one of the path's certificates would take its place: an expired
            // copy, or one with a former key.
            X509_VERIFY_PARAM_clear_flags(
                X509_STORE_CTX_get0_param(attempt),
                UInt(X509_V_FLAG_TRUSTED_FIRST)
            ) == 1,
            X509_verify_cert(attempt) == 1,
            let chain = X509_STORE_CTX_get0_chain(attempt), accepts(chain)
        else { return nil }
        return X509_STORE_CTX_get1_chain(attempt)
    }
}
