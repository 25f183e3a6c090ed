import DirectTLS
import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("What ends in a chain")
struct ChainEndTests {
    private let root = TestAuthority("Lab Root CA")
    private let host = "www.example.com"

    private func authority(until days: Int64, from: Int64 = -300, name: String = "Lab Issuing CA E1") throws
        -> TestAuthority
    {
        try root.intermediate(name) { $0.validity = .init(notBefore: begin(from), notAfter: begin(days)) }
    }

    private func begin(_ count: Int64) -> Int64 { days(count) + 3600 }

    private func record(_ certificate: FixtureCertificate, _ options: String...) async throws -> ProbeRecord {
        let server = try FixtureServer.start(.tls(certificate)) { _ in .text("") }
        let arguments = ["\(host)@\(server.authority)", "--skip-default"] + options
        return try #require(try await probe(arguments, trusting: root.rootPEM).record)
    }

    @Test("An intermediate that ends before its leaf is a warning, a fault of --critical-days, and a metric")
    func intermediate() async throws {
        let issuer = try authority(until: 2)
        let leaf = try issuer.issue(.publicLeaf(host))
        let warned = try await record(leaf)
        #expect(warned.passed)
        #expect(warned.warnings.map(\.text) == ["issuer Lab Issuing CA E1 has 2 days left"])
        let end = try #require(warned.served?.chain.certificates.last?.summary.notAfter)
        #expect(warned.chainEnd?.notAfter == end)
        let text = LongForm(record: warned, style: Style(), verbose: false).text
        #expect(text.contains("ends before its leaf: 2 days left"))
        let critical = try await record(leaf, "--critical-days", "14")
        #expect(critical.faults.map(\.id) == [.tooFewDays] && critical.exitCode == 90)
        #expect(
            critical.faults.first?.text == "issuer Lab Issuing CA E1 has 2 days left, fewer than 14"
        )
        #expect(critical.hint?.text.contains("above the server's own ends first") == true)
        let sink = OutputSink.memory
        let metrics = PrometheusOutput(to: sink)
        metrics.add(warned, isOnlyOne: true)
        metrics.finish(Digest(), interrupted: false)
        _ = metrics.flush()
        let lines = String(decoding: sink.bytes, as: UTF8.self)
        #expect(lines.contains("# TYPE sni_probe_chain_not_after_seconds gauge"))
        #expect(lines.contains(" \(end)\n"))
    }

    @Test("A certificate that has expired and is not needed is a warning")
    func expiredBesides() async throws {
        let other = TestAuthority("Old Root CA")
        let old = try other.intermediate("Cross CA") {
            $0.validity = .init(notBefore: days(-300), notAfter: days(-9) - 3600)
        }
        let issuer = try authority(until: 200)
        let leaf = try issuer.issue(.publicLeaf(host))
        let record = try await record(leaf.sent(with: [issuer.certificate, old.certificate]))
        #expect(record.passed)
        #expect(record.warnings.map(\.id).contains(.expiredSent))
        #expect(record.warnings.contains { $0.text == "Cross CA is sent, and expired 9 days ago" })
    }

    @Test("A twin for another kind of key that ends soon is a warning with --deep")
    func twin() async throws {
        let issuer = try authority(until: 900)
        var rsa = CertificateProfile.publicLeaf(host, from: -90, until: 4)
        rsa.key = .rsa(2048)
        rsa.validity.notAfter += 3600
        let server = try FixtureServer.start(
            .tls(certificates: [try issuer.issue(.publicLeaf(host)), try issuer.issue(rsa)])
        ) { _ in .text("") }
        let outcome = try await probe(
            ["\(host)@\(server.authority)", "--skip-default", "--deep"],
            trusting: root.rootPEM
        )
        #expect(outcome.code == 0)
        #expect(outcome.record?.warnings.map(\.text) == ["RSA certificate: 4 days left"])
    }

    @Test("An expired root of this machine is not blamed on the server")
    func ownRoot() async throws {
        var profile = CertificateProfile.authority("Aged Root CA")
        profile.validity = .init(notBefore: days(-900), notAfter: days(-9))
        let aged = try TestAuthority(profile)
        let server = try FixtureServer.start(.tls(try aged.issue(.publicLeaf(host)))) { _ in .text("") }
        let outcome = try await probe(host, at: server, trusting: aged.rootPEM)
        #expect(outcome.faults == ["expired"])
        #expect(
            outcome.record?.faults.first?.text
                == "root Aged Root CA in this machine's trust store expired"
        )
        #expect(outcome.record?.hint?.text.hasPrefix("the server is not to blame") == true)
    }

    @Test("A weak signature is that of the certificate that has it")
    func weakIntermediate() async throws {
        let weak = try root.intermediate("Weak CA") { $0.digest = .sha1 }
        let server = try FixtureServer.start(.tls(try weak.issue(.publicLeaf(host)))) { _ in .text("") }
        let outcome = try await probe(host, at: server, trusting: root.rootPEM)
        #expect(outcome.faults == ["weak_certificate"])
        #expect(
            outcome.record?.faults.first?.text
                == "signature too weak (ecdsa-with-SHA1) (issuer Weak CA)"
        )
    }
}
