/// The contents of a certificate, including unusual and invalid ones.
///
/// The defaults describe a valid server certificate that lasts for decades. ``TestAuthority/issue(_:)``
/// creates it.
public struct CertificateProfile: Sendable {
    /// An entry of subjectAltName.
    public enum Name: Sendable, Equatable {
        /// A dNSName, encoded as given.
        case dns(String)
        /// A dNSName of arbitrary bytes, for example with a NUL.
        case dnsBytes([UInt8])
        /// An iPAddress, given as text.
        case ip(String)
        /// A uniformResourceIdentifier.
        case uri(String)
        /// An rfc822Name.
        case email(String)
    }

    /// The type of a certificate's key.
    public enum Key: Hashable, Sendable {
        /// ECDSA with P-256.
        case p256
        /// ECDSA with P-384.
        case p384
        /// Ed25519.
        case ed25519
        /// RSA with this many bits. Generating one is slow from 2048 bits on, so all RSA keys of one size in
        /// a process are the same key.
        case rsa(Int)
    }

    /// The digest of the issuer's signature. Ed25519 issuers ignore it.
    public enum Digest: Sendable {
        /// SHA-256.
        case sha256
        /// SHA-384.
        case sha384
        /// SHA-512.
        case sha512
        /// SHA-1.
        case sha1
        /// MD5.
        case md5
    }

    /// An entry of extKeyUsage.
    public enum Purpose: String, Sendable {
        /// TLS servers.
        case serverAuth
        /// TLS clients.
        case clientAuth
        /// Signing code.
        case codeSigning
        /// Protecting e-mail.
        case emailProtection
        /// Signing OCSP responses.
        case ocspSigning = "OCSPSigning"
        /// Servers for which Microsoft's browsers of the 1990s could enable strong ciphers.
        case microsoftServerGatedCrypto = "msSGC"
        /// The same for Netscape's browsers.
        case netscapeServerGatedCrypto = "nsSGC"
    }

    /// A validity period, in seconds since 1970.
    public struct Validity: Sendable, Equatable {
        /// The first second in which the certificate is valid.
        public var notBefore: Int64
        /// The last second in which the certificate is valid.
        public var notAfter: Int64

        /// Creates a validity period from two times in seconds since 1970.
        public init(notBefore: Int64, notAfter: Int64) {
            self.notBefore = notBefore
            self.notAfter = notAfter
        }

        /// 2020 to 2100, so that the certificate does not expire while the tests are in use.
        public static let decades = Validity(notBefore: 1_577_836_800, notAfter: 4_102_444_800)
        /// 2020 to 2021, in the past.
        public static let expired = Validity(notBefore: 1_577_836_800, notAfter: 1_609_459_200)
        /// 2090 to 2100, in the future.
        public static let notYet = Validity(notBefore: 3_786_912_000, notAfter: 4_102_444_800)
    }

    /// An extension given as DER.
    public struct Extension: Sendable, Equatable {
        /// The object identifier in dotted form.
        public var identifier: String
        /// Whether a verifier that does not know the extension must refuse the certificate.
        public var isCritical: Bool
        /// The DER inside the octet string (extnValue).
        public var der: [UInt8]

        /// Creates an extension with this DER as its value.
        public init(_ identifier: String, critical: Bool = false, der: [UInt8]) {
            self.identifier = identifier
            self.isCritical = critical
            self.der = der
        }
    }

    /// The subject's common name. `nil` leaves the subject empty.
    public var commonName: String?
    /// The subject's organization, before the common name.
    package var organization: String?
    /// The entries of subjectAltName. If empty, the extension is omitted.
    public var names: [Name]
    /// The validity period.
    public var validity = Validity.decades
    /// The type of key to generate.
    public var key = Key.p256
    /// Use the key of this certificate instead of a new one, for a renewal or a cross-signed authority.
    public var existingKey: FixtureCertificate?
    /// The digest of the issuer's signature.
    public var digest = Digest.sha256
    /// The CA flag of basicConstraints. `nil` omits the extension.
    public var isAuthority: Bool? = false
    /// pathLenConstraint of basicConstraints, for authorities.
    public var pathLength: Int?
    /// keyUsage in OpenSSL's syntax, for example "critical,digitalSignature". `nil` omits the extension.
    public var keyUsage: String? = "critical,digitalSignature"
    /// extKeyUsage. If empty, the extension is omitted.
    public var purposes: [Purpose] = [.serverAuth]
    /// nameConstraints in OpenSSL's syntax, for example "permitted;DNS:example.test". `nil` omits the
    /// extension.
    public var nameConstraints: String?
    /// The URL of the issuer's certificate (authorityInfoAccess, caIssuers).
    package var issuerURL: String?
    /// The URL of the issuer's revocation list (cRLDistributionPoints).
    package var revocationListURL: String?
    /// Whether the certificate requires a stapled OCSP response (RFC 7633).
    public var mustStaple = false
    /// Whether the certificate is signed with its own key instead of the issuer's.
    public var isSelfSigned = false
    /// The serial number. `nil` uses the authority's next one.
    public var serial: UInt64?
    /// Further extensions.
    public var extensions: [Extension] = []

    /// Creates a profile for a valid server certificate.
    ///
    /// - Parameter names: The entries of subjectAltName.
    /// - Parameter commonName: The subject's common name, or `nil` for an empty subject.
    public init(_ names: [Name], commonName: String? = nil) {
        self.names = names
        self.commonName = commonName
    }

    /// Creates a profile for a valid server certificate with these host names and IP addresses. The first is
    /// also the common name.
    public init(for names: String...) {
        self.init(names.map { isIPAddress($0) ? .ip($0) : .dns($0) }, commonName: names.first)
    }

    /// Returns a profile for a client certificate with this common name.
    public static func client(_ commonName: String) -> CertificateProfile {
        var profile = CertificateProfile([], commonName: commonName)
        profile.purposes = [.clientAuth]
        return profile
    }

    /// Returns a profile for a certification authority with this common name.
    public static func authority(_ commonName: String, pathLength: Int? = nil) -> CertificateProfile {
        var profile = CertificateProfile([], commonName: commonName)
        profile.isAuthority = true
        profile.pathLength = pathLength
        profile.keyUsage = "critical,keyCertSign,cRLSign"
        profile.purposes = []
        return profile
    }
}
