/// Configures TLS. A value type, so that equal settings share one context and one connection pool.
public struct TLSSettings: Hashable, Sendable {
    /// The trusted roots.
    public var roots = TrustRoots.system

    /// Whether the system's trust store may fetch certificates that a server has not sent, while it judges
    /// the chain.
    ///
    /// Only Apple's systems can: they ask the address that the certificate names, by the system's own
    /// resolver and connections, without the limits of this client. No other system has a use for it.
    public var systemFetchesIssuers = false

    /// The certificate to send if a server asks for one.
    public var clientIdentity: ClientIdentity?

    /// The oldest TLS version to accept. Until it is set, OpenSSL's configuration file may demand a newer
    /// one.
    public var minimumVersion = TLSVersion.tls12 {
        didSet { choosesMinimum = true }
    }

    /// The newest TLS version to offer. Until it is set, OpenSSL's configuration file may forbid it.
    public var maximumVersion = TLSVersion.tls13 {
        didSet { choosesMaximum = true }
    }

    /// Whether the program has set the version, which then holds whatever the administrator demands.
    private(set) var choosesMinimum = false, choosesMaximum = false

    /// The rules that a server's certificates must follow, in addition to those that OpenSSL always checks.
    public var certificateRules = CertificateRules.standard

    /// The bytes of certificates that a server may send. Each counts as 2 KiB at least, so by default there
    /// may be 50 of them.
    ///
    /// A handshake with more ends with ``TLSError/certificatesTooLarge(limit:)`` before any of them is read:
    /// they cost memory and processor time before anything is verified. A certificate with 10,000 names has
    /// 300 KiB.
    public var maximumCertificateBytes = 100 * 1024

    /// The pinned keys of servers. Empty by default.
    public var pins = KeyPins()

    /// Checks servers that have passed all other checks. `nil`, the default, checks nothing more.
    public var verifier: CertificateVerifier?

    /// Accepts servers whose certificate was rejected. `nil`, the default, accepts none.
    public var insecureOverride: InsecureCertificateOverride?

    /// Lists of revoked certificates. `nil`, the default, checks against none.
    public var revocationLists: RevocationLists?

    /// Whether servers are asked for an OCSP staple, and what it has to say.
    public var stapling = OCSPStapling.ignored

    /// The cipher suites to offer, the preferred one first, by their IANA names, such as
    /// `TLS_AES_256_GCM_SHA384`. A version of TLS for which none is named is not offered. `nil`, the default,
    /// offers OpenSSL's.
    public var cipherSuites: [String]?

    /// The groups for the key exchange, the preferred one first, such as `X25519` and `P-256`. `nil`, the
    /// default, offers OpenSSL's.
    public var groups: [String]?

    /// Receives the secrets of all connections, for debugging. `nil`, the default, logs none.
    public var insecureKeyLog: InsecureKeyLog?

    /// Whether later connections to the same name and port may resume a session, which skips the full
    /// handshake.
    public var resumesSessions = true

    /// The judge that stands for the system's roots; `nil` for the system's own, if it has one.
    var judge: ChainJudge?

    /// Creates the default settings: the system's roots, ``CertificateRules/standard``, TLS 1.2 and 1.3, no
    /// client certificate.
    public init() {}
}
