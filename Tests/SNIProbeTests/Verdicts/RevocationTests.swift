import DirectCore
import DirectTLS
import DirectTestCommands
import DirectTestPeers
import DirectTestTime
import Foundation
import Synchronization
import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("Asking the issuer whether a certificate is revoked")
struct RevocationTests {
    private let lab: Lab
    private let host = "www.example.com"

    init() throws { lab = try Lab() }

    /// What a responder and a place for lists answer, by the certificate that is asked about.
    private struct Issuer: Sendable {
        var ocsp: @Sendable (FixtureCertificate) throws -> [UInt8]? = { _ in nil }
        var list: @Sendable (FixtureCertificate) throws -> [UInt8]? = { _ in nil }
        /// Where the list is, if anywhere: a number leads there by so many redirects.
        var place: String? = "list"
        /// The places before these: URLs of their own.
        var responders: [String] = []
        var lists: [String] = []
    }

    private final class Certificate: @unchecked Sendable { var value: FixtureCertificate? }

    /// Probes a server whose certificate names an issuer that answers so.
    private func outcome(
        _ issuer: Issuer,
        _ options: String...,
        scheme: String = "http",
        trusting root: String? = nil
    ) async throws -> (outcome: Outcome, paths: [String]) {
        let certificate = Certificate()
        let desk = try FixtureServer.start { request in
            guard let value = certificate.value else { return .status(500) }
            if let count = Int(request.path.dropFirst()), count > 0 {
                return .redirect(to: count == 1 ? "/list" : "/\(count - 1)")
            }
            let answer = try request.path == "/ocsp" ? issuer.ocsp(value) : issuer.list(value)
            return answer.map { .bytes($0) } ?? .status(404)
        }
        var profile = CertificateProfile.publicLeaf(host)
        // OpenSSL reads both URLs from one text.
        let responders = issuer.responders + ["\(scheme)://\(desk.authority)/ocsp"]
        profile.issuerURL = "http://ca.example/e1.crt" + responders.map { ",OCSP;URI:" + $0 }.joined()
        let lists = issuer.lists + (issuer.place.map { ["\(scheme)://\(desk.authority)/\($0)"] } ?? [])
        if !lists.isEmpty { profile.revocationListURL = lists.joined(separator: ",URI:") }
        certificate.value = try lab.issuer.issue(profile)
        let server = try FixtureServer.start(.tls(try #require(certificate.value))) { _ in .text("") }
        let outcome = try await probe(
            ["\(host)@\(server.authority)", "--revocation", "--skip-default"] + options,
            trusting: root ?? lab.root.rootPEM
        )
        return (outcome, desk.requests.map(\.target))
    }

    private static func list(
        by authority: TestAuthority,
        _ revoked: [FixtureCertificate],
        validity: CertificateProfile.Validity = .decades
    ) throws -> [UInt8] {
        let pem = try authority.revocationListPEM(revoked, validity: validity)
        let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        return Array(try #require(Data(base64Encoded: lines.joined())))
    }

    @Test("A responder's answer decides, and the list is not asked for then")
    func responder() async throws {
        let lab = lab
        let good = try await outcome(Issuer(ocsp: { try lab.issuer.ocspResponse(for: $0) }))
        #expect(good.outcome.code == 0 && good.outcome.record?.warnings.isEmpty == true)
        #expect(good.outcome.record?.observation.revocation?.word(now: Int(days(0))) == "good")
        #expect(good.paths == ["/ocsp"])
        let revoked = try await outcome(Issuer(ocsp: { try lab.issuer.ocspResponse(for: $0, .revoked) }))
        #expect(revoked.outcome.faults == ["revoked"] && revoked.outcome.code == 60)
    }

    @Test("With --deep the issuer is asked about the certificates for other kinds of keys as well")
    func otherKeys() async throws {
        let rsa = Certificate()
        let issuer = lab.issuer
        let desk = try FixtureServer.start { _ in
            try rsa.value.map { .bytes(try issuer.ocspResponse(for: $0, .revoked)) } ?? .status(404)
        }
        var profile = CertificateProfile.publicLeaf(host)
        profile.key = .rsa(2048)
        profile.issuerURL = "http://ca.example/e1.crt,OCSP;URI:http://\(desk.authority)/"
        let twin = try issuer.issue(profile)
        rsa.value = twin
        let server = try FixtureServer.start(
            .tls(certificates: [try issuer.issue(.publicLeaf(host)), twin])
        ) { _ in .text("") }
        let outcome = try await probe(
            host,
            at: server,
            "--deep",
            "--revocation",
            trusting: lab.root.rootPEM
        )
        #expect(outcome.faults == ["revoked"])
        #expect(outcome.record?.faults.first?.text.hasPrefix("RSA certificate: revoked on ") == true)
    }

    @Test("Without a usable answer of the responder the list decides")
    func lists() async throws {
        let lab = lab
        let revoked = try await outcome(Issuer(list: { try Self.list(by: lab.issuer, [$0]) }))
        #expect(revoked.outcome.faults == ["revoked"])
        #expect(revoked.paths == ["/ocsp", "/list"])
        let other = Issuer(
            ocsp: { try lab.root.ocspResponse(for: $0, .revoked) },
            list: { _ in try Self.list(by: lab.issuer, []) }
        )
        let good = try await outcome(other)
        #expect(good.outcome.code == 0 && good.outcome.record?.warnings.isEmpty == true)
    }

    @Test("An answer that is old, of somebody else, garbage or missing proves nothing, which is a warning")
    func useless() async throws {
        let lab = lab
        let old = CertificateProfile.Validity(notBefore: days(-9), notAfter: days(-2))
        let issuers = [
            Issuer(), Issuer(ocsp: { _ in [1, 2, 3] }, list: { _ in [0x30, 0] }),
            Issuer(ocsp: { try lab.issuer.ocspResponse(for: $0, validity: old) }, list: { _ in nil }),
            Issuer(list: { try Self.list(by: lab.issuer, [$0], validity: old) }),
            Issuer(list: { try Self.list(by: lab.root, [$0]) }),
        ]
        for (index, issuer) in issuers.enumerated() {
            let (outcome, _) = try await outcome(issuer)
            #expect(outcome.code == 0, "\(index)")
            #expect(outcome.record?.warnings.map(\.id) == [.revocationUnknown], "\(index)")
        }
    }

    /// A good answer by another signer, or about another certificate, or changed afterwards.
    private func wrongAnswers() throws -> [(String, @Sendable (FixtureCertificate) throws -> [UInt8]?)] {
        let (lab, twin) = (lab, try lab.root.intermediate("Lab Issuing CA E1"))
        let (begin, end) = (days(-1), days(6))
        let server = try lab.issuer.issue(.publicLeaf("ocsp.example.com"))
        var profile = CertificateProfile.publicLeaf("ocsp.example.com")
        profile.purposes = [.ocspSigning]
        let stranger = try lab.root.issue(profile)
        let other = try lab.issuer.issue(.publicLeaf("other.example.com"))
        return [
            ("signature", { try Self.changed(lab.issuer.ocspResponse(for: $0)) }),
            ("signature", { try lab.issuer.ocspResponse(for: $0, from: begin, to: end, by: server) }),
            ("signature", { try lab.issuer.ocspResponse(for: $0, from: begin, to: end, by: stranger) }),
            ("signature", { try twin.ocspResponse(for: $0) }),
            ("another certificate", { _ in try lab.issuer.ocspResponse(for: other) }),
            ("signature", { try lab.root.ocspResponse(for: $0) }),
            ("out of date", { try lab.issuer.ocspResponse(for: $0, from: days(-9), to: days(-2)) }),
            ("not valid yet", { try lab.issuer.ocspResponse(for: $0, from: days(1), to: end) }),
            ("names no end", { try lab.issuer.ocspResponse(for: $0, from: days(-2), to: nil) }),
        ]
    }

    /// The bytes with another last one, which is the signature's, or of a certificate after it.
    private static func changed(_ bytes: [UInt8]) -> [UInt8] {
        bytes.dropLast() + [bytes[bytes.count - 1] ^ 1]
    }

    @Test("A responder's good answer that is not the issuer's, of now and about this certificate is none")
    func wrongResponders() async throws {
        for (words, answer) in try wrongAnswers() {
            let record = try await outcome(Issuer(ocsp: answer, place: nil)).outcome.record
            #expect(record?.warnings.map(\.id) == [.revocationUnknown] && record?.passed == true, "\(words)")
            #expect(record?.warnings.first?.text.contains(words) == true, "\(record?.warnings ?? [])")
            // The list has the last word then.
            let list = Issuer(ocsp: answer, list: { try Self.list(by: lab.issuer, [$0]) })
            #expect(try await outcome(list).outcome.faults == ["revoked"], "\(words)")
        }
    }

    @Test("A responder that the issuer has authorised answers for it")
    func delegated() async throws {
        let lab = lab
        var profile = CertificateProfile.publicLeaf("ocsp.example.com")
        profile.purposes = [.ocspSigning]
        let responder = try lab.issuer.issue(profile)
        for status in [TestAuthority.RevocationStatus.good, .revoked] {
            let issuer = Issuer(
                ocsp: {
                    try lab.issuer.ocspResponse(for: $0, status, from: days(-1), to: days(6), by: responder)
                },
                place: nil
            )
            let outcome = try await outcome(issuer).outcome
            #expect(outcome.faults == (status == .revoked ? ["revoked"] : []))
            #expect(outcome.record?.warnings.isEmpty == true)
        }
    }

    @Test("A list that is not the issuer's, of now and whole is none")
    func wrongLists() async throws {
        let (lab, twin) = (lab, try lab.root.intermediate("Lab Issuing CA E1"))
        func validity(_ begin: Int64, _ end: Int64) -> CertificateProfile.Validity {
            .init(notBefore: days(begin), notAfter: days(end))
        }
        let (old, early) = (validity(-9, -2), validity(1, 9))
        let lists: [(String, @Sendable (FixtureCertificate) throws -> [UInt8]?)] = [
            ("signature failure", { _ in try Self.changed(Self.list(by: lab.issuer, [])) }),
            ("signature failure", { _ in try Self.list(by: twin, []) }),
            ("unable to get certificate CRL", { _ in try Self.list(by: lab.root, []) }),
            ("CRL has expired", { _ in try Self.list(by: lab.issuer, [], validity: old) }),
            ("CRL is not yet valid", { _ in try Self.list(by: lab.issuer, [], validity: early) }),
            ("no list of revoked", { _ in [0x30, 0] }),
        ]
        for (words, list) in lists {
            let record = try await outcome(Issuer(list: list)).outcome.record
            #expect(record?.warnings.map(\.id) == [.revocationUnknown] && record?.passed == true, "\(words)")
            #expect(record?.warnings.first?.text.contains(words) == true, "\(record?.warnings ?? [])")
        }
    }

    @Test("Questions and lists have a limit of time, of size and of redirects", .idleLimit)
    func limits() async throws {
        let lab = lab
        let list: @Sendable (FixtureCertificate) throws -> [UInt8]? = { _ in try Self.list(by: lab.issuer, [])
        }
        for (place, warnings) in [("2", []), ("3", [Warning.ID.revocationUnknown])] {
            let record = try await outcome(Issuer(list: list, place: place)).outcome.record
            #expect(record?.warnings.map(\.id) == warnings, "\(place)")
        }
        let large = Issuer(list: { try (list($0) ?? []) + [UInt8](repeating: 0, count: 16 << 20) })
        let text = try await outcome(large).outcome.record?.warnings.first?.text
        #expect(text?.contains("does not answer") == true, "\(text ?? "")")
        let silent = try FixtureServer.start(behaviour: .bytes(.silent))
        var profile = CertificateProfile.publicLeaf(host)
        profile.revocationListURL = "http://\(silent.authority)/"
        let server = try FixtureServer.start(.tls(try lab.issuer.issue(profile))) { _ in .text("") }
        // The limit holds for the question alone: for the handshake no time passes.
        let outcome = try await probe(
            ["\(host)@\(server.authority)", "--revocation", "-t", "2s"],
            trusting: lab.root.rootPEM,
            on: HeldTime().loop
        )
        #expect(outcome.record?.warnings.map(\.id) == [.revocationUnknown])
    }

    @Test("Thresholds of their own hold for the ends of responses and lists")
    func ends() async throws {
        let lab = lab
        let list = Issuer(list: {
            _ in
            try Self.list(by: lab.issuer, [], validity: .init(notBefore: days(-9), notAfter: days(2) + 3600))
        })
        #expect(try await outcome(list).outcome.record?.warnings.isEmpty == true)
        let warned = try await outcome(list, "--warn-status-days", "3").outcome
        #expect(warned.code == 0 && warned.record?.warnings.map(\.id) == [.revocationEnds])
        let words = "the answer of its issuer's list ends in 2 days, and no newer one is sent"
        #expect(warned.record?.warnings.map(\.text) == [words])
        let failed = try await outcome(list, "--critical-status-days", "3", "--warn-status-days", "4").outcome
        #expect(failed.code == 90 && failed.faults == ["status_ends"])
        #expect(try await outcome(list, "--critical-status-days", "2").outcome.code == 0)
        let nagios = NagiosOutput(Style())
        let sink = OutputSink.memory
        let metrics = PrometheusOutput(to: sink)
        var digest = Digest()
        let record = try #require(failed.record)
        digest.add(record)
        for output in [nagios, metrics] as [any RecordOutput] { output.add(record, isOnlyOne: true) }
        metrics.finish(digest, interrupted: false)
        #expect(nagios.line(digest, interrupted: false).contains("CRITICAL") && metrics.flush())
        let end = try #require(record.observation.revocation?.judgement?.nextUpdate)
        let text = String(decoding: sink.bytes, as: UTF8.self)
        #expect(text.contains("sni_probe_revocation_next_update_seconds{") && text.contains("} \(end)\n"))
    }

    @Test("Every place is asked in its order until one answers, and one that is not asked is named")
    func severalPlaces() async throws {
        let (lab, dead) = (lab, try FixtureServer.refusing())
        // OpenSSL's text for a certificate cannot have the commas of an LDAP URL.
        let ldap = "ldap://ad.example/cn=CA?certificateRevocationList"
        let lists = [ldap, "http://\(dead.authority)/list"]
        let revoked = Issuer(list: { try Self.list(by: lab.issuer, [$0]) }, lists: lists)
        #expect(try await outcome(revoked).outcome.faults == ["revoked"])
        let responders = ["http://\(dead.authority)/ocsp"]
        let answer: @Sendable (FixtureCertificate) throws -> [UInt8]? = {
            try lab.issuer.ocspResponse(for: $0)
        }
        let good = Issuer(ocsp: answer, responders: responders, lists: [ldap])
        let (clear, paths) = try await outcome(good)
        #expect(clear.record?.warnings.isEmpty == true && paths == ["/ocsp"])
        for list in [nil, [0x30, 0]] as [[UInt8]?] {
            let none = Issuer(list: { _ in list }, responders: responders, lists: lists)
            let text = try await outcome(none).outcome.record?.warnings.first?.text ?? ""
            #expect(
                text.contains("list is not asked over ldap") && text.contains("does not answer"),
                "\(text)"
            )
        }
    }

    @Test("The changes to a list are no list", .enabled(if: Self.openssl != nil, "needs openssl"))
    func deltaList() async throws {
        let lab = lab
        let delta: @Sendable (FixtureCertificate) throws -> [UInt8]? = { _ in try Self.delta(by: lab.issuer) }
        let record = try await outcome(Issuer(list: delta)).outcome.record
        #expect(record?.warnings.map(\.id) == [.revocationUnknown])
        #expect(record?.warnings.first?.text.contains("deltaCRLIndicator") == true)
    }

    private static let openssl = ["/usr/bin/openssl", "/usr/local/bin/openssl", "/opt/homebrew/bin/openssl"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// A list of the authority's with the extension that makes it one of changes (RFC 5280, section 5.2.4).
    private static func delta(by authority: TestAuthority) throws -> [UInt8] {
        let folder = NSTemporaryDirectory() + "sni-probe-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let settings = """
            [ca]
            default_ca=own
            [own]
            database=\(folder)/index
            crlnumber=\(folder)/number
            default_md=sha256
            crl_extensions=delta
            [delta]
            2.5.29.27=critical,ASN1:INTEGER:1
            """
        for (name, text) in [
            ("settings", settings), ("index", ""), ("number", "02\n"), ("ca.pem", authority.certificate.pem),
            ("ca.key", authority.certificate.keyPEM),
        ] { try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8) }
        let process = Process()
        process.executableURL = URL(filePath: try #require(openssl))
        process.arguments =
            ["ca", "-gencrl", "-config", folder + "/settings", "-cert", folder + "/ca.pem"]
            + ["-keyfile", folder + "/ca.key", "-crldays", "30", "-out", folder + "/list.pem"]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        let pem = try String(contentsOfFile: folder + "/list.pem", encoding: .utf8)
        let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        return Array(try #require(Data(base64Encoded: lines.joined())))
    }

    @Test("A responder inside leads to no other host inside, and never to a cloud's secrets")
    func redirectsInside() async throws {
        let inner = try Listener.atOwnAddress()
        let places = [
            "http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/", "http://100.100.100.200/",
            "http://\(inner.address):\(inner.port)/list",
        ]
        for place in places {
            let desk = try FixtureServer.start { _ in .redirect(to: place) }
            for list in [true, false] {
                var profile = CertificateProfile.publicLeaf(host)
                if list {
                    profile.revocationListURL = "http://\(desk.authority)/"
                } else {
                    profile.issuerURL = "http://ca.example/e1.crt,OCSP;URI:http://\(desk.authority)/"
                }
                let server = try FixtureServer.start(.tls(try lab.issuer.issue(profile))) { _ in .text("") }
                let record = try await probe(host, at: server, "--revocation", trusting: lab.root.rootPEM)
                    .record
                let answer = try #require(record?.observation.revocation)
                #expect(answer.judgement == nil)
                // A POST becomes a GET, or is not sent on at all.
                #expect(answer.failure.contains("may not be dialled"), "\(place): \(answer.failure)")
            }
        }
        // Named by the certificate itself, the cloud's secrets are out of reach as well.
        var profile = CertificateProfile.publicLeaf(host)
        profile.revocationListURL = places[0]
        let server = try FixtureServer.start(.tls(try lab.issuer.issue(profile))) { _ in .text("") }
        let record = try await probe(host, at: server, "--revocation", trusting: lab.root.rootPEM).record
        #expect(record?.observation.revocation?.failure.contains("may not be dialled") == true)
        inner.stop()
        #expect(throws: (any Error).self) { _ = try inner.accept() }
    }

    @Test("Nobody is asked about a chain that is not trusted, nor over another scheme than http")
    func unasked() async throws {
        let lab = lab
        let issuer = Issuer(ocsp: { try lab.issuer.ocspResponse(for: $0) })
        let untrusted = try await outcome(issuer, trusting: TestAuthority("Other").rootPEM)
        #expect(untrusted.outcome.code == 60 && untrusted.paths.isEmpty)
        let encrypted = try await outcome(issuer, scheme: "https")
        #expect(
            encrypted.outcome.record?.warnings.map(\.id) == [.revocationUnknown] && encrypted.paths.isEmpty
        )
        #expect(encrypted.outcome.record?.warnings.first?.text.contains("is not asked over https") == true)
    }

    @Test("For a server on the public internet no address outside of it is asked")
    func inside() async throws {
        let inner = try Listener.atOwnAddress()
        var profile = CertificateProfile.publicLeaf(host)
        profile.revocationListURL = "http://\(inner.address):\(inner.port)/list"
        let server = try FixtureServer.start(.tls(try lab.issuer.issue(profile))) { _ in .text("") }
        let record = try await probe(host, at: server, trusting: lab.root.rootPEM).record
        let chain = try #require(record?.served?.chain)
        let address = try #require(IPAddress("8.8.8.8"))
        let answer = await RevocationDesk.shared.ask(about: chain, at: address, within: .seconds(60))
        #expect(answer?.judgement == nil)
        #expect(answer?.failure.contains("may not be dialled") == true, "\(answer?.failure ?? "")")
        inner.stop()
        #expect(throws: (any Error).self) { _ = try inner.accept() }
    }

    @Test("The issuer is asked about every certificate that the server shows", arguments: [0, 1])
    func everyAnswer(_ bad: Int) async throws {
        let issued = Mutex<[String: FixtureCertificate]>([:])
        let lab = lab
        let desk = try FixtureServer.start { request in
            guard let value = issued.withLock({ $0[request.path] }) else { return .status(500) }
            return .bytes(try lab.issuer.ocspResponse(for: value, request.path == "/1" ? .revoked : .good))
        }
        for path in ["/0", "/1"] {
            var profile = CertificateProfile.publicLeaf(host)
            profile.issuerURL = "http://ca.example/e1.crt,OCSP;URI:http://\(desk.authority)\(path)"
            let certificate = try lab.issuer.issue(profile)
            issued.withLock { $0[path] = certificate }
        }
        let (pair, number) = (issued.withLock { [$0["/0"], $0["/1"]] }, Number(bad))
        let server = try FixtureServer.start(
            .tls(certificates: [], default: lab.standard) { settings in
                settings.choose = { _ in pair[number.next() % 2] }
            }
        ) { _ in .text("") }
        let outcome = try await probe(
            ["\(host)@\(server.authority)", "--revocation", "--skip-default", "--repeat", "4"],
            trusting: lab.root.rootPEM
        )
        #expect(outcome.faults == ["answers_vary"] && outcome.code == 60)
        #expect(outcome.record?.faults.first?.text.contains("revoked") == true)
        #expect(Set(desk.requests.map(\.target)) == ["/0", "/1"])
    }

    private final class Number: Sendable {
        private let value: Mutex<Int>
        init(_ first: Int) { value = Mutex(first) }
        func next() -> Int {
            value.withLock {
                $0 += 1
                return $0 - 1
            }
        }
    }

    @Test(
        "The unspecified address leads nowhere, also for a server on this machine",
        arguments: ["0.0.0.0", "[::]"]
    )
    func unspecified(_ place: String) async throws {
        let inner = try Listener()
        var profile = CertificateProfile.publicLeaf(host)
        profile.revocationListURL = "http://\(place):\(inner.port)/list"
        let server = try FixtureServer.start(.tls(try lab.issuer.issue(profile))) { _ in .text("") }
        let record = try await probe(host, at: server, "--revocation", trusting: lab.root.rootPEM).record
        let failure = record?.observation.revocation?.failure ?? ""
        #expect(failure.contains("may not be dialled"), "\(failure)")
        inner.stop()
        #expect(throws: (any Error).self) { _ = try inner.accept() }
    }
}
