import DirectHTTP
import TLSFixtures
import DirectTestTime
import Foundation
import Testing

@testable import SNIProbe

/// The endpoints of a comparison of ten tools, most of which called them all good, or all bad for one reason.
@Suite("Faults that a probe finds")
struct ProbeFaultTests {
    private let lab: Lab
    private let host = "www.example.com"

    init() throws { lab = try Lab() }

    private func probe(_ server: FixtureServer, _ options: String...) async throws -> Outcome {
        try await SNIProbeTests.probe(["\(host)@\(server.authority)"] + options, trusting: lab.root.rootPEM)
    }

    @Test("A good server passes, and its name is found to be necessary")
    func aGoodServerPassesAndNeedsItsNameSaid() async throws {
        let outcome = try await probe(try lab.server(try lab.issuer.issue(.publicLeaf(host))))
        #expect(outcome.code == 0)
        #expect(outcome.faults.isEmpty)
        #expect(outcome.record?.sni.verdict == .needed)
        #expect(outcome.record?.warnings.isEmpty == true)
    }

    @Test("Five days left are a warning, and a fault only with --critical-days")
    func fiveDaysLeftIsAWarningAndAFaultOnlyIfMoreWereAskedFor() async throws {
        let server = try lab.server(try lab.issuer.issue(.publicLeaf(host, from: -85, until: 5)))
        let outcome = try await probe(server)
        #expect(outcome.code == 0)
        #expect(outcome.record?.warnings.map(\.id) == [.expiresSoon])
        let strict = try await probe(server, "--critical-days", "30")
        #expect(strict.code == 90)
        #expect(strict.faults == ["too_few_days"])
    }

    @Test("The default certificate is distinguished from a certificate for the wrong name")
    func theDefaultCertificateIsToldFromOneForTheWrongName() async throws {
        let stranger = try FixtureServer.start(.tls(lab.standard)) { _ in .text("") }
        let outcome = try await probe(stranger)
        #expect(outcome.code == 60)
        #expect(outcome.faults == ["default_certificate"])
        #expect(outcome.record?.sni.verdict == .noDifference)
        #expect(outcome.record?.hint?.text.contains("does not know www.example.com") == true)

        let wrong = try lab.issuer.issue(.publicLeaf("shop.example.com"))
        let mixed = try FixtureServer.start(
            .tls(certificates: [], default: lab.standard) { [host] in $0.certificatesByName[host] = wrong }
        ) { _ in .text("") }
        let other = try await probe(mixed)
        #expect(other.code == 60)
        #expect(other.faults == ["name_mismatch"])
        #expect(other.record?.sni.verdict == .selectsWrong)
    }

    @Test("An expired certificate is a fault that says how long ago")
    func anExpiredCertificateSaysSinceWhen() async throws {
        let outcome = try await probe(
            try lab.server(try lab.issuer.issue(.publicLeaf(host, from: -99, until: -9)))
        )
        #expect(outcome.code == 60)
        #expect(outcome.faults == ["expired"])
        #expect(outcome.record?.faults.first?.text == "expired 9 days ago")
    }

    @Test("All faults are listed, the one of the name first")
    func allFaultsAreListedTheNameFirst() async throws {
        let wrong = try lab.issuer.issue(.publicLeaf("shop.example.com", from: -99, until: -9))
        let outcome = try await probe(try FixtureServer.start(.tls(wrong)) { _ in .text("") })
        #expect(outcome.code == 60)
        #expect(outcome.faults == ["default_certificate", "expired"])
    }

    @Test("A private root, a missing intermediate and a self-signed certificate are three faults")
    func threeKindsOfUntrusted() async throws {
        let corporate = try TestAuthority("Corp Private Root").issue(CertificateProfile(for: host))
        let unknown = try await probe(try lab.server(corporate))
        #expect(unknown.code == 60)
        #expect(unknown.faults == ["unknown_issuer"])
        #expect(unknown.record?.faults.first?.text == "unknown issuer: Corp Private Root")
        #expect(unknown.record?.hint?.text.contains("--ca corp-private-root.pem") == true)

        let missing = try await probe(try lab.server(try lab.issuer.issue(.publicLeaf(host)).sent(with: [])))
        #expect(missing.code == 60)
        #expect(missing.faults == ["intermediate_missing"])
        #expect(missing.record?.hint?.text.contains("http://ca.example/e1.crt") == true)

        var profile = CertificateProfile(for: host)
        profile.isSelfSigned = true
        let selfSigned = try await probe(try lab.server(try lab.issuer.issue(profile)))
        #expect(selfSigned.code == 60)
        #expect(selfSigned.faults == ["self_signed"])
    }

