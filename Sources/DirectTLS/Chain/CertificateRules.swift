/// Which rules the certificates of a server must keep, besides those that OpenSSL always checks.
///
/// docs/Certificates.md lists the rules, and says for each why it is on or off by default.
public enum CertificateRules: Hashable, Sendable {
    /// The rules that hardly a chain in use breaks, of public and private authorities alike; keys and
    /// signatures of at least 112 bits of security.
    case widelyKept
    /// The profile of the public web in full: RFC 5280 by the letter and the CA/Browser Forum's Baseline
    /// Requirements. The certificates of private authorities often break it, and so do some public roots.
    case publicWeb
    /// None, and the security level that OpenSSL's configuration says, whatever that is.
    case insecureOnlyWhatOpenSSLChecks

    /// OpenSSL's security level (`SSL_CTX_set_security_level`) must not be lower. 2 stands for 112 bits: RSA keys
    /// of 2048 bits, curves of 224, no SHA-1.
    var minimumSecurityLevel: Int32 {
        self == .insecureOnlyWhatOpenSSLChecks ? 0 : 2
    }

    var rules: [ChainRule] {
        switch self {
        case .widelyKept: ChainRule.widelyKept
        case .publicWeb: ChainRule.publicWeb
        case .insecureOnlyWhatOpenSSLChecks: []
        }
    }
}
