/// Configures TLS. A value type, so that equal settings share one context and one connection pool.
public struct TLSSettings: Hashable, Sendable {
    /// The trusted roots.
    public var roots = TrustRoots.system

    /// The certificate to send if a server asks for one.
    public var clientIdentity: ClientIdentity?

    /// The oldest TLS version to accept.
    public var minimumVersion = TLSVersion.tls12

    /// The newest TLS version to offer.
    public var maximumVersion = TLSVersion.tls13

    /// The rules that a server's certificates must follow, in addition to those that OpenSSL always checks.
    public var certificateRules = CertificateRules.standard

    /// The pinned keys of servers. Empty by default.
    public var pins = KeyPins()

    /// Whether later connections to the same name and port may resume a session, which skips the full handshake.
    public var resumesSessions = true

    /// Creates the default settings: the system's roots, ``CertificateRules/standard``, TLS 1.2 and 1.3, no client
    /// certificate.
    public init() {}
}
