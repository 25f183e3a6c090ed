internal import CDirectOpenSSL

/// One rule for the certificates of a chain that OpenSSL has found to be good.
struct ChainRule: Sendable {
    /// OpenSSL's code for such a fault, where it has one.
    let code: Int32
    /// What a certificate does that breaks the rule, and where the rule is written.
    let fault: String
    /// Whether the certificate breaks the rule.
    let isBroken: @Sendable (CheckedCertificate) -> Bool

    init(
        _ fault: String,
        code: Int32 = X509_V_ERR_APPLICATION_VERIFICATION,
        _ isBroken: @escaping @Sendable (CheckedCertificate) -> Bool
    ) {
        self.code = code
        self.fault = fault
        self.isBroken = isBroken
    }

    /// Kept by public authorities because they must, and by private ones because other clients insist, or because
    /// nobody ever had a reason to break them.
    static let widelyKept = [
        noConstraintsBelowAuthorities,
        noEmptyConstraints,
        noWildcardAcrossConstraints,
        onlyCurrentKeyKinds,
        noExtensionTwice,
        decodableInformationAccess,
        purposeIsServers,
        demandedPolicyIsThere,
    ]

    /// With them come OpenSSL's own strict checks (`X509_V_FLAG_X509_STRICT`).
    static let publicWeb =
        widelyKept + [
            authoritiesSaySo,
            serversAreNoAuthorities,
            rootsPointToThemselves,
            rootsHaveNoPurpose,
            serversHaveServerPurpose,
            positiveSerialNumbers,
            onlyHostNames,
            commonNameIsAlternativeName,
            alternativeNamesCriticality,
            plainNameConstraints,
            wholeByteKeys,
            onlyCurvesOfTheWeb,
            rightCriticality,
        ]
}

/// A fault in a chain that a rule of ours found.
struct ChainFault {
    let rule: ChainRule
    let certificate: CheckedCertificate
}

extension [ChainRule] {
    /// The first fault in the chain, from the server's certificate upwards. Borrows the stack.
    func firstFault(in chain: OpaquePointer) -> ChainFault? {
        guard !isEmpty else { return nil }
        for certificate in CheckedCertificate.all(of: chain) {
            for rule in self where rule.isBroken(certificate) {
                return ChainFault(rule: rule, certificate: certificate)
            }
        }
        return nil
    }
}
