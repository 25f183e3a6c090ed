internal import CDirectOpenSSL

/// One rule for the certificates of a chain that OpenSSL has accepted.
struct ChainRule: Sendable {
    /// OpenSSL's code for the fault, if it has one.
    let code: Int32
    /// The violation, with the section that states the rule.
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

    /// Public authorities follow these rules because they must. Private ones do because other clients insist,
    /// or because they never had a reason to break them.
    static let standard = [
        noConstraintsBelowAuthorities,
        noEmptyConstraints,
        noWildcardAcrossConstraints,
        onlyCurrentKeyKinds,
        noExtensionTwice,
        decodableInformationAccess,
        purposeIsServers,
        demandedPolicyIsThere,
    ]

    /// Used together with OpenSSL's own strict checks (`X509_V_FLAG_X509_STRICT`).
    static let webPKI =
        standard + [
            caHasBasicConstraints,
            leafIsNotCA,
            rootsPointToThemselves,
            rootHasNoEKU,
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

/// A violation of one of our rules.
struct ChainFault {
    let rule: ChainRule
    let certificate: CheckedCertificate
}

extension [ChainRule] {
    /// Returns the first fault in the chain, from the server's certificate upwards. Borrows the stack.
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
