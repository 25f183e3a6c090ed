internal import CDirectOpenSSL

/// A certification authority of the test's own, made in the process.
public final class TestAuthority: Sendable {
    /// The authority's certificate and key.
    public let certificate: FixtureCertificate
    /// What leaves are sent with: this authority's certificate and those above it, without the root.
    private let chain: [FixtureCertificate]
    private let cache = IssuedCertificates()

    /// A new root authority.
    public init(_ commonName: String = "Fixture Root", key: CertificateProfile.Key = .p256) {
        var profile = CertificateProfile.authority(commonName)
        profile.key = key
        do {
            certificate = try CertificateMaker.make(profile, serial: 1, issuer: nil, sentWith: [])
        } catch {
            // Nothing here comes from outside: only a broken OpenSSL can refuse.
            fatalError("OpenSSL makes no certificates: \(error)")
        }
        chain = []
    }

    /// A root authority as the profile has it; `CertificateProfile.authority` is a good start.
    public init(_ profile: CertificateProfile) throws(FixtureError) {
        certificate = try CertificateMaker.make(
            profile,
            serial: profile.serial ?? 1,
            issuer: nil,
            sentWith: []
        )
        chain = []
    }

    private init(intermediate: FixtureCertificate, chain: [FixtureCertificate]) {
        certificate = intermediate
        self.chain = chain
    }

    /// The root, or this intermediate, in PEM: what a client is told to trust.
    public var rootPEM: String { certificate.pem }

    /// The root, or this intermediate, in DER.
    public var rootDER: [UInt8] { certificate.der }

    /// A good certificate for these host names and IP addresses; the same names get the same one.
    public func certificate(for names: String...) -> FixtureCertificate {
        cache.certificate(for: names) {
            let profile = CertificateProfile(
                names.map { isIPAddress($0) ? .ip($0) : .dns($0) },
                // RFC 5280 bounds the common name to 64 characters; OpenSSL refuses longer ones.
                commonName: names.first.flatMap { $0.utf8.count <= 64 ? $0 : nil }
            )
            do {
                return try issue(profile)
            } catch {
                fatalError("no certificate for \(names): \(error)")
            }
        }
    }

    /// A certificate as the profile has it.
    public func issue(_ profile: CertificateProfile) throws(FixtureError) -> FixtureCertificate {
        try CertificateMaker.make(
            profile,
            serial: profile.serial ?? cache.nextSerial(),
            issuer: profile.isSelfSigned ? nil : certificate,
            sentWith: profile.isSelfSigned ? [] : chain
        )
    }

    /// An authority below this one; what it issues is sent with its certificate.
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

private final class IssuedCertificates: @unchecked Sendable {
    private let lock = Lock()
    private var byNames: [[String]: FixtureCertificate] = [:]
    private var lastSerial: UInt64 = 1

    func nextSerial() -> UInt64 {
        lock.locked {
            lastSerial += 1
            return lastSerial
        }
    }

    func certificate(for names: [String], _ make: () -> FixtureCertificate) -> FixtureCertificate {
        if let known = lock.locked({ byNames[names] }) { return known }
        let made = make()
        return lock.locked {
            // Two may have made one at once: everyone gets the first that was kept.
            let kept = byNames[names] ?? made
            byNames[names] = kept
            return kept
        }
    }
}
