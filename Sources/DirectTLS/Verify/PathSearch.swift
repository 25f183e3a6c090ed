internal import CDirectOpenSSL

/// Searches for another path from a server's certificate to a root, among the certificates that the server
/// sent and those that are trusted.
///
/// OpenSSL follows only one issuer for each certificate, the first that matches by name and date, and gives
/// up if that leads to no root. Servers send cross-signed certificates of the same authority, in any order,
/// and RFC 8446, section 4.4.2 asks clients to cope (RFC 4158 describes path building). The roots, too, may
/// have several certificates of one key: a limited one, or one that another authority has signed.
///
/// The search is depth-first from the server's certificate. Each path whose signatures lead to a trusted
/// issuer is given to OpenSSL alone with this issuer, and verified like any other: no chain is accepted that
/// OpenSSL would not accept from a server that sends just these certificates. The first path that can have no
/// better one ends the search. The server chooses the certificates, so their number, the length of a path,
/// the steps, the signatures and the attempts are all limited, and an authority occurs only once in a path.
struct PathSearch {
    /// The verification that failed, used for its roots and parameters. Borrowed.
    private let check: OpaquePointer
    private let leaf: OpaquePointer
    private let others: [OpaquePointer]
    // The server chooses the search space, and a mesh of cross-certificates has more paths than can be tried.
    private static let mostCertificates: Int32 = 100
    private static let longestPath = 10
    private var stepsLeft = 256
    /// What is known of signatures.
    private var signatures: [Edge: Bool] = [:]
    private static let mostSignatures = 64
    /// Each attempt costs as many signature checks as the path has certificates.
    private var attemptsLeft = 16
    /// What is known of the best path so far.
    private var best: Verdict
    /// The best path so far; `nil` if it is OpenSSL's own.
    private var found: Found?

    /// A certificate, and another one whose key may have signed it. Both are borrowed.
    private struct Edge: Hashable {
        let certificate, issuer: OpaquePointer
    }

    /// The verdict on a path.
    struct Verdict {
        /// Its faults: the first one, or all of them.
        let faults: [CertificateFault]
        /// The result of the pins if there is no fault.
        let pins: Pins

        enum Pins: Int {
            case kept, reported, refused
        }

        /// Whether no other path of the same certificate can be better.
        var isBest: Bool { pins == .kept && !faults.contains(where: \.isCurable) }

        /// The better path has the lower one. What says that the certificates may be anyone's counts most.
        fileprivate var rank: (Int, Int, Int) {
            let untrusted = faults.count { $0.endsOpen || $0.kind == .badSignature || !$0.isNamed }
            return (untrusted, faults.count, pins.rawValue)
        }
    }

    /// A chain that OpenSSL has built from a path. The caller owns it.
    struct Found {
        let chain: OpaquePointer
        let verdict: Verdict
    }

    /// Returns the best path; `nil` if none is better than OpenSSL's own.
    ///
    /// - Parameters:
    ///   - known: What is known of OpenSSL's own path.
    ///   - judge: Verifies the path of an `X509_STORE_CTX`.
    static func best(
        after check: OpaquePointer,
        than known: Verdict,
        by judge: (OpaquePointer) -> Verdict
    ) -> Found? {
        guard var search = PathSearch(after: check, than: known) else { return nil }
        var path = [search.leaf]
        search.extend(&path, by: judge)
        return search.found
    }

