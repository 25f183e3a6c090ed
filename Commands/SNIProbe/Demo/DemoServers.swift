internal import DirectCore
internal import DirectHTTP
internal import TLSFixtures

/// Loopback servers for the demo, with and without faults. They share one port if the system has several
/// loopback addresses.
struct DemoServers {
    /// The root of all their certificates.
    let rootPEM: String
    private let byKind: [Kind: FixtureServer]
    /// The common port. `nil` if each server has its own.
    private let port: UInt16?

    enum Kind: CaseIterable {
        case good, renewed, soon, stranger, expired, missing, refusing, revoked, mixed
    }

    static let host = "www.example.com"

    init() throws {
        let root = TestAuthority("Demo Root CA")
        let issuer = try root.intermediate("Demo Issuing CA E1")
        rootPEM = root.rootPEM
        let addresses = Kind.allCases.indices.map { "127.0.0.\(11 + $0)" }
        // On Linux all of 127.0.0.0/8 is loopback. On other systems each server gets its own port.
        let shared = try? SharedPort(on: addresses)
        let certificates = try DemoCertificates(issuer)
        var byKind: [Kind: FixtureServer] = [:]
        for (index, kind) in Kind.allCases.enumerated() {
            let address = shared == nil ? "127.0.0.1" : addresses[index]
            let port = shared?.number ?? 0
            let server =
                kind == .refusing
                ? try FixtureServer.refusing(on: address, port: port)
                : try FixtureServer.start(certificates.security(kind), on: address, port: port) { _ in
                    .redirect(to: "https://\(Self.host)/home")
                }
            byKind[kind] = server
        }
        (self.byKind, port) = (byKind, shared?.number)
    }

    /// Returns the arguments that probe these servers. With a path the target is a URL.
    func words(_ kinds: [Kind], path: String? = nil) -> [String] {
        let place = Self.host + (port.map { ":\($0)" } ?? "")
        let addresses = kinds.compactMap { byKind[$0] }.map {
            port == nil ? "@\($0.authority)" : "@\($0.address)"
        }
        return [path.map { "https://\(place)\($0)" } ?? place] + addresses
    }

    func stop() {
        for server in byKind.values { server.stop() }
    }
}

/// The certificates of the demo's servers.
private struct DemoCertificates {
    private let standard: FixtureCertificate
    private let good: FixtureCertificate
    /// Those of the servers that have one of their own.
    private let own: [DemoServers.Kind: FixtureCertificate]
    private let revocation: [UInt8]
    /// The handshakes of a server that stands for four, one of which is not set up.
    private let turns = Locked(0)

    init(_ issuer: TestAuthority) throws {
        let now = UnixTime.now.seconds
        func issue(_ names: [String], from: Int64, until: Int64) throws -> FixtureCertificate {
            var profile = CertificateProfile(names.map { .dns($0) }, commonName: names.first)
            profile.validity = .init(
                notBefore: now + from * 86_400,
                notAfter: now + until * 86_400 + (until > 0 ? 3600 : -60)
            )
            profile.issuerURL = "http://ca.example/e1.crt"
            return try issuer.issue(profile)
        }
        let names = [DemoServers.host, "example.com"]
        standard = try issue(["default.edge.example.net", "*.edge.example.net"], from: -10, until: 299)
        good = try issue(names, from: -7, until: 83)
        let revoked = try issue(names, from: -7, until: 83)
        own = [
            .soon: try issue(names, from: -85, until: 5), .expired: try issue(names, from: -99, until: -9),
            .missing: try issue(names, from: -7, until: 83).sent(with: []), .revoked: revoked,
        ]
        let week = CertificateProfile.Validity(notBefore: now - 86_400, notAfter: now + 6 * 86_400)
        revocation = try issuer.ocspResponse(for: revoked, .revoked, validity: week)
    }

    func security(_ kind: DemoServers.Kind) -> FixtureSecurity {
        if kind == .stranger || kind == .refusing { return .tls(standard) }
        return .tls(certificates: [own[kind] ?? good], default: standard) { [self] settings in
            if kind == .revoked { settings.ocspStaple = revocation }
            guard kind == .mixed else { return }
            settings.choose = { [self] name in
                guard name != nil else { return nil }
                return turns.withLock {
                    $0 += 1; return $0 % 4 == 0
                } ? standard : nil
            }
        }
    }
}
