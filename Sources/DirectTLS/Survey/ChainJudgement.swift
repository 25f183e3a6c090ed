internal import CDirectOpenSSL

/// All faults of a certificate chain, without its name.
package struct ChainJudgement: Sendable {
    /// The certificates from the server's own up to the root, or to the last that is known: those that
    /// OpenSSL verified as each other's issuers, whatever else was sent. Empty if it built no chain.
    package let path: [ServedCertificate]
    /// The faults. Empty if a client would trust the chain.
    package let faults: [CertificateFault]
    /// Whether no root that is trusted ends the path.
    private let isOpen: Bool

    /// The subject of the root at the end of the chain; `nil` if there is none.
    package var anchor: NameText? { isOpen ? nil : path.last?.subject }
    /// The last certificate of the path, if no root followed.
    package var top: ServedCertificate? { isOpen ? path.last : nil }
    /// Whether a client would trust the chain.
    package var isTrusted: Bool { faults.isEmpty }

    /// The part of the path that is the server's to renew: without a root, and no further than the signatures
    /// hold.
    package var links: ArraySlice<ServedCertificate> {
        let end = path.count > 1 && (!isOpen || path.last?.isSelfIssued == true) ? path.count - 1 : path.count
        let broken = faults.first { $0.kind == .badSignature }.map { $0.depth + 1 }
        return path.prefix(min(end, broken ?? end))
    }

    private init(path: [ServedCertificate], faults: [CertificateFault], isOpen: Bool) {
        (self.path, self.faults, self.isOpen) = (path, faults, isOpen)
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
        self.init(path: [], faults: [fault], isOpen: false)
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
                let path = CheckedCertificate.all(of: X509_STORE_CTX_get0_chain($0))
                return ChainJudgement(
                    path: path.map { ServedCertificate($0.raw) },
                    faults: faults,
                    isOpen: faults.contains(where: \.endsOpen)
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
        return ChainJudgement(path: path, faults: [fault] + others, isOpen: isOpen)
    }
}
