import DirectTLS
import DirectTestTime
import Synchronization
import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("Repeated handshakes")
struct RepeatTests {
    private let lab: Lab
    private let host = "www.example.com"

    init() throws { lab = try Lab() }

    /// A server that chooses the certificate of each handshake with a name by its number.
    private func server(_ choose: @escaping @Sendable (Int) -> FixtureCertificate?) throws -> FixtureServer {
        let numbers = Counter()
        return try FixtureServer.start(
            .tls(certificates: [], default: lab.standard) { settings in
                settings.choose = { name in name == nil ? nil : choose(numbers.next()) }
            }
        ) { _ in .text("") }
    }

    private final class Counter: Sendable {
        private let value = Atomic(0)
        func next() -> Int { value.add(1, ordering: .relaxed).oldValue }
    }

    @Test("The answers that are not right are counted")
    func mixed() async throws {
        let good = try lab.issuer.issue(.publicLeaf(host))
        let server = try server { [standard = lab.standard] in $0 == 3 || $0 == 7 ? standard : good }
        let outcome = try await probe(host, at: server, "--repeat", "10", trusting: lab.root.rootPEM)
        #expect(outcome.code == 60)
        #expect(outcome.faults == ["answers_vary"])
        #expect(outcome.record?.faults.first?.text == "answers vary: 2 of 10 serve default.edge.example.net")
        #expect(outcome.record?.sni.verdict == .varies)
        let record = try #require(outcome.record)
        let text = LongForm(record: record, style: Style(), verbose: false).text
        #expect(text.contains("answers      8 of 10 serve the right certificate"))
        #expect(text.contains("2 of 10 serve default.edge.example.net"))
    }

    @Test("The first handshake decides nothing if others differ", arguments: [0, 2])
    func firstIsWrong(_ wrong: Int) async throws {
        let good = try lab.issuer.issue(.publicLeaf(host))
        let server = try server { [standard = lab.standard] in $0 == wrong ? standard : good }
        let outcome = try await probe(host, at: server, "--repeat", "5", trusting: lab.root.rootPEM)
        #expect(outcome.record?.faults.map(\.text) == ["answers vary: 1 of 5 serve default.edge.example.net"])
    }

    @Test("Two certificates that are both right are a warning, one of which expired a fault")
    func renewal() async throws {
        let old = try lab.issuer.issue(.publicLeaf(host, until: 30))
        let renewed = try lab.issuer.issue(.publicLeaf(host))
        let both = try await probe(
            host,
            at: try server { $0 == 1 ? old : renewed },
            "--repeat",
            "4",
            trusting: lab.root.rootPEM
        )
        #expect(both.code == 0)
        #expect(both.record?.warnings.map(\.id) == [.answersVary])
        #expect(both.record?.warnings.first?.text.hasPrefix("answers vary: 1 of 4 serve the right") == true)
        let expired = try lab.issuer.issue(.publicLeaf(host, from: -99, until: -9))
        let mixed = try await probe(
            host,
            at: try server { $0 == 1 ? expired : renewed },
            "--repeat",
            "4",
            trusting: lab.root.rootPEM
        )
        #expect(mixed.faults == ["answers_vary"])
        #expect(mixed.record?.faults.first?.text.hasSuffix(": expired 9 days ago") == true)
    }

    @Test("The same answer each time changes nothing, right or wrong")
    func constant() async throws {
        let good = try lab.issuer.issue(.publicLeaf(host))
        let right = try await probe(
            host,
            at: try lab.server(good),
            "--repeat",
            "3",
            trusting: lab.root.rootPEM
        )
        #expect(right.code == 0)
        #expect(right.record?.warnings.isEmpty == true)
        #expect(right.record?.observation.repeats.count == 2)
        let stranger = try FixtureServer.start(.tls(lab.standard)) { _ in .text("") }
        let wrong = try await probe(host, at: stranger, "--repeat", "3", trusting: lab.root.rootPEM)
        #expect(wrong.faults == ["default_certificate"])
    }

    @Test("The request is sent once, whatever the number of handshakes")
    func oneRequest() async throws {
        let server = try lab.server(try lab.issuer.issue(.publicLeaf(host)))
        let outcome = try await probe(
            ["https://\(host):\(server.port)/", "@127.0.0.1", "--repeat", "4", "--skip-default"],
            trusting: lab.root.rootPEM
        )
        #expect(outcome.code == 0)
        #expect(server.requests.count == 1)
        #expect(outcome.record?.observation.repeats.count == 3)
    }

