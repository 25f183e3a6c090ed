import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("Thresholds for monitors")
struct ThresholdTests {
    private let lab: Lab
    private let host = "www.example.com"

    init() throws { lab = try Lab() }

    /// A server whose certificate has so many days and an hour left.
    private func server(_ count: Int64) throws -> FixtureServer {
        var profile = CertificateProfile.publicLeaf(host)
        profile.validity = .init(notBefore: days(-300), notAfter: days(count) + 3600)
        return try lab.server(try lab.issuer.issue(profile))
    }

    private func outcome(_ days: Int64, _ options: String...) async throws -> Outcome {
        let server = try server(days)
        return try await probe(["\(host)@\(server.authority)"] + options, trusting: lab.root.rootPEM)
    }

    private func nagios(_ days: Int64, _ options: String...) async throws -> (line: String, code: Int32?) {
        let server = try server(days)
        let arguments = ["\(host)@\(server.authority)"] + options
        let records = try await probe(arguments, trusting: lab.root.rootPEM).records
        let output = NagiosOutput(Style(), try Options(arguments).settings)
        var digest = Digest()
        for record in records {
            digest.add(record)
            output.add(record, isOnlyOne: true)
        }
        return (output.line(digest, interrupted: false), output.exitCode(digest))
    }

    @Test("Option --warn-days replaces the rule of two weeks")
    func warningDays() async throws {
        #expect(try await outcome(40).record?.warnings.isEmpty == true)
        #expect(try await outcome(40, "--warn-days", "60").record?.warnings.map(\.id) == [.expiresSoon])
        #expect(try await outcome(10).record?.warnings.map(\.id) == [.expiresSoon])
        #expect(try await outcome(10, "--warn-days", "5").record?.warnings.isEmpty == true)
    }

    @Test("Fewer days than --critical-days are a fault")
    func criticalDays() async throws {
        let outcome = try await outcome(40, "--warn-days", "60", "--critical-days", "50")
        #expect(outcome.code == 90)
        #expect(outcome.faults == ["too_few_days"])
    }

    @Test("Option --strict makes a warning fail with status 90")
    func strict() async throws {
        let outcome = try await outcome(10, "--strict")
        #expect(outcome.code == 90)
        #expect(outcome.faults == ["strict"])
        #expect(outcome.record?.warnings.map(\.id) == [.expiresSoon])
        #expect(try await self.outcome(40, "--strict").code == 0)
    }

    @Test("Nagios gets thresholds, and CRITICAL below the lower one")
    func nagios() async throws {
        let late = try await nagios(10, "--warn-days", "30", "--critical-days", "14")
        #expect(late.line.contains("CRITICAL") && late.line.contains(" | days=10;30:;14:;0 failed=1;;;0 "))
        #expect(late.code == 2)
        let soon = try await nagios(20, "--warn-days", "30", "--critical-days", "14")
        #expect(soon.line.contains("WARNING") && soon.line.contains(" | days=20;30:;14:;0 failed=0;;;0 "))
        #expect(soon.code == 1)
        let fine = try await nagios(40, "--warn-days", "30", "--critical-days", "14")
        #expect(fine.code == 0)
        let minimum = try await nagios(10, "--critical-days", "14")
        #expect(minimum.line.contains(" | days=10;;14:;0 "))
        #expect(minimum.code == 2)
    }

    @Test("Thresholds that contradict each other are refused")
    func contradictions() {
        let both = ["--warn-days", "7", "--critical-days", "7"]
        #expect(throws: UsageError.self) { _ = try Options(both + ["a.test"]) }
    }
}
