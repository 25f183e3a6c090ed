import DirectTLS
import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("Stapled OCSP responses")
struct StapleTests {
    private let lab: Lab
    private let host = "www.example.com"
    /// "Try later". One that cannot be read is no staple that every OpenSSL sends.
    private let tryLater: [UInt8] = [0x30, 3, 0x0a, 1, 3]

    init() throws { lab = try Lab() }

    private func outcome(
        mustStaple: Bool = false,
        _ staple: (FixtureCertificate) throws -> [UInt8]?
    ) async throws -> Outcome {
        let server = try server(mustStaple: mustStaple, staple)
        return try await probe(host, at: server, trusting: lab.root.rootPEM)
    }

    private func server(
        mustStaple: Bool = false,
        _ staple: (FixtureCertificate) throws -> [UInt8]?
    ) throws -> FixtureServer {
        var profile = CertificateProfile.publicLeaf(host)
        profile.mustStaple = mustStaple
        let certificate = try lab.issuer.issue(profile)
        let response = try staple(certificate)
        return try FixtureServer.start(.tls(certificate) { $0.ocspStaple = response }) { _ in .text("") }
    }

    @Test("Thresholds of days hold for the end of a response, also if it is past")
    func thresholds() async throws {
        func outcome(_ left: Int64, _ options: String...) async throws -> Outcome {
            let server = try server {
                try lab.issuer.ocspResponse(for: $0, from: days(-6), to: days(left) + 3600)
            }
            return try await probe(["\(host)@\(server.authority)"] + options, trusting: lab.root.rootPEM)
        }
        let late = try await outcome(2, "--critical-status-days", "3")
        #expect(late.code == 90 && late.faults == ["status_ends"])
        #expect(late.record?.hint?.text.contains("no newer one") == true)
        let past = try await outcome(-2, "--critical-status-days", "1")
        #expect(past.faults == ["status_ends"])
        var settings = ProbeSettings()
        settings.minimumStatusDays = 1
        let verdict = StapleVerdict(try #require(past.record?.served), now: Int(days(0)), settings)
        #expect(verdict.fault?.id == .statusEnds && verdict.warning == nil)
        #expect(try await outcome(2, "--critical-status-days", "2").code == 0)
        #expect(try await outcome(9, "--warn-status-days", "10").record?.warnings.map(\.id) == [.stapleEnds])
        #expect(try await outcome(1, "--warn-status-days", "1").record?.warnings.isEmpty == true)
        #expect(throws: UsageError.self) {
            _ = try Options(["a.test", "--warn-status-days", "2", "--critical-status-days", "2"])
        }
    }

    @Test("A response that says good changes nothing, and satisfies must-staple")
    func good() async throws {
        for mustStaple in [false, true] {
            let outcome = try await outcome(mustStaple: mustStaple) { try lab.issuer.ocspResponse(for: $0) }
            #expect(outcome.code == 0)
            #expect(outcome.record?.warnings.isEmpty == true)
            #expect(outcome.record?.served?.staple?.status == .good)
        }
    }

    @Test("A response that says revoked is a fault")
    func revoked() async throws {
        let outcome = try await outcome { try lab.issuer.ocspResponse(for: $0, .revoked) }
        #expect(outcome.code == 60)
        #expect(outcome.faults == ["revoked"])
        #expect(outcome.record?.faults.first?.text == "revoked on 2020-01-01")
    }

    @Test("A certificate that requires a response and comes without one is a fault")
    func missing() async throws {
        let outcome = try await outcome(mustStaple: true) { _ in nil }
        #expect(outcome.code == 60)
        #expect(outcome.faults == ["staple_missing"])
        #expect(try await self.outcome { _ in nil }.code == 0)
    }

