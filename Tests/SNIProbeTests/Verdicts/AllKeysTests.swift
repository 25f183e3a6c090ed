import DirectCore
import DirectTLS
import Foundation
import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("Certificates for several kinds of keys")
struct AllKeysTests {
    private let lab: Lab
    private let host = "www.example.com"

    init() throws { lab = try Lab() }

    private func server(rsaUntil days: Int64) throws -> FixtureServer {
        var rsa = CertificateProfile.publicLeaf(host, from: -90, until: days)
        rsa.key = .rsa(2048)
        return try FixtureServer.start(
            .tls(certificates: [try lab.issuer.issue(.publicLeaf(host)), try lab.issuer.issue(rsa)])
        ) { _ in .text("") }
    }

    @Test("An expired twin is found only with --deep", arguments: ["1.2", "1.3"])
    func expiredTwin(_ version: String) async throws {
        let server = try server(rsaUntil: -9)
        let first = try await probe(host, at: server, "--tls", version, trusting: lab.root.rootPEM)
        #expect(first.code == 0)
        #expect(first.record?.observation.otherKeys.isEmpty == true)
        let both = try await probe(
            host,
            at: server,
            "--tls",
            version,
            "--deep",
            trusting: lab.root.rootPEM
        )
        #expect(both.code == 60)
        #expect(both.faults == ["expired"])
        #expect(both.record?.faults.first?.text == "RSA certificate: expired 9 days ago")
        #expect(both.record?.hint?.text.contains("the RSA one is not in order") == true)
    }

    @Test("What --expect asks for is asked of the twin as well, and metrics have the end of both")
    func expectedTwin() async throws {
        let server = try server(rsaUntil: 40)
        let plain = try await probe(host, at: server, "--deep", trusting: lab.root.rootPEM)
        let record = try #require(plain.record)
        let first = try #require(record.leaf)
        let twin = try #require(record.observation.otherKeys.first?.served?.chain.leaf)
        let hash = Hex.encode(first.summary.sha256)
        let asked = try await probe(
            host,
            at: server,
            "--deep",
            "--expect",
            "sha256:\(hash)",
            trusting: lab.root.rootPEM
        )
        #expect(asked.faults == ["not_expected"] && asked.code == 90)
        #expect(asked.record?.faults.first?.key == "RSA")
        let output = ScrapeOutput()
        output.add(record, isOnlyOne: true)
        var digest = Digest()
        digest.add(record)
        output.finish(digest, interrupted: false)
        let text = try #require(output.text)
        let end = try #require(twin.summary.notAfter)
        #expect(text.contains("\nprobe_ssl_earliest_cert_expiry \(end)\n"))
        #expect(text.components(separatedBy: "\nsni_probe_cert_not_after_seconds{").count == 3)
    }

    @Test("A twin in order, or no twin, changes nothing")
    func noFault() async throws {
        let twins = try await probe(
            host,
            at: try server(rsaUntil: 80),
            "--deep",
            trusting: lab.root.rootPEM
        )
        #expect(twins.code == 0)
        #expect(twins.record?.observation.otherKeys.first?.served?.chain.leaf?.key.type == "RSA")
        let single = try await probe(
            host,
            at: try lab.server(try lab.issuer.issue(.publicLeaf(host))),
            "--deep",
            trusting: lab.root.rootPEM
        )
        #expect(single.code == 0)
        #expect(single.record?.observation.otherKeys.map(\.kind) == [.rsa, .tls12])
        #expect(single.record?.observation.otherKeys.first?.served == nil)
        let record = try #require(single.record)
        let text = LongForm(record: record, style: Style(), verbose: false).text
        #expect(text.contains("other keys   no RSA certificate"))
    }

    @Test("A certificate for the other version of TLS is found with --deep")
    func otherVersion() async throws {
        let server = try server(rsaUntil: 80)
        let outcome = try await probe(host, at: server, "--deep", trusting: lab.root.rootPEM)
        let record = try #require(outcome.record)
        #expect(record.observation.otherKeys.map(\.kind) == [.rsa, .tls12])
        #expect(record.observation.otherKeys.last?.served?.facts?.version == "TLSv1.2")
        let text = LongForm(record: record, style: Style(width: 200), verbose: false).text
        #expect(text.contains("TLS 1.2: the same: ") && outcome.code == 0)
        let old = try FixtureServer.start(
            .tls(try lab.issuer.issue(.publicLeaf(host))) { $0.maximumVersion = .tls12 }
        ) { _ in .text("") }
        let single = try await probe(host, at: old, "--deep", trusting: lab.root.rootPEM)
        #expect(
            single.record?.observation.otherKeys.map { $0.served == nil } == [true, true] && single.code == 0
        )
    }

    @Test("A version without a handshake because the server wants a client certificate is said to be that")
    func clientCertificate() async throws {
        let server = try FixtureServer.start(
            .tls(lab.issuer.issue(.publicLeaf(host))) { $0.clientCertificates = .required(from: []) }
        ) { _ in .text("") }
        let outcome = try await probe(host, at: server, "--deep", trusting: lab.root.rootPEM)
        let record = try #require(outcome.record)
        let text = LongForm(record: record, style: Style(width: 200), verbose: false).text
        #expect(text.contains("TLS 1.2: no handshake without a client certificate\n"), "\(text)")
    }
}
