import DirectTestTime
import Foundation
import TLSFixtures
import Testing

@testable import SNIProbe

/// A hint is for the fault that is there: what it takes for granted has to be true.
@Suite("Hints")
struct HintTests {
    private let root = TestAuthority()

    private func record(_ arguments: [String]) async throws -> ProbeRecord {
        try #require(try await probe(arguments, trusting: root.rootPEM).record)
    }

    private func hint(_ arguments: [String]) async throws -> String? {
        try await record(arguments).hint?.text
    }

    @Test("A hint for a request without TLS mentions neither TLS nor certificates")
    func aRequestWithoutTLSIsNotToldThatTLSIsFine() async throws {
        let answers = ["HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n\r\n"]
        for answer in answers {
            let server = try FixtureServer.start(
                behaviour: .bytes([.awaitArrival, .send(answer), .awaitClose])
            )
            let text = try await hint(["http://a.test:\(server.port)/@127.0.0.1"]) ?? ""
            #expect(!text.contains("TLS is fine"))
            #expect(!text.contains("certificate"))
        }
    }

    @Test("A server that speaks TLS is recognised by a request without TLS")
    func aPortForTLSIsRecognisedAlsoWithoutTLS() async throws {
        let server = try FixtureServer.start(behaviour: .bytes([.awaitArrival, .alert(10), .awaitClose]))
        let record = try await record(["http://a.test:\(server.port)/@127.0.0.1"])
        #expect(record.exitCode == 56)
        #expect(record.faults.map(\.text) == ["not plain HTTP: the server speaks TLS"])
        #expect(record.hint?.text == "the port may be one for TLS: try https://a.test:\(server.port)/")
    }

