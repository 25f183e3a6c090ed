internal import DirectHello
internal import TLSFixtures

/// A server of the local badssl: its name, what a client has to do there, and how it is served.
struct BadsslCase: Sendable {
    /// What a client has to do that trusts the root.
    enum Verdict: String, Sendable {
        case accept, refuse
        /// It may do either: it refuses if it looks, or no longer knows what is old.
        case policy
    }

    /// The first labels of the name; empty for the suffix alone.
    let labels: String
    let expected: Verdict
    let about: String
    /// Whether badssl.com has a case of this name and meaning.
    var isBadssls = true
    let site: @Sendable (BadsslHouse) throws -> FixtureSite

    /// The number of this cipher suite is named by a server that cannot go on with it.
    static func suite(_ labels: String, _ number: UInt16, _ about: String) -> BadsslCase {
        BadsslCase(labels: labels, expected: .refuse, about: about) { house in
            var profile = CertificateProfile(for: house.name(labels))
            profile.key = .rsa(2048)
            profile.keyUsage = "critical,digitalSignature,keyEncipherment"
            let leaf = try house.root.issue(profile)
            let flight = ServerFlight(cipherSuite: number, certificates: [leaf.der]).bytes
            return FixtureSite(.plain, .bytes([.rawBytes(flight), .awaitBytes(6), .alert(40)]))
        }
    }

    /// A certificate of its own, issued by the root.
    static func leaf(
        _ labels: String,
        _ expected: Verdict,
        _ about: String,
        isBadssls: Bool = true,
        _ change: @escaping @Sendable (inout CertificateProfile) -> Void = { _ in }
    ) -> BadsslCase {
        chain(labels, expected, about, isBadssls: isBadssls) { house, profile in
            change(&profile)
            return try house.root.issue(profile)
        }
    }

    /// A certificate and what is sent with it.
    static func chain(
        _ labels: String,
        _ expected: Verdict,
        _ about: String,
        isBadssls: Bool = true,
        _ issue:
            @escaping @Sendable (BadsslHouse, inout CertificateProfile) throws -> FixtureCertificate
    ) -> BadsslCase {
        BadsslCase(labels: labels, expected: expected, about: about, isBadssls: isBadssls) { house in
            var profile = CertificateProfile(for: house.name(labels))
            let certificate = try issue(house, &profile)
            return house.site(labels, FixtureTLSSettings(certificates: [certificate]))
        }
    }

    /// A good certificate with other settings of TLS.
    static func tls(
        _ labels: String,
        _ expected: Verdict,
        _ about: String,
        key: CertificateProfile.Key = .p256,
        _ change: @escaping @Sendable (inout FixtureTLSSettings) -> Void
    ) -> BadsslCase {
        BadsslCase(labels: labels, expected: expected, about: about) { house in
            var profile = CertificateProfile(for: house.name(labels))
            profile.key = key
            profile.keyUsage = "critical,digitalSignature,keyEncipherment"
            var settings = FixtureTLSSettings(certificates: [try house.root.issue(profile)])
            change(&settings)
            return house.site(labels, settings)
        }
    }
}

/// What the servers of a local badssl share.
struct BadsslHouse: Sendable {
    let suffix: String
    /// The port, and the address, of all of them.
    let authority: String
    /// What a client has to trust.
    let root = TestAuthority("Local badssl root")
    /// What nobody trusts.
    let stranger = TestAuthority("Local badssl, untrusted root")
    /// What the case `client` wants to see.
    let client: FixtureCertificate
    /// What the case `revoked` shows; its revocation list needs it.
    let revoked: FixtureCertificate

    init(suffix: String, authority: String) throws {
        (self.suffix, self.authority) = (suffix, authority)
        client = try root.issue(.client("Local badssl client"))
        var profile = CertificateProfile(for: "revoked.\(suffix)")
        profile.revocationListURL = "http://\(authority)/revoked.crl"
        revoked = try root.issue(profile)
    }

    func name(_ labels: String) -> String { labels.isEmpty ? suffix : "\(labels).\(suffix)" }

    /// Answers each request with the name of the case.
    func site(
        _ labels: String,
        _ settings: FixtureTLSSettings,
        fields: FixtureHeaders = [:]
    ) -> FixtureSite {
        let text = name(labels) + "\n"
        return FixtureSite(.tls(settings), .http { _ in .text(text, fields) })
    }
}
