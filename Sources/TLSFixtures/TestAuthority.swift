internal import CDirectOpenSSL

/// A certification authority for tests, created in the process.
public final class TestAuthority: Sendable {
    /// The authority's certificate and key.
    public let certificate: FixtureCertificate
    /// The certificates sent with each leaf: this authority's and those above it, without the root.
    private let chain: [FixtureCertificate]
    private let cache: IssuedCertificates

    /// Creates a root authority.
    public init(_ commonName: String = "Fixture Root", key: CertificateProfile.Key = .p256) {
        var profile = CertificateProfile.authority(commonName)
        profile.key = key
        do {
            certificate = try CertificateMaker.make(profile, serial: 1, issuer: nil, chain: [])
        } catch {
            // No input comes from outside, so only a broken OpenSSL can fail here.
            fatalError("OpenSSL makes no certificates: \(error)")
        }
        chain = []
        cache = IssuedCertificates()
    }

    /// Creates a root authority from a profile. ``CertificateProfile/authority(_:pathLength:)`` is a good
    /// start.
    public init(_ profile: CertificateProfile) throws(FixtureError) {
        certificate = try CertificateMaker.make(
            profile,
            serial: profile.serial ?? 1,
            issuer: nil,
            chain: []
        )
        chain = []
        cache = IssuedCertificates()
    }

    /// Reads a root authority from two PEM files, `NAME.pem` and `NAME.key`, for clients that already trust
    /// its certificate.
    ///
    /// The certificates that it issues have serial numbers from 2^40 on. Those in files, which the same
    /// authority has issued, have smaller ones.
    public static func load(_ name: String, from folder: String) throws(FixtureError) -> TestAuthority {
        TestAuthority(
            intermediate: try FixtureCertificate.load(name, from: folder),
            chain: [],
            // Two certificates of one issuer must not have the same number (RFC 5280, section 4.1.2.2).
            cache: IssuedCertificates(lastSerial: 1 << 40)
        )
    }

    private init(
        intermediate: FixtureCertificate,
        chain: [FixtureCertificate],
        cache: IssuedCertificates = IssuedCertificates()
    ) {
        certificate = intermediate
        self.chain = chain
        self.cache = cache
    }

    /// The certificate of this authority in PEM, for clients to trust.
    public var rootPEM: String { certificate.pem }

    /// The certificate of this authority in DER.
    public var rootDER: [UInt8] { certificate.der }

    /// Returns a valid server certificate for these host names and IP addresses. The same names always return
    /// the same certificate.
    public func certificate(for names: String...) -> FixtureCertificate {
        cache.byNames.value(for: names) {
            let profile = CertificateProfile(
                names.map { isIPAddress($0) ? .ip($0) : .dns($0) },
                // RFC 5280 limits the common name to 64 characters, and OpenSSL refuses longer ones.
                commonName: names.first.flatMap { $0.utf8.count <= 64 ? $0 : nil }
            )
            do {
                return try issue(profile)
            } catch {
                fatalError("no certificate for \(names): \(error)")
            }
        }
    }

    /// Issues a certificate from a profile.
    public func issue(_ profile: CertificateProfile) throws(FixtureError) -> FixtureCertificate {
        try CertificateMaker.make(
            profile,
            serial: profile.serial ?? cache.nextSerial(),
            issuer: profile.isSelfSigned ? nil : certificate,
            chain: profile.isSelfSigned ? [] : chain
        )
    }

    /// Creates an intermediate authority below this one. Its certificate is sent with those that it issues.
    public func intermediate(
        _ commonName: String = "Fixture Intermediate",
        pathLength: Int? = nil,
        _ configure: (inout CertificateProfile) -> Void = { _ in }
    ) throws(FixtureError) -> TestAuthority {
        var profile = CertificateProfile.authority(commonName, pathLength: pathLength)
        configure(&profile)
        let intermediate = try issue(profile)
        return TestAuthority(intermediate: intermediate, chain: [intermediate] + chain)
    }
}

/// The certificates that an authority has issued by name, and its last serial number.
private final class IssuedCertificates: @unchecked Sendable {
    let byNames = MadeOnce<[String], FixtureCertificate>()
    private let lock = Lock()
    private var lastSerial: UInt64

    init(lastSerial: UInt64 = 1) { self.lastSerial = lastSerial }

    func nextSerial() -> UInt64 {
        lock.locked {
            lastSerial += 1
            return lastSerial
        }
    }
}