    private init?(after check: OpaquePointer, than known: Verdict) {
        guard let leaf = X509_STORE_CTX_get0_cert(check) else { return nil }
        self.check = check
        best = known
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
    private mutating func extend(_ path: inout [OpaquePointer], by judge: (OpaquePointer) -> Verdict) {
        guard let top = path.last, attemptsLeft > 0 else { return }
        let trusted = trustedIssuers(of: top)
        for root in trusted where attemptsLeft > 0 && !best.isBest && mayEnd(at: root) {
            guard isSigned(path, below: root) else { continue }
            attemptsLeft -= 1
            verify(path, below: root, by: judge)
        }
        guard path.count < Self.longestPath else { return }
        let above = others.filter { X509_check_issued($0, top) == X509_V_OK }
        for issuer in above + trusted.filter({ !isSelfSigned($0) }) {
            guard !path.contains(where: { isSame($0, other: issuer) }) else { continue }
            guard stepsLeft > 0, !best.isBest else { return }
            stepsLeft -= 1
            guard !isDistrusted(issuer) else { continue }
            path.append(issuer)
            extend(&path, by: judge)
            path.removeLast()
        }
    }

    /// Whether the signatures of a path hold. They are checked from the root down, so that no key is used to
    /// which no root leads: the server may have made keys up with which each check takes ten milliseconds.
    private mutating func isSigned(_ path: [OpaquePointer], below root: OpaquePointer) -> Bool {
        var issuer = root
        for certificate in path.reversed() {
            guard isSigned(Edge(certificate: certificate, issuer: issuer)) else { return false }
            issuer = certificate
        }
        return true
    }

    private mutating func isSigned(_ edge: Edge) -> Bool {
        if let isSigned = signatures[edge] { return isSigned }
        guard signatures.count < Self.mostSignatures, let key = X509_get0_pubkey(edge.issuer) else {
            return false
        }
        let isSigned = X509_verify(edge.certificate, key) == 1
        signatures[edge] = isSigned
        return isSigned
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
        return isRoot(root) || flags & UInt(X509_V_FLAG_PARTIAL_CHAIN) != 0
    }

    /// Whether a trusted certificate has signed itself: also one whose authorityKeyIdentifier is that of
    /// another, as of a former certificate of its key, which to OpenSSL is none.
    private func isRoot(_ trusted: OpaquePointer) -> Bool {
        isSelfSigned(trusted)
            || X509_NAME_cmp(X509_get_subject_name(trusted), X509_get_issuer_name(trusted)) == 0
                && X509_get0_pubkey(trusted).map { X509_verify(trusted, $0) == 1 } ?? false
    }

    /// Whether the store marks a certificate as not to be trusted for servers (X509_check_trust(3)). OpenSSL
    /// asks this of what it takes from the store; what the server sends has no marks, and is the same
    /// certificate.
    private func isDistrusted(_ certificate: OpaquePointer) -> Bool {
        trusted(named: X509_get_subject_name(certificate)).contains {
            X509_cmp($0, certificate) == 0
                && X509_check_trust($0, X509_TRUST_SSL_SERVER, 0) == X509_TRUST_REJECTED
        }
    }

    /// Returns the trusted certificates that may have issued this one, by their names.
    private func trustedIssuers(of certificate: OpaquePointer) -> [OpaquePointer] {
        trusted(named: X509_get_issuer_name(certificate)).filter {
            X509_check_issued($0, certificate) == X509_V_OK
        }
    }

    /// Returns the certificates of this name in the store. They are the store's, and borrowed.
    private func trusted(named name: OpaquePointer?) -> [OpaquePointer] {
        guard let stack = X509_STORE_CTX_get_lookup_certs(check)?(check, name) else { return [] }
        defer { freeCertificates(stack) }
        return CheckedCertificate.all(of: stack).map(\.raw)
    }

    /// Keeps the chain that OpenSSL builds from the path and this root, if it is the best so far.
    private mutating func verify(
        _ path: [OpaquePointer],
        below root: OpaquePointer,
        by judge: (OpaquePointer) -> Verdict
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
        if !isSelfSigned(root) { X509_STORE_CTX_set_flags(attempt, UInt(X509_V_FLAG_PARTIAL_CHAIN)) }
        let verdict = judge(attempt)
        guard verdict.rank < best.rank, let chain = X509_STORE_CTX_get0_chain(attempt),
            let copy = X509_chain_up_ref(chain)
        else { return }
        found.map { freeCertificates($0.chain) }
        (found, best) = (Found(chain: copy, verdict: verdict), verdict)
    }
}
