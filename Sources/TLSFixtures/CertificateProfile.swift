/// Everything one can ask of a certificate, the odd things included.
///
/// The defaults make a good server leaf that is valid for decades; `TestAuthority.issue` makes it.
public struct CertificateProfile: Sendable {
    /// An entry of subjectAltName.
    public enum Name: Sendable, Equatable {
        /// A dNSName, written as it stands.
        case dns(String)
        /// A dNSName of any bytes, for example with a NUL in it.
        case dnsBytes([UInt8])
        /// An iPAddress.
        case ip(String)
        /// A uniformResourceIdentifier.
        case uri(String)
        /// An rfc822Name.
        case email(String)
    }

    /// What kind of key the certificate has.
    public enum Key: Hashable, Sendable {
        case p256
        case p384
        case ed25519
        /// Slow to make from 2048 bits on, so RSA keys of one size are shared in the process.
        case rsa(Int)
    }

    /// The digest the issuer signs with (Ed25519 issuers ignore it).
    public enum Digest: Sendable {
        case sha256
        case sha384
        case sha1
        case md5
    }

    /// What the key may be used for beyond TLS servers.
    public enum Purpose: String, Sendable {
        case serverAuth
        case clientAuth
        case codeSigning
        case emailProtection
        case ocspSigning = "OCSPSigning"
        /// Servers that may unlock strong ciphers in Microsoft's browsers of the 1990s.
        case microsoftServerGatedCrypto = "msSGC"
        /// The same for Netscape's.
        case netscapeServerGatedCrypto = "nsSGC"
    }

    /// From when to when, in seconds since 1970.
    public struct Validity: Sendable, Equatable {
        /// The first valid second.
        public var notBefore: Int64
        /// The last valid second.
        public var notAfter: Int64

        /// Valid between these moments (seconds since 1970).
        public init(notBefore: Int64, notAfter: Int64) {
            self.notBefore = notBefore
            self.notAfter = notAfter
        }

        /// 2020 to 2100: what matters here never expires under a test.
        public static let decades = Validity(notBefore: 1_577_836_800, notAfter: 4_102_444_800)
        /// 2020 to 2021.
        public static let expired = Validity(notBefore: 1_577_836_800, notAfter: 1_609_459_200)
        /// 2090 to 2100.
        public static let notYet = Validity(notBefore: 3_786_912_000, notAfter: 4_102_444_800)
    }

    /// An extension in raw form.
    public struct Extension: Sendable, Equatable {
        /// Its object identifier in dotted form.
        public var identifier: String
        /// Whether a verifier that does not know it must refuse.
        public var isCritical: Bool
        /// The DER inside the octet string.
        public var der: [UInt8]

        /// An extension with this DER inside.
        public init(_ identifier: String, critical: Bool = false, der: [UInt8]) {
            self.identifier = identifier
            self.isCritical = critical
            self.der = der
        }
    }

    /// The subject's common name; nil leaves the subject empty.
    public var commonName: String?
    /// subjectAltName; empty leaves the extension out.
    public var names: [Name]
    /// The validity.
    public var validity = Validity.decades
    /// The kind of key.
    public var key = Key.p256
    /// Certifies this certificate's key instead of a new one: a renewal, or a cross-signed authority.
    public var existingKey: FixtureCertificate?
    /// The issuer's digest.
    public var digest = Digest.sha256
    /// basicConstraints CA; nil leaves the extension out.
    public var isAuthority: Bool? = false
    /// basicConstraints pathLenConstraint, for authorities.
    public var pathLength: Int?
    /// keyUsage in OpenSSL's words, for example "critical,digitalSignature"; nil leaves it out.
    public var keyUsage: String? = "critical,digitalSignature"
    /// extKeyUsage; empty leaves it out.
    public var purposes: [Purpose] = [.serverAuth]
    /// nameConstraints in OpenSSL's words, for example "permitted;DNS:example.test"; nil leaves it out.
    public var nameConstraints: String?
    /// Where the issuer's certificate is said to be (authorityInfoAccess caIssuers).
    public var issuerURL: String?
    /// Where the issuer's revocation list is said to be.
    public var revocationListURL: String?
    /// Whether a stapled OCSP response is demanded (RFC 7633).
    public var mustStaple = false
    /// Whether it is signed by its own key instead of the issuer's.
    public var isSelfSigned = false
    /// The serial number; nil lets the authority count.
    public var serial: UInt64?
    /// Further extensions.
    public var extensions: [Extension] = []

    /// A good server certificate for these names; the first text name is the common name, too.
    public init(_ names: [Name], commonName: String? = nil) {
        self.names = names
        self.commonName = commonName
    }

    /// A good server certificate for these host names and IP addresses.
    public init(for names: String...) {
        self.init(names.map { isIPAddress($0) ? .ip($0) : .dns($0) }, commonName: names.first)
    }

    /// A certificate for a client of that name.
    public static func client(_ commonName: String) -> CertificateProfile {
        var profile = CertificateProfile([], commonName: commonName)
        profile.purposes = [.clientAuth]
        return profile
    }

    /// A certification authority of that name.
    public static func authority(_ commonName: String, pathLength: Int? = nil) -> CertificateProfile {
        var profile = CertificateProfile([], commonName: commonName)
        profile.isAuthority = true
        profile.pathLength = pathLength
        profile.keyUsage = "critical,keyCertSign,cRLSign"
        profile.purposes = []
        return profile
    }
}
