internal import CDirectOpenSSL

/// All faults of a certificate chain, without its name.
package struct ChainJudgement: Sendable {
    /// The subject of the root at the end of the chain; `nil` if there is none.
    package let anchor: NameText?
    /// The faults. Empty if a client would trust the chain.
    package let faults: [CertificateFault]
    /// The last of the certificates that were sent and form a chain, if no root followed.
    package let top: ServedCertificate?

    /// Whether a client would trust the chain.
    package var isTrusted: Bool { faults.isEmpty }

    private init(anchor: NameText?, faults: [CertificateFault], top: ServedCertificate? = nil) {
        self.anchor = anchor
        self.faults = faults
        self.top = top
    }

    /// A chain that could not be judged.
    init(unjudged reason: String) {
        let fault = CertificateFault(
            code: Int(X509_V_ERR_UNSPECIFIED),
            reason: reason,
            depth: 0,
            subject: "",
            expected: "",
            served: []
        )
        self.init(anchor: nil, faults: [fault])
    }

    /// Verifies the chain like a client, and to its end. Borrows the pointers.
    ///
    /// - Parameters:
    ///   - sent: The certificates that may lead to a root.
    ///   - roots: A store of the trusted roots.
    init(
        leaf: OpaquePointer,
        sent: OpaquePointer,
        roots: OpaquePointer,
        context: SurveyContext,
        time: Int?
    ) {
        do throws(TLSError) {
            self = try withCheck(of: leaf, sent: sent, roots: roots, context: context.raw, time: time) {
                // The name is not checked here: `ServedChain.match` does that.
                let faults = ChainCheck($0, rules: context.rules, expected: "", isThorough: true).run()
                let chain = X509_STORE_CTX_get0_chain($0)
                let end = OPENSSL_sk_value(chain, OPENSSL_sk_num(chain) - 1).map { OpaquePointer($0) }
                let isOpen = faults.contains(where: \.endsOpen)
                return ChainJudgement(
                    anchor: isOpen ? nil : end.map(NameText.init(subjectOf:)),
                    faults: faults,
                    top: isOpen ? end.map { ServedCertificate($0) } : nil
                )
            }
        } catch {
            self.init(unjudged: "\(error)")
        }
    }
}

extension ChainJudgement {
    /// The same, in which the judge's reason takes the place of the fault that no root was found.
    func explained(by trial: ChainTrial?) -> ChainJudgement {
        switch trial?.verdict {
        case .refused(let code, let reason)?: explained(code: code, reason: printable(reason))
        case .trusted?: self
        case nil:
            trial == nil
                ? self
                : explained(code: X509_V_ERR_UNSPECIFIED, reason: "the system's trust store did not answer")
        }
    }

    private func explained(code: Int32, reason: String) -> ChainJudgement {
        // OpenSSL reports more than one fault for a missing root.
        guard let open = faults.first(where: \.endsOpen) else { return self }
        let others = faults.filter { !$0.endsOpen }
        let fault = CertificateFault(
            code: Int(code),
            reason: reason,
            depth: open.depth,
            subject: open.subject,
            expected: open.expected,
            served: open.served
        )
        return ChainJudgement(anchor: anchor, faults: [fault] + others, top: top)
    }
}
