internal import CDirectOpenSSL

extension TLSConnection {
    /// The result of the verification of a chain.
    enum ChainOutcome {
        case accepted
        /// For these faults, of which there is at least one.
        case rejected([CertificateFault])
        /// The verdict of a judge is needed, and not there yet.
        case undecided

        init(_ faults: [CertificateFault]) {
            self = faults.isEmpty ? .accepted : .rejected(faults)
        }
    }

    /// Verifies the server's chain: for the identity, or for the public name if the server has refused the
    /// client hello that was encrypted for another key.
    func verify(_ check: OpaquePointer) -> ChainOutcome {
        if let name = unansweredPublicName { return verify(check, for: name) }
        let chain = ChainCheck(
            check,
            rules: context.settings.certificateRules,
            expected: identity.text,
            pins: pins,
            isThorough: context.settings.insecureOverride != nil
        )
        return verify(chain, naming: identity.kind == .name ? identity.text : nil) {
            identity.proof(in: $0) != nil
        }
    }

    /// Verifies a chain, with the judge if one stands for the system's roots.
    ///
    /// - Parameters:
    ///   - name: The name that the server has to prove; `nil` if that is an address.
    ///   - isProved: Whether a certificate has the name.
    func verify(
        _ chain: ChainCheck,
        naming name: String?,
        isProved: (OpaquePointer) -> Bool
    ) -> ChainOutcome {
        guard let judge = context.judge else { return ChainOutcome(chain.run()) }
        if let trial {
            guard let verdict = trial.verdict else { return .undecided }
            return ChainOutcome(chain.run(verdict, limit: context.settings.maximumCertificateBytes))
        }
        // Roots beside the system's are in the store. The judge can cure no fault of the certificate's own;
        // that it has signed itself is none where the user trusts it.
        if context.settings.roots != .system {
            let faults = chain.run()
            guard faults.contains(where: \.isCurable) else { return ChainOutcome(faults) }
        }
        let mayFetch = context.settings.systemFetchesIssuers
        let isNamed = X509_STORE_CTX_get0_cert(chain.check).map(isProved) ?? false
        trial = ChainTrial(chain.question(naming: isNamed ? name : nil, mayFetch: mayFetch), by: judge)
        return .undecided
    }

    /// Calls `body` with the roots that a responder's certificate may lead to: those of the context, or the
    /// one of the chain that the judge trusts.
    func withRoots<Result>(_ body: (OpaquePointer?) -> Result) -> Result {
        guard trial != nil, let chain = SSL_get0_verified_chain(ssl),
            let root = OPENSSL_sk_value(chain, OPENSSL_sk_num(chain) - 1)
        else { return body(SSL_CTX_get_cert_store(context.raw)) }
        let store = try? TrustStore.anchored(at: OpaquePointer(root))
        defer { X509_STORE_free(store) }
        return body(store)
    }
}
