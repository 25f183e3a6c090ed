internal import CDirectOpenSSL

/// Searches for another path from a server's certificate to a root, among the certificates that the server
/// sent and those that are trusted.
///
/// OpenSSL follows only one issuer for each certificate, the first that matches by name and date, and gives
/// up if that leads to no root. Servers send cross-signed certificates of the same authority, in any order,
/// and RFC 8446, section 4.4.2 asks clients to cope (RFC 4158 describes path building). The roots, too, may
/// have several certificates of one key: a limited one, or one that another authority has signed.
///
/// The search is depth-first from the server's certificate. Each path whose top has a trusted issuer is given
/// to OpenSSL alone with this issuer, and verified like any other: no chain is accepted that OpenSSL would
/// not accept from a server that sends just these certificates. The first chain that OpenSSL and our rules
/// accept, and that has a pinned key, ends the search. The server chooses the certificates, so their number,
/// the length of a path, the steps and the attempts are all limited, and an authority occurs only once in a
/// path.
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
    /// What the best chain so far is worth; `nil` if none is good.
    private var highest: Worth?
    /// The best chain so far; `nil` if it is OpenSSL's own. Owned.
    private var found: OpaquePointer?

    /// What the pins say of a chain that is good otherwise.
    enum Worth: Int {
        case refused, reported, best
    }

    /// Returns the best chain; `nil` if none is better than OpenSSL's own. The caller owns it.
    ///
    /// - Parameters:
    ///   - known: What OpenSSL's own chain is worth; `nil` if it is not good.
    ///   - worth: Returns what a chain is worth; `nil` if our rules do not accept it.
    static func best(
        after check: OpaquePointer,
        than known: Worth?,
        by worth: (OpaquePointer) -> Worth?
    ) -> OpaquePointer? {
        guard var search = PathSearch(after: check) else { return nil }
        search.highest = known
        var path = [search.leaf]
        search.extend(&path, by: worth)
        return search.found
    }

    private init?(after check: OpaquePointer) {
        guard let leaf = X509_STORE_CTX_get0_cert(check) else { return nil }
        self.check = check
        self.leaf = leaf
        let sent = X509_STORE_CTX_get0_untrusted(check)
        others = (0..<max(0, min(OPENSSL_sk_num(sent), Self.mostCertificates))).compactMap { index in
            OPENSSL_sk_value(sent, index).map { OpaquePointer($0) }
        }.filter { certificate in
            // A self-signed certificate ends a path without result: a root counts only because it is in the
            // store.
            !isSelfSigned(certificate) && X509_cmp(certificate, leaf) != 0
        }
    }

    /// Extends the path by one issuer at a time, until no chain can be better.
    private mutating func extend(_ path: inout [OpaquePointer], by worth: (OpaquePointer) -> Worth?) {
        guard let top = path.last, attemptsLeft > 0 else { return }
        let trusted = trustedIssuers(of: top)
        for root in trusted where attemptsLeft > 0 && highest != .best && mayEnd(at: root) {
            attemptsLeft -= 1
            verify(path, below: root, by: worth)
        }
        guard path.count < Self.longestPath else { return }
        let above = others.filter { X509_check_issued($0, top) == X509_V_OK }
        for issuer in above + trusted.filter({ !isSelfSigned($0) }) {
            guard !path.contains(where: { isSame($0, other: issuer) }) else { continue }
            guard stepsLeft > 0, highest != .best else { return }
            stepsLeft -= 1
            path.append(issuer)
            extend(&path, by: worth)
            path.removeLast()
        }
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

    /// Whether a path may end at this trusted certificate.
    private func mayEnd(at root: OpaquePointer) -> Bool {
        let flags = X509_VERIFY_PARAM_get_flags(X509_STORE_CTX_get0_param(check))
        return isSelfSigned(root) || flags & UInt(X509_V_FLAG_PARTIAL_CHAIN) != 0
    }

    /// Returns the trusted certificates that may have issued this one: signatures are checked in attempts
    /// only, whose number is limited. They are the store's, and borrowed.
    private func trustedIssuers(of certificate: OpaquePointer) -> [OpaquePointer] {
        let find = X509_STORE_CTX_get_lookup_certs(check)
        guard let stack = find?(check, X509_get_issuer_name(certificate)) else { return [] }
        defer { freeCertificates(stack) }
        return CheckedCertificate.all(of: stack).map(\.raw).filter {
            X509_check_issued($0, certificate) == X509_V_OK
        }
    }

    /// Keeps the chain that OpenSSL builds from the path and this root, if it is valid and the best so far.
    private mutating func verify(
        _ path: [OpaquePointer],
        below root: OpaquePointer,
        by worth: (OpaquePointer) -> Worth?
    ) {
        guard let attempt = X509_STORE_CTX_new(), let sent = OPENSSL_sk_new_null(),
            let roots = OPENSSL_sk_new_null()
        else { return }
        // The stacks borrow the certificates, and must outlive the attempt.
        defer {
            OPENSSL_sk_free(sent)
            OPENSSL_sk_free(roots)
        }
        defer { X509_STORE_CTX_free(attempt) }
        for certificate in path.dropFirst() { OPENSSL_sk_push(sent, UnsafeRawPointer(certificate)) }
        OPENSSL_sk_push(roots, UnsafeRawPointer(root))
        guard X509_STORE_CTX_init(attempt, X509_STORE_CTX_get0_store(check), leaf, sent) == 1,
            X509_VERIFY_PARAM_set1(X509_STORE_CTX_get0_param(attempt), X509_STORE_CTX_get0_param(check))
                == 1,
            // Else a root of the same name as one of the path's certificates would take its place: an expired
            // copy, or one with a former key.
            X509_VERIFY_PARAM_clear_flags(
                X509_STORE_CTX_get0_param(attempt),
                UInt(X509_V_FLAG_TRUSTED_FIRST)
            ) == 1
        else { return }
        X509_STORE_CTX_set0_trusted_stack(attempt, roots)
        guard X509_verify_cert(attempt) == 1, let chain = X509_STORE_CTX_get0_chain(attempt),
            let worth = worth(chain),
            worth.rawValue > highest?.rawValue ?? -1, let copy = X509_chain_up_ref(chain)
        else { return }
        found.map(freeCertificates)
        (found, highest) = (copy, worth)
    }
}
