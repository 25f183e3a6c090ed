internal import CDirectOpenSSL

// A judge decides about trust, and about nothing else: the chain that it returns has to pass all checks of
// any other chain.

extension ChainCheck {
    /// The question to a judge about the chain.
    ///
    /// A name that the certificate lacks is refused by us, and only behind the judge's verdict, as behind
    /// OpenSSL's: an override that accepts other names must not accept other roots with them.
    ///
    /// - Parameter name: The name that the certificate proves; `nil` if it is an address, or not proved.
    func question(naming name: String?, mayFetch: Bool) -> ChainJudge.Question {
        ChainJudge.Question(
            certificates: CertificateChain(sent)?.certificates ?? [],
            name: name,
            mayFetch: mayFetch
        )
    }

    /// Verifies the server's certificate as a judge has decided, and leaves the result in the
    /// `X509_STORE_CTX`, too.
    ///
    /// - Parameter limit: The bytes of certificates that the server might have sent.
    func run(_ verdict: ChainJudge.Verdict, limit: Int) -> [CertificateFault] {
        switch verdict {
        case .refused(let code, let reason):
            // The reason may quote the certificate.
            let refusal = fault(code, because: printable(reason))
            let others = isThorough ? faultsOfFirstPath().filter { !$0.endsOpen } : []
            return concluded([refusal] + others)
        case .trusted(let chain): return concluded(run(along: chain, limit: limit))
        }
    }

    private func run(along chain: [[UInt8]], limit: Int) -> [CertificateFault] {
        guard let leaf = X509_STORE_CTX_get0_cert(check), chain.first == CertificateReader(leaf).der else {
            return [faultOfJudge("judged another certificate than the server's")]
        }
        // The root is the system's, and was not sent.
        guard chain.dropLast().reduce(0, { $0 + max($1.count, smallestCertificate) }) <= limit else {
            return [fault(X509_V_ERR_CERT_CHAIN_TOO_LONG), faultOfJudge("returned too long a chain")]
        }
        guard let others = try? chain.dropFirst().map({ try CertificateList(der: $0) }) else {
            return [faultOfJudge("returned a certificate that cannot be read")]
        }
        defer { withExtendedLifetime(others) {} }
        return run(along: [leaf] + others.compactMap(\.first))
    }

    /// Verifies this path, whose last certificate is the only root.
    private func run(along path: [OpaquePointer]) -> [CertificateFault] {
        guard let others = OPENSSL_sk_new_null() else { return [fault(X509_V_ERR_OUT_OF_MEM)] }
        defer { OPENSSL_sk_free(others) }
        guard let roots = OPENSSL_sk_new_null() else { return [fault(X509_V_ERR_OUT_OF_MEM)] }
        defer { OPENSSL_sk_free(roots) }
        for certificate in path.dropFirst().dropLast() {
            OPENSSL_sk_push(others, UnsafeRawPointer(certificate))
        }
        for root in path.suffix(1) { OPENSSL_sk_push(roots, UnsafeRawPointer(root)) }
        // Both stacks are borrowed, and only for this verification.
        X509_STORE_CTX_set0_untrusted(check, others)
        X509_STORE_CTX_set0_trusted_stack(check, roots)
        defer {
            X509_STORE_CTX_set0_untrusted(check, sent)
            X509_STORE_CTX_set0_trusted_stack(check, nil)
        }
        return verify(path)
    }

    private func verify(_ path: [OpaquePointer]) -> [CertificateFault] {
        // A user can trust a certificate that is no root.
        X509_STORE_CTX_set_flags(check, UInt(X509_V_FLAG_PARTIAL_CHAIN))
        ERR_set_mark()
        var faults = faultsOfFirstPath()
        if faults.isEmpty || isThorough, !follows(path) {
            faults.append(faultOfJudge("returned a chain that OpenSSL does not follow"))
        }
        if faults.isEmpty { ERR_pop_to_mark() } else { ERR_clear_last_mark() }
        return faults
    }

    /// Whether the verified chain is the judge's.
    private func follows(_ path: [OpaquePointer]) -> Bool {
        let chain = X509_STORE_CTX_get0_chain(check)
        let isSame = path.enumerated().allSatisfy { index, certificate in
            OPENSSL_sk_value(chain, Int32(index)).map { X509_cmp(OpaquePointer($0), certificate) == 0 }
                ?? false
        }
        return isSame && OPENSSL_sk_num(chain) == path.count
    }

    /// A fault that no override can accept: such a chain has not been judged.
    private func faultOfJudge(_ what: String) -> CertificateFault {
        fault(X509_V_ERR_UNSPECIFIED, because: "the system's trust store \(what)")
    }
}
