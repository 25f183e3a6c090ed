import DirectCore
import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("Verdicts about SNI")
struct SNITableTests {
    private func words(_ outcome: Outcome) -> String? {
        outcome.record.flatMap { SNIWords(record: $0, style: Style()).text }
    }

    @Test("Each pair of results with and without the name has its verdict")
    func theTableHasThisOutcomeForEachPair() {
        let (right, other, wrong, otherWrong) = (
            SNISide.matching([1]), SNISide.matching([2]), SNISide.other([3]), SNISide.other([4])
        )
        let rows: [(SNISide, SNISide, SNIFinding.Verdict)] = [
            (right, right, .noDifference),
            (right, other, .changesCertificate),
            (right, wrong, .needed),
            (right, .refused, .neededStrict),
            (wrong, wrong, .noDifference),
            (wrong, otherWrong, .selectsWrong),
            (wrong, right, .selectsWrong),
            (wrong, .refused, .selectsWrong),
            (.refused, right, .refused),
            (.refused, wrong, .refused),
            (.refused, .refused, .noDifference),
            (right, .unknown, .unknown),
            (.unknown, right, .unknown),
            (.refused, .unknown, .unknown),
        ]
        for (with, without, verdict) in rows {
            #expect(SNIFinding.Verdict(with: with, without: without) == verdict, "\(with), \(without)")
        }
    }

    @Test("A server that refuses handshakes without a name strictly needs one")
    func aServerThatRefusesHandshakesWithoutANameNeedsOneStrictly() async throws {
        let root = TestAuthority()
        for answer in [FixtureTLSSettings.Answer.alert(112), .alert(40), .alert(80), .close, .reset] {
            let server = try FixtureServer.start(
                .tls(root.certificate(for: "a.test")) { $0.missingName = answer }
            ) { _ in .text("") }
            let outcome = try await probe("a.test", at: server, trusting: root.rootPEM)
            #expect(outcome.code == 0)
            #expect(outcome.record?.sni.verdict == .neededStrict, "\(answer)")
            let reason: String =
                switch answer {
                case .alert(112): "unrecognized_name"
                case .alert(40): "handshake_failure"
                case .alert: "internal_error"
                case .close: "closed"
                default: "reset"
                }
            let refusal = "refuses the handshake (\(reason)), in 4 of 4 handshakes"
            #expect(words(outcome) == "needed: without it this IP \(refusal)")
            let without = try await probe("a.test", at: server, "--no-sni", trusting: root.rootPEM)
            #expect(without.code == 35)
            #expect(without.record?.sni.verdict == .neededStrict, "\(answer)")
            #expect(words(without) == "needed: with it this IP serves a.test, in 4 of 4 handshakes")
        }
    }

    @Test("With --no-sni the verdict is the same and the fault is the default certificate")
    func verdictWithoutTheName() async throws {
        let root = TestAuthority()
        let server = try FixtureServer.start(
            .tls(certificates: [root.certificate(for: "b.test"), root.certificate(for: "a.test")])
        ) { _ in .text("") }
        let outcome = try await probe("a.test", at: server, "--no-sni", trusting: root.rootPEM)
        #expect(outcome.faults == ["default_certificate"])
        #expect(outcome.record?.sni == SNIFinding(sent: nil, verdict: .needed))
        #expect(words(outcome) == "needed: with it this IP serves a.test, in 4 of 4 handshakes")
        let both = try await probe("a.test", at: server, trusting: root.rootPEM)
        #expect(both.record?.sni == SNIFinding(sent: "a.test", verdict: .needed))
    }

    @Test("Two certificates for the host, one with the name and one without, are told apart")
    func twoForTheHost() async throws {
        let root = TestAuthority()
        let (with, without) = (try root.issue(.publicLeaf("a.test")), root.certificate(for: "a.test"))
        let server = try FixtureServer.start(
            .tls(certificates: [with]) { $0.choose = { $0 == nil ? without : with } }
        ) { _ in .text("") }
        let outcome = try await probe("a.test", at: server, trusting: root.rootPEM)
        #expect(outcome.code == 0 && outcome.record?.sni.verdict == .changesCertificate)
        #expect(words(outcome) == "changes the certificate, and both are for a.test")
    }

    @Test("A target that is an address sends no name and is contacted once")
    func anAddressAsTargetSendsNoNameAndIsAskedOnce() async throws {
        let root = TestAuthority()
        let server = try FixtureServer.start(.tls(root.certificate(for: "127.0.0.1"))) { _ in .text("") }
        let outcome = try await probe([server.authority], trusting: root.rootPEM)
        #expect(outcome.code == 0)
        #expect(server.records.map(\.serverName) == [nil])
    }