    @Test("The hint for the version alert depends on whether --tls chose a version")
    func versionsThatAreTooOldAreToldFromTheOneThatWasAskedFor() async throws {
        let server = try FixtureServer.start(behaviour: .bytes([.awaitArrival, .alert(70), .awaitClose]))
        let place = "a.test@\(server.authority)"
        #expect(try await hint([place])?.contains("too old") == true)
        #expect(
            try await hint([place, "--tls", "1.3"])
                == "the server does not speak that version of TLS: leave out --tls"
        )
    }

    @Test("A server that demands a client certificate has a hint that says so", arguments: ["1.2", "1.3"])
    func aServerThatWantsToKnowWhoWeAreIsNoPuzzle(_ version: String) async throws {
        let server = try FixtureServer.start(
            .tls(root.certificate(for: "a.test")) { $0.clientCertificates = .required(from: []) }
        ) { _ in .text("") }
        let record = try await record(
            ["https://a.test:\(server.port)/", "@127.0.0.1", "--tls", version, "--skip-default"]
        )
        #expect(!record.passed)
        #expect(
            record.hint?.text
                == "the server wants a client certificate: give one with --cert FILE and --key FILE"
        )
    }

    @Test("A refused handshake is not blamed on the name without a comparison")
    func whereNobodyComparedTheNameIsNotBlamed() async throws {
        let server = try FixtureServer.start(behaviour: .bytes([.awaitArrival, .alert(40), .awaitClose]))
        let place = "a.test@\(server.authority)"
        #expect(try await hint([place, "--skip-default"])?.contains("without --skip-default") == true)
        let both = "it refuses with the name and without"
        #expect(try await hint([place])?.hasPrefix(both) == true)
        #expect(try await hint([place, "--no-sni"])?.hasPrefix(both) == true)
    }

    @Test("The hint for a probe without a name does not suggest --no-sni")
    func whereNoNameWasSentNobodyIsToldToLeaveItOut() async throws {
        let text = try await hintOfSilence(connections: 2, "--no-sni")
        #expect(text?.contains("--no-sni") == false)
    }

    @Test("The hint suggests a comparison with --no-sni only if none was made")
    func whatHasBeenComparedIsNotToBeComparedAgain() async throws {
        let reset = try FixtureServer.start(behaviour: .bytes([.awaitArrival, .reset]))
        let place = "a.test@\(reset.authority)"
        for text in [try await hintOfSilence(connections: 2), try await hint([place])] {
            #expect(text?.contains("with the name and without") == true)
            #expect(text?.contains("--no-sni") == false)
        }
        // Without an earlier comparison the hint suggests one.
        let alone = "--skip-default"
        for text in [try await hintOfSilence(connections: 1, alone), try await hint([place, alone])] {
            #expect(text?.contains("--no-sni") == true)
        }
    }

    /// The hint for a server that never says anything.
    private func hintOfSilence(connections: Int, _ options: String...) async throws -> String? {
        let silent = try FixtureServer.start(behaviour: .bytes(.silent))
        let outcome = try await probe(
            ["a.test@\(silent.authority)"] + options,
            trusting: root.rootPEM,
            at: silent
        ) { $0.count == connections }
        return outcome.record?.hint?.text
    }

    /// Probes a server that never answers handshakes with the name, or those without. Both are made again
    /// after half a second, and the limit comes when all but the unanswered have ended.
    private func recordOfSilence(withName isSilent: Bool, _ options: String...) async throws -> ProbeRecord {
        let end = DispatchSemaphore(value: 0)
        let server = try FixtureServer.start(
            .tls(root.certificate(for: "a.test")) { settings in
                settings.choose = { name in
                    if (name != nil) == isSilent {
                        end.wait()
                        end.signal()
                    }
                    return nil
                }
            }
        ) { _ in .text("") }
        // A server waits for its threads when it goes.
        defer { withExtendedLifetime(server) { _ = end.signal() } }
        let (time, roots) = (HeldTime(), root.rootPEM)
        async let outcome = probe(
            ["a.test@\(server.authority)", "-t", "3s"] + options,
            trusting: roots,
            on: time.loop
        )
        _ = try await server.waitUntil { records in
            records.contains { ($0.serverName != nil) != isSilent && $0.end != nil }
        }
        await time.settle()
        try await time.pass(.milliseconds(500))
        // Each that is silent delays the next by a quarter of a second.
        for count in 2...4 {
            _ = try await server.waitUntil { records in
                records.count { ($0.serverName != nil) == isSilent && $0.hello != nil } == count
            }
            try await time.pass(.milliseconds(250))
        }
        _ = try await server.waitUntil { records in
            records.count { ($0.serverName != nil) != isSilent && $0.end != nil } == 4
        }
        await time.settle()
        time.advance(by: .milliseconds(2000))
        return try #require(try await outcome.record)
    }

    @Test("A server that is silent to one of the two handshakes has a hint that names the difference")
    func silenceToOneOfTwo() async throws {
        async let named = recordOfSilence(withName: true)
        async let nameless = recordOfSilence(withName: false)
        async let unasked = recordOfSilence(withName: false, "--no-sni")
        #expect(
            try await named.hint?.text
                == "without the name the same IP answers: something on the path, or the server, filters a.test, in 4 of 4 "
                + "handshakes; or several servers answer there: --repeat 20 counts their answers"
        )
        #expect(try await nameless.passed)
        #expect(
            SNIWords(record: try await nameless, style: Style()).text == "unknown: no answer without it"
        )
        #expect(try await unasked.faults.map(\.id) == [.timeoutTLS])
        #expect(
            try await unasked.hint?.text
                == "with the name the same IP answers: it may require one, and none was sent: leave out --no-sni"
        )
    }

    @Test("A target that is an IP of a server that requires a name is told how to send one")
    func addressWithoutName() async throws {
        let server = try FixtureServer.start(
            .tls(root.certificate(for: "a.test")) { $0.missingName = .alert(112) }
        ) { _ in .text("") }
        #expect(
            try await hint([server.authority])
                == "no name is sent for an IP, but this server requires one: sni-probe NAME:\(server.port) @127.0.0.1"
        )
    }

    @Test("A certificate without the IP that is the target is explained")
    func addressInNoCertificate() async throws {
        let other = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in .text("") }
        #expect(
            LongForm(record: try await record([other.authority]), style: Style(), verbose: false).text
                .contains("127.0.0.1 is an IP: the certificate has no IP SAN")
        )
        let misplaced = try root.issue(CertificateProfile([.dns("127.0.0.1")]))
        let server = try FixtureServer.start(.tls(misplaced)) { _ in .text("") }
        #expect(
            LongForm(record: try await record([server.authority]), style: Style(), verbose: false).text
                .contains("127.0.0.1 is there as a DNS name, which does not count for an IP")
        )
    }

    @Test("An address to which no packet can be sent has a hint about the route", .enabled(if: isLinux))
    func unreachable() async throws {
        // Linux sends no segments of TCP to a broadcast address, whatever its routes are.
        let record = try await record(["a.test@255.255.255.255"])
        #expect(record.faults.map(\.id) == [.unreachable])
        #expect(
            record.hint?.text
                == "255.255.255.255 cannot be reached from here: check the IP, the route and the firewall"
        )
    }

    @Test("A handshake without the name that breaks off is no verdict about the name")
    func brokenWithoutName() async throws {
        let server = try FixtureServer.start(
            .tls(root.certificate(for: "a.test")) { $0.missingName = .alert(112) },
            behaviour: .sequence(
                [
                    .http { _ in .text("") }, .bytes(Self.nonsense), .bytes(Self.nonsense),
                    .bytes(Self.nonsense), .bytes(Self.nonsense), .http { _ in .text("") },
                    .http { _ in .text("") }, .http { _ in .text("") },
                ]
            )
        )
        let record = try await record(["a.test@\(server.authority)"])
        #expect(record.passed)
        #expect(
            SNIWords(record: record, style: Style()).text == "unknown: the handshake without it failed"
        )
    }

    /// A record of TLS with a message that there is not.
    private static let nonsense: ByteScript = [
        .awaitArrival, .rawBytes([22, 3, 3, 0, 4, 0xFF, 0, 0, 0]), .awaitClose,
    ]

    @Test("The long form has what the response was, and what OpenSSL says of a broken handshake")
    func details() async throws {
        let good = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in
            .text("hello", ["X-One": "1", "X-Two": "\u{202E}2"])
        }
        let response = try await record(["https://a.test:\(good.port)/", "@127.0.0.1"])
        let text = LongForm(record: response, style: Style(), verbose: true).text
        #expect(text.contains("X-One: 1\n"), "\(text)")
        #expect(text.contains("X-Two: ") && !text.unicodeScalars.contains("\u{202E}"), "\(text)")
        #expect(text.contains("\nbody         5 bytes\n"), "\(text)")
        #expect(text.contains("2cf24dba"), "\(text)")
        let bad = try FixtureServer.start(behaviour: .bytes(Self.nonsense))
        let broken = try await record(["a.test@\(bad.authority)"])
        #expect(broken.hint?.text.hasPrefix("it violates the TLS protocol") == true)
        let lines = LongForm(record: broken, style: Style(), verbose: true).text.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("openssl      ") && $0.count > 20 }, "\(lines)")
    }

    @Test("A handshake that stops halfway is distinguished from silence")
    func aHandshakeThatStopsHalfWayIsNotSilence() async throws {
        // The head of a record, and nothing of what it announces.
        let server = try FixtureServer.start(
            behaviour: .bytes([.awaitArrival, .send([22, 3, 3, 0x40, 0, 2]), .stall])
        )
        let record = try await record(["a.test@\(server.authority)", "-t", "10s"])
        #expect(
            record.faults == [
                Fault(.timeoutTLS, "handshake not finished in 10 s", brief: "unfinished in 10 s")
            ]
        )
        #expect(record.hint?.text.contains("began to answer") == true)
        let text = LongForm(record: record, style: Style(), verbose: false).text
        #expect(text.contains(" ms, then part of an answer\n"))
    }

    @Test("The fault says what the server's alert means")
    func theFirstLineSaysWhatAnAlertMeans() async throws {
        let old = try FixtureServer.start(behaviour: .bytes([.awaitArrival, .alert(70), .awaitClose]))
        let place = "a.test@\(old.authority)"
        #expect(try await record([place]).faults.map(\.text) == ["server does not support TLS 1.2 or 1.3"])
        let newer = try await record([place, "--tls", "1.3"])
        #expect(newer.faults.map(\.text) == ["server does not support TLS 1.3"])
        let client = try FixtureServer.start(
            .tls(root.certificate(for: "a.test")) { $0.clientCertificates = .required(from: []) }
        ) { _ in .text("") }
        let record = try await record(["a.test@\(client.authority)", "--tls", "1.2"])
        #expect(record.faults.map(\.text) == ["server wants a client certificate"])
    }

    @Test("The summary has one hint for each cause of a fault")
    func eachCauseOfAFaultHasItsHintInTheSummary() async throws {
        var digest = Digest()
        for alert: UInt8 in [40, 70, 116, 40, 70] {
            let server = try FixtureServer.start(
                behaviour: .bytes([.awaitArrival, .alert(alert), .awaitClose])
            )
            digest.add(try await record(["a.test@\(server.authority)"]))
        }
        #expect(digest.hints.count == 3)
    }

    @Test("The hint claims no entry for the host if the server refuses handshakes without a name")
    func whereNothingComesWithoutTheNameNoEntryIsClaimed() async throws {
        // Unknown names get the default certificate, and a handshake without a name is refused.
        let server = try FixtureServer.start(
            .tls(root.certificate(for: "b.test")) { $0.missingName = .alert(112) }
        ) { _ in .text("") }
        let record = try await record(["a.test@\(server.authority)"])
        #expect(record.hint?.text == "look at what is set up for a.test on 127.0.0.1")
        let words = SNIWords(record: record, style: Style()).text
        #expect(words == "without it this IP refuses the handshake (unrecognized_name), in 4 of 4 handshakes")
    }

    @Test("For a probe without the name, the words describe what the name would change")
    func withoutTheNameTheWordsTurnRound() async throws {
        let refusing = try FixtureServer.start(
            .tls(root.certificate(for: "b.test")) { $0.unknownName = .alert(112) }
        ) { _ in .text("") }
        let refused = try await record(["a.test@\(refusing.authority)", "--no-sni"])
        #expect(
            SNIWords(record: refused, style: Style()).text
                == "with it this IP refuses the handshake (unrecognized_name), in 4 of 4 handshakes"
        )
        let wrong = root.certificate(for: "c.test")
        let mixed = try FixtureServer.start(
            .tls(certificates: [], default: root.certificate(for: "b.test")) {
                $0.certificatesByName["a.test"] = wrong
            }
        ) { _ in .text("") }
        let other = try await record(["a.test@\(mixed.authority)", "--no-sni"])
        #expect(
            SNIWords(record: other, style: Style()).text
                == "with it this IP serves c.test, in 4 of 4 handshakes, which is wrong as well"
        )
        // The default is right, and what the name selects is not.
        let right = root.certificate(for: "a.test")
        let turned = try FixtureServer.start(
            .tls(certificates: [], default: right) { $0.certificatesByName["a.test"] = wrong }
        ) { _ in .text("") }
        let passed = try await record(["a.test@\(turned.authority)", "--no-sni"])
        #expect(passed.passed)
        #expect(
            SNIWords(record: passed, style: Style()).text
                == "with it this IP serves c.test, in 4 of 4 handshakes, which is wrong"
        )
    }

    @Test("Certificates that are not needed are surplus, and not out of order")
    func certificatesThatAreNotNeededAreNotCalledOutOfOrder() async throws {
        let issuer = try root.intermediate("Issuer")
        let stray = TestAuthority("Stray").certificate
        let leaf = try issuer.issue(.publicLeaf("a.test"))
        let chains: [([FixtureCertificate], [Warning.ID], String)] = [
            ([issuer.certificate], [], "leaf, Issuer;"),
            ([issuer.certificate, stray], [.chainSurplus], "Stray (more than needed);"),
            ([issuer.certificate, issuer.certificate], [.chainSurplus], "Issuer (more than needed);"),
            ([stray, issuer.certificate], [.chainSurplus], "Issuer (more than needed);"),
            ([root.certificate, issuer.certificate], [.chainOrder], "Issuer (not in order);"),
        ]
        for (sent, warnings, words) in chains {
            let server = try FixtureServer.start(.tls(leaf.sent(with: sent))) { _ in .text("") }
            let record = try await record(["a.test@\(server.authority)"])
            #expect(record.passed)
            #expect(record.warnings.map(\.id) == warnings, "\(words)")
            #expect(LongForm(record: record, style: Style(), verbose: false).text.contains(words), "\(words)")
        }
    }

    @Test("A name without addresses of the requested family has a fault and a hint that say so")
    func aFamilyThatTheNameLacksIsNoMistakeInTheName() async throws {
        let record = try await record(["localhost:1", "-6"])
        // The hosts file may have only the other family.
        guard record.lookupFailure != nil else { return }
        #expect(record.faults.map(\.text) == ["name not resolved: it has no IPv6 address"])
        #expect(record.hint?.text == "leave out -6, or say where to connect: sni-probe localhost:1 @IP")
    }

    @Test("A chain that is too large for clients is a fault")
    func whatClientsDoNotTakeIsAFault() async throws {
        var profile = CertificateProfile((0..<8000).map { .dns("host\($0).pool.test") } + [.dns("a.test")])
        profile.issuerURL = "http://ca.test/root.crt"
        let server = try FixtureServer.start(.tls(try root.issue(profile))) { _ in .text("") }
        let record = try await record(["a.test@\(server.authority)"])
        #expect(record.faults.map(\.id) == [.chainSize] && record.exitCode == 60)
        #expect(record.faults.first?.text.hasSuffix(" KiB of certificates, which clients refuse") == true)
    }

    @Test("The hint for status 404 names the path unless it is the root")
    func aPathThatIsNotThereIsNamed() async throws {
        let server = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in .status(404, [:]) }
        let unknown = "the host may be unknown to the HTTP server, though its certificate is there"
        #expect(try await hint(["https://a.test:\(server.port)/@127.0.0.1"]) == unknown)
        #expect(
            try await hint(["https://a.test:\(server.port)/health@127.0.0.1"])
                == "if /health has to be there, \(unknown)"
        )
    }

    @Test("The hint for a mail server mentions STARTTLS")
    func mailServersAreToldAboutSTARTTLS() async throws {
        let server = try FixtureServer.start(
            behaviour: .bytes([.send("220 mx.test ESMTP\r\n"), .awaitArrival, .awaitClose])
        )
        #expect(try await hint(["a.test@\(server.authority)"])?.contains("--starttls smtp") == true)
    }

    @Test("The command in a hint has the port, and a resolved address has its own hint")
    func thePortIsPartOfWhatToTypeNext() async throws {
        let server = try FixtureServer.start(.tls(root.certificate(for: "b.test"))) { _ in .text("") }
        let text = try await hint(["a.test:\(server.port)", "@127.0.0.1"])
        #expect(text?.contains("sni-probe a.test:\(server.port) probes all that DNS gives") == true)
        let resolved = try await hint(["localhost:\(server.port)", "-4"])
        #expect(resolved?.hasSuffix("or take the IP out of its DNS records") == true)
    }

    @Test("Bytes from a server that does not speak TLS are printed escaped")
    func whatAServerSaidThatSpeaksSomethingElseIsShownHarmless() async throws {
        let server = try FixtureServer.start(
            behaviour: .bytes([.awaitArrival, .send("RFB 003\u{1B}[2J\u{9B}\r\n"), .awaitClose])
        )
        let record = try await record(["a.test@\(server.authority)"])
        let text = LongForm(record: record, style: Style(), verbose: false).text
        #expect(text.contains("answered     RFB 003\\x1b[2J\\xc2\\x9b\\r\\n\n"))
    }
}

#if os(Linux)
private let isLinux = true
#else
private let isLinux = false
#endif
