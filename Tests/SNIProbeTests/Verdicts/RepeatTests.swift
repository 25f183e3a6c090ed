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
}
