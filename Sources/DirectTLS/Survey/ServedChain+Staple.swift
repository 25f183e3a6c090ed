internal import CDirectOpenSSL

extension ServedChain {
    /// Checks an OCSP response about the server's own certificate.
    package func judge(staple response: [UInt8]) -> StapleJudgement? {
        guard let leaf else { return nil }
        return withTrust { roots, others in
            guard let chain = completedChain(leaf, roots: roots, others: others) else { return nil }
            defer { freeCertificates(chain) }
            return StapleJudgement(response, leaf: leaf, chain: chain, store: roots)
        }
    }

    /// The certificates that were sent, followed by those of the path to a root. Owned by the caller.
    func completedChain(
        _ leaf: OpaquePointer,
        roots: OpaquePointer,
        others: OpaquePointer
    ) -> OpaquePointer? {
        guard let all = X509_chain_up_ref(stack) else { return nil }
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        guard let check = X509_STORE_CTX_new() else { return all }
        defer { X509_STORE_CTX_free(check) }
        guard X509_STORE_CTX_init(check, roots, leaf, others) == 1 else { return all }
        _ = X509_verify_cert(check)
        // A chain that was not verified to its end may still contain the issuer of the leaf.
        guard let path = X509_STORE_CTX_get0_chain(check) else { return all }
        for index in 0..<OPENSSL_sk_num(path) {
            guard let certificate = OPENSSL_sk_value(path, index).map({ OpaquePointer($0) }),
                X509_up_ref(certificate) == 1
            else { continue }
            if OPENSSL_sk_push(all, UnsafeRawPointer(certificate)) <= 0 { X509_free(certificate) }
        }
        return all
    }
}
