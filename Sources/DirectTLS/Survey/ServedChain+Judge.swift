internal import CDirectOpenSSL

extension ServedChain {
    /// Whether OpenSSL alone trusts it, which follows the first issuer that fits and no other.
    package var isTrustedByFirstPath: Bool {
        guard let leaf else { return false }
        return withTrust { roots, others in
            let verdict = try? withCheck(
                of: leaf,
                sent: others,
                roots: roots,
                context: context.raw,
                time: nil
            ) {
                X509_verify_cert($0)
            }
            return verdict == 1
        }
    }

    /// Calls `body` with a store of roots and the certificates that may lead to them, both borrowed: what the
    /// judge trusts if it trusts the chain, else the roots of the context and what the server sent.
    func withTrust<Result>(
        _ body: (_ roots: OpaquePointer, _ others: OpaquePointer) -> Result
    ) -> Result {
        guard case .trusted(let chain)? = trial?.verdict, let leaf,
            chain.first == CertificateReader(leaf).der,
            let lists = try? chain.map({ try CertificateList(der: $0) }),
            let root = lists.last?.first, let others = OPENSSL_sk_new_null()
        else { return body(context.store, stack) }
        // The stack borrows the certificates.
        defer { withExtendedLifetime(lists) {} }
        defer { OPENSSL_sk_free(others) }
        for list in lists { list.first.map { _ = OPENSSL_sk_push(others, UnsafeRawPointer($0)) } }
        guard let store = try? TrustStore.anchored(at: root) else { return body(context.store, stack) }
        defer { X509_STORE_free(store) }
        return body(store, others)
    }
}
