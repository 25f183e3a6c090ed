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

extension CertificateRules {
    var rules: [ChainRule] {
        switch self {
        case .standard: ChainRule.standard
        case .webPKI: ChainRule.webPKI
        }
    }

    /// Makes OpenSSL demand its part of them in a context.
    func restrict(_ context: OpaquePointer) {
        // The level applies to curves, ciphers and signatures as well as to the chain. The administrator may
        // demand a higher one.
        SSL_CTX_set_security_level(
            context,
            max(Self.lowestSecurityLevel, SSL_CTX_get_security_level(context))
        )
        guard self == .webPKI else { return }
        X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), UInt(X509_V_FLAG_X509_STRICT))
    }
}

/// A violation of one of our rules.
struct RuleViolation {
    let rule: ChainRule
    let certificate: CheckedCertificate
}

extension [ChainRule] {
    /// Returns the violations in the chain, from the server's certificate upwards: the first one, or all of
    /// them. Borrows the stack.
    ///
    /// - Parameter isOpen: Whether the chain ends before a trusted root.
    func violations(in chain: OpaquePointer, isOpen: Bool = false, isThorough: Bool = false)
        -> [RuleViolation]
    {
        var violations: [RuleViolation] = []
        for certificate in CheckedCertificate.all(of: chain, isOpen: isOpen) {
            for rule in self where rule.isBroken(certificate) {
                violations.append(RuleViolation(rule: rule, certificate: certificate))
                if !isThorough { return violations }
            }
        }
        return violations
    }
}
