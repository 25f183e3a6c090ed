import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("JUnit reports")
struct JUnitTests {
    private let root = TestAuthority()

    private func document(_ records: [ProbeRecord]) throws -> MarkupReader {
        let sink = OutputSink.memory
        let output = JUnitOutput(to: sink)
        var digest = Digest()
        for record in records {
            digest.add(record)
            output.add(record, isOnlyOne: false)
        }
        output.finish(digest, interrupted: false)
        #expect(output.flush())
        return MarkupReader(sink.bytes)
    }

    @Test("Each probe is a test case, and the counts fit")
    func counts() async throws {
        let good = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in .text("") }
        let dead = try FixtureServer.refusing()
        let records = try await probe(
            ["a.test@\(good.authority)", "b.test@\(good.authority)", "a.test@\(dead.authority)"],
            trusting: root.rootPEM
        ).records
        let report = try document(records)
        #expect(report.named("testcase").map { $0["name"] } == ["127.0.0.1", "127.0.0.1", "127.0.0.1"])
        #expect(
            report.named("testcase").map { $0["classname"] } == ["a.test:443", "b.test:443", "a.test:443"]
        )
        #expect(report.named("failure").map { $0["type"] } == ["default_certificate", "refused"])
        for element in report.named("testsuite") + report.named("testsuites") {
            #expect(element["tests"] == "3" && element["failures"] == "2" && element["errors"] == "0")
        }
    }

    @Test("Text of servers cannot break the document")
    func hostileText() async throws {
        let name = "<b>&\"']]>\u{1}\u{202E}.test"
        let certificate = try root.issue(CertificateProfile([], commonName: name))
        let server = try FixtureServer.start(.tls(certificate)) { _ in .text("") }
        var record = try #require(
            try await probe("a.test", at: server, trusting: root.rootPEM).record
        )
        record.warnings.append(Warning(id: .changed, text: name))
        record.faults.append(Fault(.strict, name))
        let report = try document([record])
        #expect(report.named("failure").first?["message"]?.contains("<b>&\"']]>\\u{1}\\u{202e}.test") == true)
        #expect(
            report.elements.map(\.name) == ["testsuites", "testsuite", "testcase", "failure", "system-out"]
        )
    }
}
