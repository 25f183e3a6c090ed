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

    private func isEnd(_ record: ProbeRecord, of certificate: FixtureCertificate) -> Bool {
        let path = record.served?.chain.path ?? []
        return path.last?.summary.sha256 == certificate.fingerprint
            && record.chainEnd?.notAfter == path.compactMap(\.summary.notAfter).min()
    }

    @Test("Of two intermediates of one name the one that has signed the leaf counts, in either order")
    func namesakes() async throws {
        let (short, long) = (try authority(until: 2), try authority(until: 200))
        for issuer in [short, long] {
            let leaf = try issuer.issue(.publicLeaf(host))
            for sent in [[short, long], [long, short]] {
                let record = try await record(
                    leaf.sent(with: sent.map(\.certificate)),
                    "--critical-days",
                    "7"
                )
                #expect(isEnd(record, of: issuer.certificate))
                #expect(record.faults.map(\.id) == (issuer === short ? [.tooFewDays] : []))
            }
        }
    }

    @Test("Of the certificates of a cross-signed root the one counts that leads to a trusted root")
    func crossSigned() async throws {
        let other = TestAuthority("Newer Root CA")
        // The newer root, signed by the one that is trusted.
        let cross = try root.intermediate("Newer Root CA") {
            $0.existingKey = other.certificate
            $0.validity = .init(notBefore: days(-300), notAfter: begin(2))
        }
        let issuer = try other.intermediate("Lab Issuing CA E1")
        let leaf = try issuer.issue(.publicLeaf(host))
        for above in [[other.certificate, cross.certificate], [cross.certificate, other.certificate]] {
            let record = try await record(leaf.sent(with: [issuer.certificate] + above))
            #expect(record.passed)
            #expect(isEnd(record, of: cross.certificate))
            #expect(record.warnings.map(\.text).contains("issuer Newer Root CA has 2 days left"))
        }
    }

    @Test("Of two certificates of one intermediate, the one that a trusted root has signed counts")
    func signedTwice() async throws {
        let issuer = try authority(until: 2)
        let other = try TestAuthority("Other Root CA").intermediate("Lab Issuing CA E1") {
            $0.existingKey = issuer.certificate
            $0.validity = .init(notBefore: days(-300), notAfter: begin(200))
        }
        let leaf = try issuer.issue(.publicLeaf(host))
        // The same leaf, signed by another authority, is none of its issuers.
        var profile = CertificateProfile.publicLeaf(host, until: 1)
        profile.existingKey = leaf
        let twin = try TestAuthority("Third Root CA").issue(profile)
        for others in [[issuer.certificate, other.certificate], [other.certificate, issuer.certificate]] {
            let record = try await record(leaf.sent(with: [twin] + others))
            #expect(record.passed)
            let words = "refused by clients that try one path, as OpenSSL's: another issuer comes first"
            let isRefused = others[0].der == other.certificate.der
            #expect(record.warnings.contains { $0.id == .chainOrder && $0.text == words } == isRefused)
            #expect(isEnd(record, of: issuer.certificate))
            #expect(record.warnings.map(\.text).contains("issuer Lab Issuing CA E1 has 2 days left"))
        }
    }

    @Test("What has not signed the leaf is not the server's to renew")
    func brokenSignature() throws {
        let issuer = try authority(until: 2)
        var leaf = try issuer.issue(.publicLeaf(host)).der
        leaf[leaf.count - 1] ^= 1
        let context = try SurveyContext(roots: .only([.der(root.rootDER)]))
        let chain = try #require(ServedChain(der: [leaf, issuer.certificate.der], context: context))
        let judgement = chain.judged()
        #expect(judgement.faults.map(\.kind) == [.badSignature])
        #expect(judgement.path.count == 3 && judgement.links.count == 1)
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

    @Test("An issuer that is not for servers is not mended by another use of the leaf")
    func issuerForMail() async throws {
        let issuer = try root.intermediate("Mail CA") { $0.purposes = [.emailProtection] }
        let record = try await record(try issuer.issue(.publicLeaf(host)))
        #expect(record.faults.map(\.id) == [.wrongPurpose])
        #expect(record.hint?.text.hasPrefix("an issuer of it is not for servers") == true)
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
