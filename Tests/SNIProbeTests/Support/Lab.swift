import TLSFixtures

/// What the endpoints of a comparison of tools have in common: an authority with an intermediate, and a certificate
/// that an edge shows to whom it does not know.
struct Lab {
    let root: TestAuthority
    let issuer: TestAuthority
    let standard: FixtureCertificate

    init() throws {
        root = TestAuthority("Lab Root CA")
        issuer = try root.intermediate("Lab Issuing CA E1")
        standard = try issuer.issue(.publicLeaf("default.edge.example.net", "*.edge.example.net"))
    }

    /// Knows the host by a certificate, anybody else by the default.
    func server(_ certificate: FixtureCertificate) throws -> FixtureServer {
        try FixtureServer.start(.tls(certificates: [certificate], default: standard)) { _ in .text("hello") }
    }
}
