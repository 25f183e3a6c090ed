internal import CDirectOpenSSL

extension TLSConnection {
    /// What has come of the verification of a chain.
    enum ChainOutcome {
        case accepted
        case rejected(VerificationFailure)
        /// The verdict of a judge is needed, and not there yet.
        case undecided

        init(_ rejection: VerificationFailure?) {
            self = rejection.map { .rejected($0) } ?? .accepted
        }
    }

    /// Verifies a chain where this judge stands for the system's roots.
    func verify(_ chain: ChainCheck, with judge: ChainJudge) -> ChainOutcome {
        if let trial {
            guard let verdict = trial.verdict else { return .undecided }
            return ChainOutcome(chain.run(verdict, limit: context.settings.maximumCertificateBytes))
        }
        // Roots beside the system's are in the store.
        if context.settings.roots != .system, chain.run() == nil { return .accepted }
        trial = ChainTrial(chain.question(mayFetch: context.settings.systemFetchesIssuers), by: judge)
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