    @Test("Where a CA certificate was sent, its issuer may be an unknown root or an intermediate")
    func openEndAboveAnIntermediate() async throws {
        let corporate = try TestAuthority("Corp Private Root").intermediate("Corp Issuing") {
            $0.issuerURL = "http://ca.example/root.crt"
        }
        let outcome = try await probe(try lab.server(try corporate.issue(.publicLeaf(host))))
        #expect(outcome.faults == ["unknown_issuer"])
        let hint = try #require(outcome.record?.hint?.text)
        #expect(hint.contains("--ca corp-private-root.pem"))
        #expect(
            hint.contains("if it is an intermediate, the server must send it (http://ca.example/root.crt)")
        )
    }

    @Test("An intermediate of the right name with another key is said to be that")
    func namesake() async throws {
        let namesake = try lab.root.intermediate("Lab Issuing CA E1")
        let leaf = try lab.issuer.issue(.publicLeaf(host)).sent(with: [namesake.certificate])
        let outcome = try await probe(try lab.server(leaf))
        #expect(outcome.faults == ["intermediate_missing"])
        #expect(outcome.record?.faults.first?.text.contains("the same name, but another key") == true)
    }

    @Test("A machine without roots is told so before the first probe", arguments: [true, false])
    func noRoots(isSecure: Bool) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "probe-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try FixtureServer.start { _ in .text("") }
        let word = isSecure ? "www.example.com@\(server.authority)" : "http://\(server.authority)/"
        let result = try await Program.run([word], environment: ["SSL_CERT_DIR": folder.path])
        #expect(result.code == (isSecure ? 66 : 0))
        #expect(result.errors.contains("has no roots") == isSecure)
        #expect(result.errors.contains("say which roots to trust with --ca") == isSecure)
    }

    @Test("A chain of a private authority without its intermediate has an unknown issuer")
    func aPrivateAuthorityWithoutItsIntermediateIsAnUnknownIssuer() async throws {
        let corporate = try TestAuthority("Corp Private Root").intermediate("Corp Issuing")
        let leaf = try corporate.issue(CertificateProfile(for: host)).sent(with: [])
        let outcome = try await probe(try lab.server(leaf))
        #expect(outcome.faults == ["unknown_issuer"])
        #expect(outcome.record?.faults.first?.text == "unknown issuer: Corp Issuing")
    }

    @Test("A chain with an untrusted root has an unknown issuer")
    func aRootThatIsSentButNotTrustedIsAnUnknownIssuer() async throws {
        let corporate = TestAuthority("Corp Private Root")
        let leaf = try corporate.issue(CertificateProfile(for: host)).sent(with: [corporate.certificate])
        let outcome = try await probe(try lab.server(leaf))
        #expect(outcome.faults == ["unknown_issuer"])
        #expect(outcome.record?.faults.first?.text == "unknown issuer: Corp Private Root")
    }

    @Test("An issuer that may not issue the certificate is named")
    func anIssuerThatMayNotIssueIsNamed() async throws {
        let fake = try lab.root.intermediate("Not A CA") { $0.isAuthority = false }
        let leaf = try await probe(try lab.server(try fake.issue(.publicLeaf(host))))
        #expect(leaf.record?.faults.map(\.text) == ["issuer Not A CA is not a CA"])
        let narrow = try lab.root.intermediate("Narrow CA") {
            $0.nameConstraints = "permitted;DNS:example.org"
        }
        let outside = try await probe(try lab.server(try narrow.issue(.publicLeaf(host))))
        #expect(outside.code == 60)
        #expect(
            outside.record?.faults.map(\.text)
                == ["name is outside the issuer's name constraints"]
        )
    }

    @Test("A refused name is distinguished from a refused handshake")
    func aNameThatIsRefusedIsToldFromAHandshakeThatIs() async throws {
        let known = try lab.issuer.issue(.publicLeaf("shop.example.com"))
        for alert: UInt8 in [112, 40, 80] {
            let strict = try FixtureServer.start(.tls(known) { $0.unknownName = .alert(alert) }) { _ in
                .text("")
            }
            let outcome = try await probe(strict)
            #expect(outcome.code == 35)
            #expect(outcome.faults == ["sni_refused"], "alert \(alert)")
            #expect(outcome.record?.alert?.number == alert)
            #expect(outcome.record?.sni.verdict == .refused)
        }
        for alert: UInt8 in [40, 80] {
            let broken = try FixtureServer.start(
                behaviour: .bytes([.awaitArrival, .alert(alert), .awaitClose])
            )
            let outcome = try await probe(broken)
            #expect(outcome.code == 35)
            #expect(outcome.faults == ["handshake_refused"], "alert \(alert)")
        }
        let nobody = try FixtureServer.start(behaviour: .bytes([.awaitArrival, .alert(112), .awaitClose]))
        #expect(try await probe(nobody).faults == ["sni_refused"])
    }

    @Test("A refused connection, a silent server and an unresponsive address are three faults")
    func refusedSilentAndUnansweredAreThreeThings() async throws {
        let refusing = try await probe(try FixtureServer.refusing())
        #expect(refusing.code == 7)
        #expect(refusing.faults == ["refused"])
        let server = try FixtureServer.start(behaviour: .bytes(.silent))
        let silent = try await SNIProbeTests.probe(
            ["\(host)@\(server.authority)"],
            trusting: lab.root.rootPEM,
            at: server
        ) { $0.count == 2 }
        #expect(silent.code == 28)
        #expect(silent.faults == ["timeout_tls"])
        let dead = try await probe(try FixtureServer.unresponsive(), "-t", "300ms")
        #expect(dead.code == 28)
        #expect(dead.faults == ["timeout_tcp"])
    }

    @Test("A server that does not speak TLS is a fault that names its protocol")
    func whatSpeaksNoTLSIsNamed() async throws {
        let answers = [
            "HTTP/1.1 400 Bad Request\r\n\r\n": "plain HTTP", "SSH-2.0-OpenSSH_9.2\r\n": "SSH",
            "220 mx\r\n": "SMTP",
        ]
        for (answer, name) in answers {
            let server = try FixtureServer.start(
                behaviour: .bytes([.awaitArrival, .send(answer), .awaitClose])
            )
            let outcome = try await probe(server)
            #expect(outcome.code == 35)
            #expect(outcome.faults == ["not_tls"])
            #expect(outcome.record?.faults.first?.text.contains(name) == true)
        }
    }

    @Test("A connection that is lost in the handshake is a reset")
    func aConnectionThatIsCutInTheHandshakeIsNoAlert() async throws {
        for step in [ByteScript.Step.reset, .cut] {
            let server = try FixtureServer.start(behaviour: .bytes([.awaitArrival, step]))
            let outcome = try await probe(server)
            #expect(outcome.code == 35)
            #expect(outcome.faults == ["reset"])
        }
    }

    @Test("A filter for names is found by the handshake without the name")
    func aNameFilterIsFoundByTheSecondHandshake() async throws {
        let known = try lab.issuer.issue(.publicLeaf("shop.example.com"))
        let server = try FixtureServer.start(.tls(known) { $0.unknownName = .reset }) { _ in .text("") }
        let outcome = try await probe(server)
        #expect(outcome.faults == ["sni_refused"])
        #expect(outcome.record?.hint?.text.contains("without the name the same IP answers") == true)
    }

    @Test("An IPv6 address is probed like any other, also with a URL")
    func version6OfTheProtocolIsNoDifference() async throws {
        let server = try FixtureServer.start(
            .tls(certificates: [try lab.issuer.issue(.publicLeaf(host))], default: lab.standard),
            on: "::1"
        ) { _ in .text("") }
        let outcome = try await probe(server)
        #expect(outcome.code == 0)
        #expect(outcome.record?.observation.probe.address.description == "::1")
        let url = try await SNIProbeTests.probe(
            ["https://\(host):\(server.port)/@[::1]"],
            trusting: lab.root.rootPEM
        )
        #expect(url.code == 0)
    }

    @Test("Probes that hang do not delay 200 others, and the results keep the order of the input")
    func thereAreTwoHundredProbesAndTenThatHang() async throws {
        let server = try lab.server(try lab.issuer.issue(.publicLeaf(host)))
        let silent = try FixtureServer.start(behaviour: .bytes(.silent))
        let words = (0..<200).map { index in
            "\(host)@\(index % 20 == 3 ? silent.authority : server.authority)"
        }
        let (time, root) = (HeldTime(), lab.root.rootPEM)
        let running = Task {
            try await SNIProbeTests.probe(
                words + ["-t", "3s", "--skip-default"],
                trusting: root,
                on: time.loop
            )
        }
        let start = time.now
        // No time passes until every probe has ended but those that hang, of which eight start at first.
        try await server.waitUntil { $0.count(where: { $0.end != nil }) == 190 }
        try await silent.waitUntil { $0.count == 8 }
        time.advance(by: .milliseconds(500))
        try await silent.waitUntil { $0.count == 10 }
        time.advance(by: .seconds(3))
        let outcome = try await running.value
        // They have hung at the same time: one after the other would take half a minute.
        #expect(time.now.since(start) == .milliseconds(3500))
        #expect(outcome.records.count == 200)
        #expect(outcome.code == 28)
        #expect(outcome.faults == Array(repeating: "timeout_tls", count: 10))
        // In the order of the input, whichever ended first.
        #expect(outcome.records.enumerated().allSatisfy { $0.element.passed == ($0.offset % 20 != 3) })
    }
}
