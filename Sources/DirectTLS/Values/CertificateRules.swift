/// The rules that a server's certificates must follow, in addition to those that OpenSSL always checks.
///
/// docs/TLS.md lists the rules, and says for each why it is on or off by default.
public enum CertificateRules: Hashable, Sendable {
    /// The rules that hardly any chain in use breaks, of public and private authorities alike; keys and
    /// signatures with at least 112 bits of security.
    case standard
    /// The full profile of the public web: RFC 5280 to the letter, and the CA/Browser Forum's Baseline
    /// Requirements. Certificates of private authorities often break it, and so do some public roots.
    case webPKI

    /// The lowest OpenSSL security level (`SSL_CTX_set_security_level`). Level 2 means 112 bits: RSA keys of
    /// 2048 bits, curves of 224, no SHA-1.
    static let lowestSecurityLevel: Int32 = 2
}