    @Test("Options --interval and --repeat for http:// are refused where they have no effect")
    func misuse() {
        for arguments in [["a.test", "--interval", "1s"], ["http://a.test/", "--repeat", "2"]] {
            #expect(throws: UsageError.self) { _ = try Options(arguments) }
        }
    }

    @Test("What is asked for is asked of every answer, not of the first alone", arguments: [0, 2])
    func wishes(_ old: Int) async throws {
        var profile = CertificateProfile.publicLeaf(host, from: -87, until: 3)
        let late = try lab.issuer.issue(profile)
        let new = try lab.issuer.issue(.publicLeaf(host))
        let hash = new.fingerprint.map { String(($0 >> 4), radix: 16) + String($0 & 15, radix: 16) }.joined()
        for (option, value, fault) in [
            ("--expect", "sha256:" + hash, "not_expected"), ("--critical-days", "10", "too_few_days"),
        ] {
            let outcome = try await probe(
                host,
                at: try server { $0 == old ? late : new },
                "--repeat",
                "5",
                option,
                value,
                trusting: lab.root.rootPEM
            )
            #expect(outcome.code == 90 && outcome.faults == [fault])
            let text = outcome.record?.faults.first?.text ?? ""
            #expect(text.hasPrefix("answers vary: 1 of 5 serve certificate "), "\(text)")
            #expect(outcome.record?.hint?.text.contains("several servers") == true)
        }
        // A fault for every client comes before what this one asks for.
        profile.validity = .init(notBefore: days(-99), notAfter: days(-9))
        let expired = try lab.issuer.issue(profile)
        let mixed = try await probe(
            host,
            at: try server { $0 == old ? expired : $0 == 1 ? late : new },
            "--repeat",
            "5",
            "--expect",
            "sha256:" + hash,
            trusting: lab.root.rootPEM
        )
        #expect(mixed.code == 60 && mixed.faults == ["answers_vary"])
    }

    @Test("Option --same, metrics and the baseline know the certificates of all answers", arguments: [0, 1])
    func allShown(_ old: Int) async throws {
        let late = try lab.issuer.issue(.publicLeaf(host, from: -87, until: 3))
        let new = try lab.issuer.issue(.publicLeaf(host))
        let repeated = ["--repeat", "4"]
        let pool = try server { $0 == old ? late : new }
        let same = try await probe(
            ["\(host)@\(pool.authority)", "--same"] + repeated,
            trusting: lab.root.rootPEM
        )
        #expect(same.code == 90 && same.faults == ["differs"])
        // The first answer is that of most, and of no other address.
        if old == 1 {
            let two = try server { $0 == 0 ? new : late }
            let words = ["\(host)@\(two.authority)", "--same", "--repeat", "2"]
            let text = try await probe(words, trusting: lab.root.rootPEM).record?.faults.first?.text
            #expect(text == "older certificate than another of its answers")
        }
        var records: [ProbeRecord] = []
        for turn in 0..<2 {
            let server = try server { $0 % 2 == turn ? late : new }
            let words = ["\(host)@\(server.authority)"] + repeated
            records += try await probe(words, trusting: lab.root.rootPEM).records
        }
        for record in records {
            #expect(record.warnings.contains { $0.id == .expiresSoon })
            let ends = record.observation.answers.compactMap { $0.chain.leaf?.summary.notAfter }
            #expect(ends.count == 2 && record.chainEnd?.notAfter == ends.min())
            let (sink, entry) = (OutputSink.memory, ReportEntry(Array(JSONRecord(record).line.dropLast())))
            let output = PrometheusOutput(to: sink)
            output.add(record, isOnlyOne: true)
            output.finish(Digest(), interrupted: false)
            #expect(output.flush())
            let text = String(decoding: sink.bytes, as: UTF8.self)
            #expect(
                text.split(separator: "\n").count { $0.hasPrefix("sni_probe_cert_not_after_seconds{") } == 2
            )
            #expect(entry.map { Set($0.shown.map(\.hash)) } == Set(ReportEntry(record).shown.map(\.hash)))
        }
        #expect(Baseline.Entry(ReportEntry(records[0])) == Baseline.Entry(ReportEntry(records[1])))
    }
}
