import TLSFixtures

/// The common parts of the endpoints for comparing tools: an authority with an intermediate, and the
/// certificate that an edge shows for unknown names.
struct Lab {
    let root: TestAuthority
    let issuer: TestAuthority
    let standard: FixtureCertificate

    init() throws {
        root = TestAuthority("Lab Root CA")
        issuer = try root.intermediate("Lab Issuing CA E1")
        standard = try issuer.issue(.publicLeaf("default.edge.example.net", "*.edge.example.net"))
    }

    /// Has a certificate for the host, and the default for other names.
    func server(_ certificate: FixtureCertificate) throws -> FixtureServer {
        try FixtureServer.start(.tls(certificates: [certificate], default: standard)) { _ in .text("hello") }
    }
}
