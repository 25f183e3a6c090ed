import TLSFixtures
import Testing

@testable import SNIProbe

/// The endpoints that ten tools were compared on: most of them called faulty ones good, or said the same of
/// different faults. Each has its cause, its code, and a hint that tells what to do.
@Suite("Eleven endpoints")
struct ElevenEndpointsTests {
    private let lab: Lab
    private let host = "www.example.com"

    init() throws { lab = try Lab() }

    private func expect(
        _ server: FixtureServer,
        _ options: [String] = [],
        isSilent: Bool = false,
        code: Int32,
        fault: Fault.ID?,
        says text: String,
        hint: String?,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let (place, roots) = (["\(host)@\(server.authority)"], lab.root.rootPEM)
        let outcome =
            isSilent
            ? try await probe(place, trusting: roots, at: server) { $0.count == 2 }
            : try await probe(place + options, trusting: roots)
        let record = try #require(outcome.record)
        #expect(outcome.code == code, sourceLocation: sourceLocation)
        #expect(record.faults.map(\.id) == (fault.map { [$0] } ?? []), sourceLocation: sourceLocation)
        let words = record.faults.map(\.text) + record.warnings.map(\.text)
        #expect(words.joined(separator: "; ") == text, sourceLocation: sourceLocation)
        #expect(record.hint?.text == hint, sourceLocation: sourceLocation)
    }

    @Test("A good certificate has neither fault nor hint")
    func aGoodOne() async throws {
        try await expect(
            try lab.server(try lab.issuer.issue(.publicLeaf(host))),
            code: 0,
            fault: nil,
            says: "",
            hint: nil
        )
    }

    @Test("Five days left are a warning, and a fault if --critical-days demands more")
    func aGoodOneWithFiveDaysLeft() async throws {
        var profile = CertificateProfile.publicLeaf(host)
        // And an hour, so that it is five whole days however long the test takes.
        profile.validity = .init(notBefore: days(-85), notAfter: days(5) + 3600)
        let server = try lab.server(try lab.issuer.issue(profile))
        try await expect(server, code: 0, fault: nil, says: "5 days left", hint: nil)
        try await expect(
            server,
            ["--critical-days", "20"],
            code: 90,
            fault: .tooFewDays,
            says: "5 days left, fewer than 20",
            hint: "renew it on 127.0.0.1, or find out why the renewed one is not there"
        )
    }

    @Test("The default certificate for another name has its own fault and hint")
    func theDefaultCertificateInstead() async throws {
        try await expect(
            try FixtureServer.start(.tls(lab.standard)) { _ in .text("") },
            code: 60,
            fault: .defaultCertificate,
            says: "wrong certificate",
            hint:
                "127.0.0.1 does not know www.example.com, in 4 of 4 handshakes; or several servers answer there: --repeat 20 "
                + "counts their answers. Set the host up there, or check the IP; sni-probe www.example.com probes all that DNS "
                + "gives."
        )
    }

    @Test("An expired certificate has its own fault and hint")
    func anExpiredOne() async throws {
        try await expect(
            try lab.server(try lab.issuer.issue(.publicLeaf(host, from: -99, until: -9))),
            code: 60,
            fault: .expired,
            says: "expired 9 days ago",
            hint:
                "renew it on 127.0.0.1, in 4 of 4 handshakes; other IPs may have the new one already: sni-probe "
                + "www.example.com --same"
        )
    }

    @Test("A certificate of a private root has its own fault and hint")
    func aPrivateRoot() async throws {
        let corporate = TestAuthority("Corp Private Root")
        try await expect(
            try lab.server(try corporate.issue(CertificateProfile(for: host)).sent(with: [])),
            code: 60,
            fault: .unknownIssuer,
            says: "unknown issuer: Corp Private Root",
            hint:
                "if Corp Private Root is your own CA, give it with --ca corp-private-root.pem; if a root of --ca "
                + "is above it, the server must send it"
        )
    }

    @Test("A self-signed certificate has its own fault and hint")
    func aSelfSignedOne() async throws {
        var profile = CertificateProfile(for: host)
        profile.isSelfSigned = true
        try await expect(
            try lab.server(try lab.issuer.issue(profile)),
            code: 60,
            fault: .selfSigned,
            says: "self-signed certificate",
            hint:
                "clients do not accept it unless configured to; if it is intended, give it with --ca FILE"
        )
    }

    @Test("A missing intermediate certificate has its own fault and hint")
    func aMissingIntermediate() async throws {
        try await expect(
            try lab.server(try lab.issuer.issue(.publicLeaf(host)).sent(with: [])),
            code: 60,
            fault: .intermediateMissing,
            says: "intermediate certificate missing",
            hint: "browsers fetch or remember it, most clients do not. Send the full chain "
                + "(http://ca.example/e1.crt, named by the certificate, is the missing one)"
        )
    }

    @Test("An alert for the name has its own fault and hint")
    func anAlertForTheName() async throws {
        try await expect(
            try FixtureServer.start(behaviour: .bytes([.awaitArrival, .alert(112), .awaitClose])),
            code: 35,
            fault: .sniRefused,
            says: "server refused the name",
            hint:
                "127.0.0.1 serves other hosts only, by strict SNI; www.example.com is not among them, in 4 of 4 handshakes"
        )
    }

    @Test("A refused connection has its own fault and hint")
    func nobodyThere() async throws {
        let server = try FixtureServer.refusing()
        try await expect(
            server,
            code: 7,
            fault: .refused,
            says: "connection refused",
            hint: "nothing listens on port \(server.port) there, or a firewall rejects it"
        )
    }

    @Test("A server that does not answer the handshake has its own fault and hint")
    func silence() async throws {
        try await expect(
            try FixtureServer.start(behaviour: .bytes(.silent)),
            isSilent: true,
            code: 28,
            fault: .timeoutTLS,
            says: "no answer to the handshake in 300 ms",
            hint:
                "the port is open but the handshake is not answered, with the name and without: a proxy, "
                + "an overloaded server, or a service without TLS"
        )
    }

    @Test("A server that speaks plain HTTP has its own fault and hint")
    func plainHTTPOnThePort() async throws {
        let answer = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"
        let server = try FixtureServer.start(behaviour: .bytes([.awaitArrival, .send(answer), .awaitClose]))
        try await expect(
            server,
            code: 35,
            fault: .notTLS,
            says: "not TLS: the server speaks plain HTTP",
            hint: "try http://www.example.com:\(server.port)/ or another port"
        )
    }
}