    @Test("With --sni the other name is sent, and the host's name is checked")
    func anotherNameIsSentButNotChecked() async throws {
        let root = TestAuthority()
        let server = try FixtureServer.start(
            .tls(certificates: [root.certificate(for: "a.test"), root.certificate(for: "b.test")])
        ) { _ in .text("") }
        let outcome = try await probe("b.test", at: server, "--sni", "a.test", trusting: root.rootPEM)
        #expect(outcome.code == 60)
        #expect(Set(server.records.map(\.serverName)) == ["a.test", nil])
        // The same with it and without.
        let strange = try await probe("b.test", at: server, "--sni", "c.test", trusting: root.rootPEM)
        #expect(strange.faults == ["default_certificate"])
        for (record, name) in [(outcome.record, "a.test"), (strange.record, "c.test")] {
            #expect(record?.hint?.text.hasPrefix("the name sent was \(name), ") == true)
            let text = try LongForm(record: #require(record), style: Style(), verbose: false).text
            #expect(text.contains("\nasked for    b.test, with SNI \(name)\n"), "\(text)")
        }
    }

    @Test("With --skip-default there is no second handshake and no verdict")
    func theSecondHandshakeCanBeLeftOut() async throws {
        let root = TestAuthority()
        let server = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in .text("") }
        let outcome = try await probe("a.test", at: server, "--skip-default", trusting: root.rootPEM)
        #expect(outcome.code == 0)
        #expect(outcome.record?.sni.verdict == .unknown)
        #expect(server.records.map(\.serverName) == ["a.test"])
    }

    /// A server whose handshakes without SNI, or with it, get these certificates in turn, and the last from
    /// then on.
    private func server(
        with: [FixtureCertificate],
        without: [FixtureCertificate]
    ) throws -> FixtureServer {
        let left = Locked([true: with, false: without])
        return try FixtureServer.start(
            .tls(certificates: with) {
                $0.choose = { name in
                    left.withLock { left in
                        guard let rest = left[name != nil], let next = rest.first else { return nil }
                        if rest.count > 1 { left[name != nil]?.removeFirst() }
                        return next
                    }
                }
            }
        ) { _ in .text("") }
    }

    @Test("A surprising handshake is repeated, and if the answers differ that is the verdict")
    func varies() async throws {
        let root = TestAuthority()
        let (right, other) = (root.certificate(for: "a.test"), root.certificate(for: "b.test"))
        let first = try server(with: [other, right], without: [other])
        let failed = try await probe("a.test", at: first, trusting: root.rootPEM)
        #expect(failed.code == 60 && failed.faults == ["answers_vary"])
        #expect(failed.record?.sni.verdict == .varies)
        #expect(
            failed.record?.faults.first?.text
                == "answers vary: 1 of 2 serve b.test"
        )
        let second = try server(with: [right], without: [other, right])
        let passed = try await probe("a.test", at: second, trusting: root.rootPEM)
        #expect(passed.code == 0 && passed.record?.sni.verdict == .varies)
        #expect(passed.record?.warnings.map(\.id) == [.answersVary])
        let text = passed.record?.warnings.first?.text
        #expect(text?.hasPrefix("answers vary without SNI: 3 of 4 serve the right") == true)
    }

    @Test("A surprising handshake that is confirmed keeps its verdict")
    func confirmed() async throws {
        let root = TestAuthority()
        let (right, other) = (root.certificate(for: "a.test"), root.certificate(for: "b.test"))
        let needing = try await probe(
            "a.test",
            at: server(with: [right], without: [other]),
            trusting: root.rootPEM
        )
        #expect(needing.code == 0 && needing.record?.sni.verdict == .needed)
        let wrong = try await probe(
            "a.test",
            at: server(with: [other], without: [right]),
            trusting: root.rootPEM
        )
        #expect(wrong.faults == ["name_mismatch"] && wrong.record?.sni.verdict == .selectsWrong)
    }

    @Test("All handshakes of a probe offer the same protocols, so a server that refuses them is no riddle")
    func sameProtocols() async throws {
        let root = TestAuthority()
        let server = try FixtureServer.start(
            .tls(root.certificate(for: "a.test")) {
                ($0.applicationProtocols, $0.refusesUnknownProtocols) = (["h2"], true)
            }
        ) { _ in .text("") }
        let outcome = try await probe(
            ["https://a.test:\(server.port)/", "@127.0.0.1"],
            trusting: root.rootPEM
        )
        #expect(outcome.faults == ["handshake_refused"] && outcome.code == 35)
        #expect(outcome.record?.hint?.text == "the server speaks another protocol than HTTP/1.1")
        #expect(Set(server.records.map { $0.hello?.applicationProtocols ?? [] }) == [["http/1.1"]])
    }
}