    @Test("A response that is out of date is a warning, and with must-staple a fault")
    func outOfDate() async throws {
        let old = { (certificate: FixtureCertificate) in
            try lab.issuer.ocspResponse(for: certificate, validity: .expired)
        }
        let lax = try await outcome(old)
        #expect(lax.code == 0)
        #expect(lax.record?.warnings.map(\.id) == [.stapleUnusable])
        let strict = try await outcome(mustStaple: true, old)
        #expect(strict.faults == ["staple_missing"] && strict.record?.warnings.isEmpty == true)
        let verdict = StapleVerdict(try #require(strict.record?.served), now: Int(days(0)))
        #expect(verdict.fault?.id == .stapleMissing && verdict.warning == nil)
    }

    @Test(
        "A response with less than a quarter of its time left is a warning, with its end in JSON and metrics"
    )
    func nearItsEnd() async throws {
        func outcome(_ left: Int64) async throws -> Outcome {
            try await self.outcome { certificate in
                let validity = CertificateProfile.Validity(notBefore: days(-6), notAfter: days(left))
                return try lab.issuer.ocspResponse(for: certificate, validity: validity)
            }
        }
        let late = try await outcome(1)
        #expect(late.code == 0 && late.record?.warnings.map(\.id) == [.stapleEnds])
        #expect(try await outcome(3).record?.warnings.isEmpty == true)
        let record = try #require(late.record)
        let end = try #require(record.served?.staple?.nextUpdate)
        let json = JSONRecord(record).line
        #expect(String(decoding: json, as: UTF8.self).contains("\"next_update\":\"\(UTC.stamp(end))\""))
        let sink = OutputSink.memory
        let metrics = PrometheusOutput(to: sink)
        metrics.add(record, isOnlyOne: true)
        metrics.finish(Digest(), interrupted: false)
        #expect(metrics.flush())
        let text = String(decoding: sink.bytes, as: UTF8.self)
        #expect(text.contains("sni_probe_staple_next_update_seconds{") && text.contains("} \(end)\n"))
    }

    @Test("A response by another authority, or without an answer, proves nothing")
    func unusable() async throws {
        let stranger = TestAuthority("Other Root")
        try await expectUnusable([
            ("signature", { try stranger.ocspResponse(for: $0, .revoked) }),
            ("trylater", { _ in tryLater }),
            ("does not know", { try lab.issuer.ocspResponse(for: $0, .unknown) }),
        ])
    }

    @Test(
        "A response about another certificate, or of garbage, proves nothing",
        .enabled(if: FixtureTLSSettings.sendsAnyStaple, "this OpenSSL does not send it")
    )
    func foreign() async throws {
        let other = try lab.issuer.issue(.publicLeaf("other.example.com"))
        try await expectUnusable([
            ("another certificate", { _ in try lab.issuer.ocspResponse(for: other, .revoked) }),
            ("cannot be read", { _ in [0x30, 0x82, 0xFF, 0xFF, 0x00] }),
        ])
    }

    private func expectUnusable(
        _ responses: [(words: String, response: (FixtureCertificate) throws -> [UInt8]?)]
    ) async throws {
        for (words, response) in responses {
            let outcome = try await outcome(response)
            #expect(outcome.code == 0, "\(words)")
            let warning = try #require(outcome.record?.warnings.first, "\(words)")
            #expect(warning.id == .stapleUnusable)
            #expect(warning.text.contains(words), "\(warning.text)")
        }
    }

    @Test("The JSON output and the long form have one word for each kind of response")
    func words() async throws {
        let responses: [(String, (FixtureCertificate) throws -> [UInt8]?)] = [
            ("good", { try lab.issuer.ocspResponse(for: $0) }),
            ("revoked", { try lab.issuer.ocspResponse(for: $0, .revoked) }),
            ("unknown", { try lab.issuer.ocspResponse(for: $0, .unknown) }),
            ("unusable", { _ in tryLater }),
            ("out_of_date", { try lab.issuer.ocspResponse(for: $0, validity: .expired) }),
            ("out_of_date", { try lab.issuer.ocspResponse(for: $0, validity: .notYet) }),
        ]
        for (word, response) in responses {
            let record = try #require(try await outcome(response).record)
            #expect(record.served?.staple?.word(now: record.judgedAt) == word)
            let text = LongForm(record: record, style: Style(), verbose: true).text
            #expect(text.contains("OCSP response: " + word.replacing("_", with: " ")))
        }
        let early = try await outcome { try lab.issuer.ocspResponse(for: $0, validity: .notYet) }
        #expect(early.record?.warnings.map(\.text) == ["the stapled OCSP response is not valid yet"])
    }

    @Test("Nothing is sent to a server whose certificate is revoked")
    func noRequest() async throws {
        let certificate = try lab.issuer.issue(.publicLeaf(host))
        let response = try lab.issuer.ocspResponse(for: certificate, .revoked)
        let server = try FixtureServer.start(.tls(certificate) { $0.ocspStaple = response }) { _ in .text("")
        }
        let outcome = try await probe(
            ["https://\(host):\(server.port)/@\(server.address)"],
            trusting: lab.root.rootPEM
        )
        #expect(outcome.faults == ["revoked"])
        #expect(outcome.record?.observation.exchange == nil)
    }
}
