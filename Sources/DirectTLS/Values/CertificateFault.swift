internal import CDirectOpenSSL

/// The fault that certificate verification found.
public struct CertificateFault: Sendable, Hashable {
    /// OpenSSL's `X509_V_ERR_…` number, for logs and reports. Decisions are made by ``kind``.
    package let code: Int
    /// OpenSSL's text for the fault, or that of the violated rule.
    public let reason: String
    /// The position in the chain of the certificate at fault; 0 is the server's own.
    public let depth: Int
    /// The subject of the certificate at fault.
    public let subject: String
    /// The name or address that the server's own certificate had to prove.
    public let expected: String
    /// The first few names and addresses in the server's own certificate.
    public let served: [String]

    /// The kind of fault.
    public var kind: Kind { Kind(code: code) }

    /// Whether there is no trusted root after this fault.
    package var endsOpen: Bool {
        switch kind {
        case .unknownIssuer, .selfSigned, .untrustedRoot, .chainTooLong: true
        default: false
        }
    }

    /// Whether another issuer or root may cure it: whatever is no matter of the server's own certificate
    /// alone. Its revocation is one of the issuer too: OpenSSL looks for the list of the first that matches
    /// by name, before it checks a signature.
    var isCurable: Bool {
        switch kind {
        case .expired, .notYetValid, .nameMismatch, .wrongPurpose, .weakKey, .weakSignature,
            .unknownCriticalExtension, .distrusted:
            depth > 0
        default: true
        }
    }

    /// Whether it has a name, so that an ``InsecureCertificateOverride`` can know what it accepts.
    var isNamed: Bool { if case .other = kind { false } else { true } }
}

extension CertificateFault {
    /// The kinds of faults.
    @nonexhaustive
    public enum Kind: Hashable, Sendable {
        /// The validity period is over.
        case expired
        /// The validity period has not begun.
        case notYetValid
        /// The server's certificate is self-signed and not trusted.
        case selfSigned
        /// The chain ends at a root that is not trusted.
        case untrustedRoot
        /// The chain ends before a root: the server did not send an intermediate, or the issuer is not known.
        case unknownIssuer
        /// The certificate is for another name or address.
        case nameMismatch
        /// The signature of a certificate is wrong, or that of a revocation list, or its issuer's chain.
        case badSignature
        /// The certificate has been revoked.
        case revoked
        /// The settings have no revocation list of the issuer.
        case noRevocationList
        /// The revocation list of the issuer is not valid now, or cannot be used.
        case unusableRevocationList
        /// The issuer is not an authority: its basicConstraints say otherwise or are missing.
        case issuerIsNotCA
        /// The keyUsage of the issuer does not permit signing certificates.
        case issuerMayNotSign
        /// The certificate is not for TLS servers: its extKeyUsage lacks serverAuth.
        case wrongPurpose
        /// A name is outside the name constraints of an issuer, or these cannot be applied.
        case outsideNameConstraints
        /// There are more intermediates than an issuer permits.
        case pathLengthExceeded
        /// There are more certificates in the chain than the client permits.
        case chainTooLong
        /// A critical extension is unknown.
        case unknownCriticalExtension
        /// An issuer requires a policy that the chain does not have.
        case noValidPolicy
        /// The key is too weak.
        case weakKey
        /// The algorithm of the signature is too weak.
        case weakSignature
        /// The system's trust store refuses the certificate, or marks it as not to be trusted.
        case distrusted
        /// One of the rules of ``CertificateRules`` is broken; ``CertificateFault/reason`` tells which one.
        case ruleViolated
        /// Another fault, with OpenSSL's `X509_V_ERR_…` number. An ``InsecureCertificateOverride`` cannot
        /// accept it.
        case other(code: Int)

        /// The only place that knows OpenSSL's numbers of faults.
        init(code: Int) {
            self =
                switch Int32(clamping: code) {
                case X509_V_ERR_CERT_HAS_EXPIRED: .expired
                case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid
                case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: .selfSigned
                case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN: .untrustedRoot
                case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
                    X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
                    .unknownIssuer
                case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: .nameMismatch
                case X509_V_ERR_CERT_SIGNATURE_FAILURE, X509_V_ERR_CRL_SIGNATURE_FAILURE,
                    X509_V_ERR_UNABLE_TO_DECRYPT_CRL_SIGNATURE, X509_V_ERR_CRL_PATH_VALIDATION_ERROR:
                    .badSignature
                case X509_V_ERR_CERT_REVOKED: .revoked
                case X509_V_ERR_UNABLE_TO_GET_CRL, X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER: .noRevocationList
                case X509_V_ERR_CRL_HAS_EXPIRED, X509_V_ERR_CRL_NOT_YET_VALID,
                    X509_V_ERR_ERROR_IN_CRL_LAST_UPDATE_FIELD, X509_V_ERR_ERROR_IN_CRL_NEXT_UPDATE_FIELD,
                    X509_V_ERR_DIFFERENT_CRL_SCOPE, X509_V_ERR_UNHANDLED_CRITICAL_CRL_EXTENSION:
                    .unusableRevocationList
                case X509_V_ERR_INVALID_CA: .issuerIsNotCA
                case X509_V_ERR_KEYUSAGE_NO_CERTSIGN: .issuerMayNotSign
                case X509_V_ERR_INVALID_PURPOSE: .wrongPurpose
                case X509_V_ERR_PERMITTED_VIOLATION, X509_V_ERR_EXCLUDED_VIOLATION: .outsideNameConstraints
                case X509_V_ERR_CERT_REJECTED, X509_V_ERR_CERT_UNTRUSTED: .distrusted
                case X509_V_ERR_PATH_LENGTH_EXCEEDED: .pathLengthExceeded
                case X509_V_ERR_CERT_CHAIN_TOO_LONG: .chainTooLong
                case X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION: .unknownCriticalExtension
                case X509_V_ERR_NO_EXPLICIT_POLICY: .noValidPolicy
                case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL: .weakKey
                case X509_V_ERR_CA_MD_TOO_WEAK: .weakSignature
                case X509_V_ERR_APPLICATION_VERIFICATION, strictCodes: .ruleViolated
                default: .other(code: code)
                }
        }
    }
}

extension CertificateFault: CustomStringConvertible {
    /// The reason, the certificate at fault and the names it has, in one line.
    public var description: String {
        "\(reason) (X509 \(code) at depth \(depth), \(printable(subject))), "
            + "expected \(printable(expected)), served \(listed(served))"
    }
}

/// The faults that only `X509_V_FLAG_X509_STRICT` looks for, which are next to each other.
private let strictCodes = X509_V_ERR_PATHLEN_INVALID_FOR_NON_CA...X509_V_ERR_EC_KEY_EXPLICIT_PARAMS
