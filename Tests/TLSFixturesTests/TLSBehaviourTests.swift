import DirectTestCommands
import Foundation
import TLSFixtures
import Testing

@Suite("The TLS side of a server", .idleLimit, .enabled(if: isInstalled("openssl")))
struct TLSBehaviourTests {
    private let authority = TestAuthority()
    private var leaf: FixtureCertificate { authority.certificate(for: "a.test") }
    private let hello: FixtureBehaviour = .bytes([.send("hello")])

    @Test("An unknown name is answered with the chosen alert", arguments: [UInt8(112), 40, 80])
    func unknownNameAlert(number: UInt8) async throws {
        let server = try FixtureServer.start(.tls(leaf) { $0.unknownName = .alert(number) }, behaviour: hello)
        let result = try await openSSLClient(server, "-servername", "b.test")
        #expect(result.errors.contains("SSL alert number \(number)"))
        let record = try await server.nextRecord()
        #expect(record.end == .nameRefused)
        #expect(record.serverName == "b.test")
        let known = try await openSSLClient(server, "-servername", "A.Test", "-quiet")
        #expect(known.output == "hello")
    }

    @Test(
        "A connection for an unknown name is closed or reset without an alert",
        arguments: [FixtureTLSSettings.Answer.close, .reset]
    )
    func unknownNameSilence(answer: FixtureTLSSettings.Answer) async throws {
        let server = try FixtureServer.start(.tls(leaf) { $0.unknownName = answer }, behaviour: hello)
        let result = try await openSSLClient(server, "-servername", "b.test")
        #expect(!result.errors.contains("alert number"))
        // 104 is ECONNRESET.
        #expect(result.errors.contains("errno=104") == (answer == .reset))
        #expect(result.output.contains("read 0 bytes"))
        #expect(try await server.nextRecord().end == .nameRefused)
    }

    @Test("An unknown name gets a warning in TLS 1.2, and then the default certificate")
    func unknownNameWarning() async throws {
        let server = try FixtureServer.start(.tls(leaf) { $0.unknownName = .warning }, behaviour: hello)
        let result = try await openSSLClient(server, "-servername", "b.test", "-tls1_2", "-msg", "-quiet")
        #expect(result.output.contains("warning unrecognized_name"))
        #expect(result.output.contains("hello"))
        #expect(try await server.nextRecord().tls != nil)
    }

    @Test("A client without SNI is treated as the settings say")
    func missingName() async throws {
        let other = authority.certificate(for: "default.test")
        let lax = try FixtureServer.start(.tls(certificates: [leaf], default: other), behaviour: hello)
        let result = try await openSSLClient(lax, "-noservername")
        #expect(result.subject == "CN=default.test")
        #expect(lax.records.first?.serverName == nil)
        let strict = try FixtureServer.start(
            .tls(certificates: [leaf], default: other) { $0.missingName = .alert(40) },
            behaviour: hello
        )
        #expect(try await openSSLClient(strict, "-noservername").errors.contains("SSL alert number 40"))
    }

    @Test("The certificate for a name is served whatever its contents")
    func certificatesByName() async throws {
        let wrong = authority.certificate(for: "wrong.test")
        let server = try FixtureServer.start(
            .tls(leaf) { $0.certificatesByName["a.test"] = wrong },
            behaviour: hello
        )
        let result = try await openSSLClient(server, "-servername", "a.test")
        #expect(result.subject == "CN=wrong.test")
    }

    @Test("Both keys of a name are offered, and the client chooses")
    func twoKeys() async throws {
        var profile = CertificateProfile(for: "a.test")
        profile.key = .rsa(2048)
        let server = try FixtureServer.start(
            .tls(certificates: [leaf, try authority.issue(profile)]),
            behaviour: hello
        )
        for (algorithms, kind) in [("ECDSA+SHA256", "ecdsa"), ("RSA-PSS+SHA256", "rsa")] {
            let result = try await openSSLClient(server, "-servername", "a.test", "-sigalgs", algorithms)
            #expect(result.output.lowercased().contains("peer signature type: \(kind)"))
        }
    }

