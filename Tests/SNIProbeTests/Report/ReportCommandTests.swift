import Foundation
import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("The command sni-probe report")
struct ReportCommandTests {
    private let good = ReportLine()
    private let bad = ReportLine(
        ip: "203.0.113.2",
        faults: [("expired", "expired 9 days ago")],
        hint: "renew it"
    )

    private func text(_ lines: [ReportLine]) -> String {
        lines.map { String(decoding: $0.bytes, as: UTF8.self) + "\n" }.joined()
    }

    /// Runs with files of these contents, whose folder is removed afterwards.
    private func run(_ contents: [String], _ options: [String] = [], input: String = "") async throws
        -> Program.Result
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "report-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var paths: [String] = []
        for (index, content) in contents.enumerated() {
            let file = folder.appending(path: "\(index).jsonl")
            try content.write(to: file, atomically: true, encoding: .utf8)
            paths.append(file.path)
        }
        return try await Program.run(["report"] + paths + options, input: input)
    }

    @Test("Several files become one summary, and the exit code is that of the results")
    func summary() async throws {
        let result = try await run([text([good]), text([good, bad]), ""])
        #expect(result.code == 60 && result.errors == "")
        #expect(
            result.output.hasPrefix(
                "3 results for 1 host, 2026-11-21T05:40:00Z to 2026-11-21T05:40:00Z\n2 passed; 1 failed\n"
            )
        )
        #expect(result.output.contains("  1  expired  The certificate, or one above it, has expired.\n"))
        #expect(result.output.contains("  www.example.com:443 @ 203.0.113.2: expired 9 days ago\n"))
        #expect(result.output.contains("hint: 203.0.113.2: renew it"))
        #expect(try await run([text([good])]).code == 0)
    }

    @Test("Lines of JSON pass as they are, so runs can be merged and merged again")
    func merging() async throws {
        let result = try await run([text([good]), text([bad])], ["--json"])
        #expect(result.output == text([good, bad]))
        let again = try await run([], ["-", "--json"], input: result.output)
        #expect(again.output == result.output && again.code == 60)
    }

    @Test("A report on the lines of a run is the same as the run's own")
    func sameAsTheRun() async throws {
        let root = TestAuthority()
        let security = FixtureSecurity.tls(
            certificates: [root.certificate(for: "a.test")],
            default: root.certificate(for: "default.test", "other.test")
        )
        let server = try FixtureServer.start(security) { _ in .text("") }
        let dead = try FixtureServer.refusing()
        let words = ["a.test@\(server.authority)", "b.test@\(server.authority)", "b.test@\(dead.authority)"]
        let records = try await probe(words, trusting: root.rootPEM).records
        let sinks = [OutputSink.memory, OutputSink.memory]
        let own = SARIFOutput(to: sinks[0])
        let lines = JSONOutput(to: sinks[1])
        var digest = Digest()
        for record in records {
            digest.add(record)
            own.add(record, isOnlyOne: false)
            lines.add(record, isOnlyOne: false)
        }
        own.finish(digest, interrupted: false)
        #expect(own.flush() && lines.flush())
        let result = try await run([String(decoding: sinks[1].bytes, as: UTF8.self)], ["--format", "sarif"])
        #expect(result.output == String(decoding: sinks[0].bytes, as: UTF8.self))
        #expect(result.code == 1)
    }

    @Test("A line that is cut ends the report, with its place; --skip-bad leaves it out and counts it")
    func cutLine() async throws {
        let damaged = text([bad]) + text([good]).dropLast(20)
        let strict = try await run([damaged])
        #expect(strict.code == 66 && strict.output == "")
        #expect(strict.errors.contains("0.jsonl:2: this is not a line of sni-probe --json"))
        let lenient = try await run([damaged], ["--skip-bad"])
        #expect(lenient.code == 60 && lenient.output.hasPrefix("1 result for 1 host"))
        #expect(lenient.errors.contains("1 line of the input could not be used"))
    }

    @Test("The file of --output stays as it was if a line cannot be used")
    func outputFile() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "report-\(UUID()).sarif")
        defer { try? FileManager.default.removeItem(at: file) }
        let options = ["--format", "sarif", "--output", file.path]
        #expect(try await run([text([bad])], options).code == 60)
        let before = try Data(contentsOf: file)
        #expect(String(decoding: before, as: UTF8.self).contains("expired 9 days ago"))
        #expect(try await run([text([good]) + "x\n"], options).code == 66)
        #expect(try Data(contentsOf: file) == before)
    }

    @Test(
        "What has no effect on a report is refused with words",
        arguments: [
            ([String](), "needs the JSON lines"), (["@203.0.113.7"], "report:443 @203.0.113.7"),
            (["x", "--repeat", "3"], "--repeat has no effect"),
            (["x", "--format", "junit"], "text, json, sarif"),
            (["x", "--json", "--format", "sarif"], "contradict"), (["x", "-q", "-o", "y"], "contradict"),
        ]
    )
    func refusals(_ arguments: [String], _ words: String) async throws {
        let result = try await Program.run(["report"] + arguments)
        #expect(result.code == 64 && result.output == "")
        #expect(result.errors.contains(words))
    }

    @Test("Input without a result is an error, and so is a file that is not there")
    func nothing() async throws {
        #expect(try await run(["\n \n"]).code == 66)
        #expect(try await run([], ["/nonexistent/x"]).code == 66)
        #expect(try await run([text([bad])], ["-q"]).output == "")
    }
}