    @Test("Only the chosen versions are accepted", arguments: FixtureTLSSettings.Version.allCases)
    func versions(version: FixtureTLSSettings.Version) async throws {
        let server = try FixtureServer.start(
            .tls(leaf) {
                $0.minimumVersion = version
                $0.maximumVersion = version
            },
            behaviour: hello
        )
        let result = try await openSSLClient(
            server,
            "-quiet",
            "-min_protocol",
            "TLSv1",
            "-cipher",
            "ALL:@SECLEVEL=0"
        )
        #expect(result.output == "hello")
        let names: [FixtureTLSSettings.Version: String] = [
            .tls10: "TLSv1", .tls11: "TLSv1.1", .tls12: "TLSv1.2", .tls13: "TLSv1.3",
        ]
        #expect(try await server.nextRecord().tls?.version == names[version])
        let other = version == .tls13 ? "-tls1_2" : "-tls1_3"
        #expect(try await openSSLClient(server, other).errors.contains("SSL alert number 70"))
    }

    @Test("Contradictory versions are an error at the start")
    func contradictoryVersions() {
        #expect(throws: FixtureError.self) {
            try FixtureServer.start(
                .tls(leaf) {
                    $0.minimumVersion = .tls13
                    $0.maximumVersion = .tls12
                },
                behaviour: hello
            )
        }
    }

    @Test("Sessions are resumed with tickets, and never without", arguments: ["-tls1_3", "-tls1_2"])
    func resumption(version: String) async throws {
        for tickets in [2, 0] {
            let session = try TemporaryFile("")
            let server = try FixtureServer.start(.tls(leaf) { $0.tickets = tickets }, behaviour: hello)
            _ = try await openSSLClient(server, version, "-sess_out", session.path, "-quiet")
            // Without a session the file is empty, and s_client would not start with it.
            let resuming = session.isEmpty ? [] : ["-sess_in", session.path]
            _ = try await openSSLClient(server, arguments: [version, "-quiet"] + resuming)
            let records = try await server.waitUntil { $0.count == 2 && $0.allSatisfy { $0.end != nil } }
            #expect(records.map(\.isResumed) == [false, tickets > 0])
            #expect(records[0].hello?.offersResumption == false)
            if tickets > 0 { #expect(records[1].hello?.offersResumption == true) }
        }
    }

    @Test("Sessions are resumed under another name, as by real servers, and the client has to check")
    func resumptionAcrossNames() async throws {
        let session = try TemporaryFile("")
        let server = try FixtureServer.start(
            .tls(certificates: [leaf, authority.certificate(for: "b.test")]),
            behaviour: hello
        )
        _ = try await openSSLClient(server, "-sess_out", session.path, "-quiet", "-servername", "a.test")
        _ = try await openSSLClient(server, "-sess_in", session.path, "-quiet", "-servername", "b.test")
        let records = try await server.waitUntil { $0.count == 2 && $0.allSatisfy { $0.end != nil } }
        #expect(records.map(\.serverName) == ["a.test", "b.test"])
        #expect(records.map(\.isResumed) == [false, true])
    }

    @Test("Servers with equal ticket keys resume each other's sessions")
    func sharedTicketKeys() async throws {
        let session = try TemporaryFile("")
        let servers = try (0..<2).map { _ in
            try FixtureServer.start(.tls(leaf) { $0.ticketKeys = Array(0..<80) }, behaviour: hello)
        }
        _ = try await openSSLClient(servers[0], "-sess_out", session.path, "-quiet")
        _ = try await openSSLClient(servers[1], "-sess_in", session.path, "-quiet")
        #expect(try await servers[1].nextRecord().isResumed)
    }

    @Test("A client's certificate is recorded if requested, and its absence refused if required")
    func clientCertificates() async throws {
        let client = try authority.issue(.client("someone"))
        let (pem, key) = (try TemporaryFile(client.pem), try TemporaryFile(client.keyPEM))
        let requested = try FixtureServer.start(
            .tls(leaf) { $0.clientCertificates = .requested },
            behaviour: hello
        )
        _ = try await openSSLClient(requested, "-cert", pem.path, "-key", key.path, "-quiet")
        let record = try await requested.nextRecord()
        #expect(record.tls?.clientSubject == "CN=someone")
        #expect(record.tls?.clientCertificate == client.der)
        #expect(try await openSSLClient(requested, "-quiet").output == "hello")

        let required = try FixtureServer.start(
            .tls(leaf) { $0.clientCertificates = .required(from: [authority.certificate]) },
            behaviour: hello
        )
        #expect(
            try await openSSLClient(required, "-cert", pem.path, "-key", key.path, "-quiet").output == "hello"
        )
        #expect(try await openSSLClient(required, "-quiet").errors.contains("SSL alert number 116"))
        let stranger = try TestAuthority("Stranger").issue(.client("someone"))
        let (otherPEM, otherKey) = (try TemporaryFile(stranger.pem), try TemporaryFile(stranger.keyPEM))
        let refused = try await openSSLClient(
            required,
            "-cert",
            otherPEM.path,
            "-key",
            otherKey.path,
            "-quiet"
        )
        #expect(refused.errors.contains("SSL alert number"))
    }

    @Test("ALPN is agreed on, ignored, forced or refused as the settings say")
    func applicationProtocols() async throws {
        func selected(_ offer: String, _ configure: (inout FixtureTLSSettings) -> Void) async throws
            -> String?
        {
            let server = try FixtureServer.start(.tls(leaf, configure), behaviour: hello)
            _ = try await openSSLClient(server, "-alpn", offer, "-quiet")
            let record = try await server.nextRecord()
            #expect(record.hello?.applicationProtocols == offer.split(separator: ",").map(String.init))
            return record.tls.map { $0.applicationProtocol ?? "none" }
        }
        #expect(try await selected("h2,http/1.1") { _ in } == "http/1.1")
        #expect(try await selected("h2,http/1.1") { $0.applicationProtocols = ["h2", "http/1.1"] } == "h2")
        #expect(try await selected("http/1.1") { $0.applicationProtocols = [] } == "none")
        #expect(try await selected("h2") { _ in } == "none")
        #expect(try await selected("h2") { $0.refusesUnknownProtocols = true } == nil)
        let forcing = try FixtureServer.start(
            .tls(leaf) { $0.forcedApplicationProtocol = "h2" },
            behaviour: hello
        )
        _ = try await openSSLClient(forcing, "-alpn", "http/1.1")
        // This client looks, and refuses what it did not offer.
        guard case .clientAlert = try await forcing.nextRecord().end else {
            Issue.record("\(forcing.records)")
            return
        }
    }

    @Test("The OCSP response is stapled for clients that request it")
    func staple() async throws {
        let response = try authority.ocspResponse(for: leaf, .revoked)
        let server = try FixtureServer.start(.tls(leaf) { $0.ocspStaple = response }, behaviour: hello)
        let result = try await openSSLClient(server, "-status")
        #expect(result.output.contains("OCSP Response Status: successful"))
        #expect(result.output.contains("Cert Status: revoked"))
        #expect(try await server.nextRecord().hello?.asksForStaple == true)
    }

    @Test("The alert of a client that refuses the certificate is recorded")
    func clientAlert() async throws {
        let server = try FixtureServer.start(.tls(leaf), behaviour: hello)
        let result = try await openSSLClient(
            server,
            "-verify_return_error",
            "-verify",
            "3",
            "-no-CApath",
            "-no-CAfile"
        )
        #expect(result.status != 0)
        // unknown_ca
        #expect(try await server.nextRecord().end == .clientAlert(48))
    }

    @Test("A HelloRetryRequest is sent if the client's key share is of another group")
    func helloRetry() async throws {
        let server = try FixtureServer.start(.tls(leaf) { $0.groups = "P-384" }, behaviour: hello)
        let result = try await openSSLClient(
            server,
            "-groups",
            "X25519:P-384",
            "-quiet",
            "-servername",
            "a.test"
        )
        #expect(result.output == "hello")
        #expect(try await server.nextRecord().serverName == "a.test")
    }

    @Test("Plain HTTP on a TLS port is recorded as such")
    func plainOnTLS() async throws {
        let server = try FixtureServer.start(.tls(leaf)) { _ in .text("") }
        _ = await talk(to: server, sending: "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        guard case .tlsFailed(let reason) = try await server.nextRecord().end else {
            Issue.record("\(server.records)")
            return
        }
        #expect(reason.contains("http request"))
    }
}

extension CommandResult {
    /// The subject that `openssl s_client` prints: `CN = a.test` until version 3.1, `CN=a.test` from 3.2 on.
    fileprivate var subject: String? {
        let line = output.split(separator: "\n").first { $0.hasPrefix("subject=") }
        return line.map { $0.dropFirst("subject=".count).filter { $0 != " " } }
    }
}
