import CommandKit
import DirectCore
import DirectJSON
import DirectTestCommands
import Foundation
import Testing

@testable import tls_fixtures

@Suite("The program tls-fixtures", .idleLimit)
struct CommandRunTests {
    private struct Result: Sendable {
        let status: Int32
        let output: String
        let errors: String
    }

    /// Runs the program in this folder, with these words and this input.
    private func run(_ words: [String], in folder: String = "/", input: String = "") async throws -> Result {
        let program = try #require(builtProgram)
        return try await onOwnThread {
            let (feed, output, errors) = (Pipe(), Pipe(), Pipe())
            let process = try TestProcess(
                "/bin/sh",
                ["-c", #"cd "$0" && exec "$@""#, folder, program] + words,
                environment: ["PATH": "/usr/bin:/bin"],
                input: feed.fileHandleForReading.fileDescriptor,
                output: output.fileHandleForWriting.fileDescriptor,
                errors: errors.fileHandleForWriting.fileDescriptor
            )
            try feed.fileHandleForReading.close()
            try output.fileHandleForWriting.close()
            try errors.fileHandleForWriting.close()
            try feed.fileHandleForWriting.write(contentsOf: Data(input.utf8))
            try feed.fileHandleForWriting.close()
            let text = try output.fileHandleForReading.readToEnd() ?? Data()
            // Less than a pipe holds.
            let complaint = try errors.fileHandleForReading.readToEnd() ?? Data()
            return Result(
                status: process.waitForEnd(),
                output: String(decoding: text, as: UTF8.self),
                errors: String(decoding: complaint, as: UTF8.self)
            )
        }
    }

    private static let refusal = #"{"verdict": "refuse", "reason": "wrongName"}"#
    /// Two vectors that our client passes, and one that it does not.
    private static let names = """
        [\(nameVector()), \(nameVector("a: two", certificate: "default", expect: refusal)),
        \(nameVector("a: three", certificate: "default"))]
        """

    @Test("Help goes to standard output")
    func help() async throws {
        let result = try await run(["--help"])
        #expect(result.status == 0 && result.output == Options.usage && result.errors.isEmpty)
    }

    @Test("The versions of the program, of OpenSSL and of the vectors are printed, and results have the last")
    func versions() async throws {
        let lines = try await run(["--version"]).output.split(separator: "\n")
        #expect(lines.count == 3 && lines[0].hasPrefix("tls-fixtures 0.") && lines[1].hasPrefix("OpenSSL "))
        let fixtures = try TemporaryFixtures(["names/a.json": Self.names, "VERSION": "12\n"])
        let arguments = ["run", "--fixtures", fixtures.path, "--client", "ours"]
        #expect(try await run(arguments).output.contains("\nvectors 12, tls-fixtures 0."))
        #expect(try await run(arguments + ["--json"]).output.contains(#""vectors":"12","program":"0."#))
    }

    @Test("The fixtures are found above the program, and option --list prints their vectors")
    func list() async throws {
        let result = try await run(["run", "names", "--list"])
        let lines = result.output.split(separator: "\n").map { $0.split(separator: "\t") }
        #expect(result.status == 0)
        #expect(lines.count > 100)
        #expect(lines.allSatisfy { $0.count == 3 && $0[0] == "names" })
    }

    @Test("The folder of adapters has the contract, and checking a program that is none ends with status 1")
    func adapters() async throws {
        let folder = try await run(["adapter-path"]).output.dropLast()
        #expect(FileManager.default.fileExists(atPath: "\(folder)/contract.py"))
        let result = try await run(["check", "--", "true"])
        #expect(result.status == 1 && result.output.contains("it has ended with 0"), "\(result)")
    }

    @Test("The fixtures above the current folder come first")
    func currentFolder() async throws {
        let fixtures = try TemporaryFixtures(["names/a.json": Self.names])
        let home = NSTemporaryDirectory() + "home-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: home + "/in/it", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: home) }
        try FileManager.default.createSymbolicLink(
            atPath: home + "/Fixtures",
            withDestinationPath: fixtures.path
        )
        let result = try await run(["run", "--list"], in: home + "/in/it")
        #expect(result.output.split(separator: "\n").count == 3)
    }

    @Test("A run prints failures in full, then a table, and the totals, and ends with status 1")
    func table() async throws {
        let fixtures = try TemporaryFixtures(["names/a.json": Self.names])
        let result = try await run([
            "run", "--fixtures", fixtures.path, "--client", "ours", "--client", "true {url}",
        ])
        #expect(result.status == 1)
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(lines.first == "FAILED  direct-http, names, a: three")
        #expect(lines.dropFirst().first == "        ending: expected answered, got wrongName")
        let head = try #require(lines.firstIndex { $0.hasPrefix("client ") })
        #expect(
            lines[head...].map { $0.split(separator: " ").joined(separator: " ") } == [
                "client topic passed failed choices differ left out not judged", "direct-http names 2 1",
                "true names 0 0 3", "left out, 3: true: it cannot be told where to connect",
                "vectors none, tls-fixtures \(PackageVersion.text)", "2 passed, 1 failed",
            ]
        )
    }

    @Test("Each form of output goes to standard output as a whole")
    func forms() async throws {
        let fixtures = try TemporaryFixtures(["names/a.json": Self.names])
        let arguments = ["run", "--fixtures", fixtures.path, "--jobs", "2"]
        let json = try await run(arguments + ["--json"])
        let lines = json.output.split(separator: "\n")
        #expect(json.status == 1 && lines.count == 4)
        #expect(lines.last?.hasPrefix(#"{"totals":{"passed":2,"failed":1"#) == true)
        for line in lines {
            guard case .object = try JSONReader.read(Array(line.utf8)).content else {
                Issue.record("\(line)")
                continue
            }
        }
        let junit = try await run(arguments + ["--junit", "--name", "two"])
        #expect(junit.status == 0)
        #expect(junit.output.hasPrefix("<?xml") && junit.output.hasSuffix("</testsuites>\n"))
        #expect(junit.output.contains(#"tests="1" failures="0""#))
        #expect(junit.output.contains(#"<property name="right" value="must"/>"#))
        let failures = try await run(arguments + ["--failures"])
        #expect(failures.output == "a: three\n" && failures.status == 1)
        let none = try await run(arguments + ["--client", "true {url}", "--json"])
        #expect(none.status == 2 && none.errors.contains("nothing was judged"))
    }

    @Test("Option --repeat compares the verdicts of the runs, and ends with 1 if they differ")
    func repetition() async throws {
        let fixtures = try TemporaryFixtures(["names/a.json": "[\(nameVector(expect: Self.refusal))]"])
        let arguments = ["run", "--fixtures", fixtures.path, "--repeat", "2"]
        let same = try await run(arguments)
        // It fails in both.
        #expect(same.status == 1)
        #expect(same.errors == "run 2 of 2: 0 passed, 1 failed\n2 runs, 0 verdicts differ\n")
        // A client that refuses the first time, and connects to nothing afterwards.
        let mark = fixtures.path + "/mark"
        let fickle = """
            echo '{"contract": 1, "name": "toy", "version": "", "codings": []}'; while read line; do n=$((n+1))
            if mkdir \(mark) 2>/dev/null; then echo '{"id": '$n', "left": "not today"}'
            else echo '{"id": '$n', "broken": "never"}'; fi; done
            """
        let different = try await run(arguments + ["--client", fickle])
        #expect(different.status == 1)
        #expect(different.errors.contains("VARIES  toy, names, a: one\n"), "\(different.errors)")
        #expect(different.errors.hasSuffix("2 runs, 1 verdicts differ\n"), "\(different.errors)")
    }

    @Test("A client may be a name of clients.json, which a program beside it prepares")
    func namedClient() async throws {
        let description = #"{"contract": 1, "name": "toy", "version": "2", "codings": []}"#
        let adapter = """
            #!/bin/sh
            echo '\(description)'
            while read line; do n=$((n+1)); echo '{"id": '$n', "left": "too hard"}'; done
            """
        let fixtures = try TemporaryFixtures(["names/a.json": "[\(nameVector())]"])
        let folder = fixtures.path + "/clients"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        func write(_ text: String, to name: String) throws {
            try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o755],
                ofItemAtPath: "\(folder)/\(name)"
            )
        }
        try write(adapter, to: "toy")
        try write(#"{"clients": [{"name": "toy"}, {"name": "gone"}]}"#, to: "clients.json")
        try write(
            """
            #!/bin/sh
            echo "installing $1" >&2; [ "$1" = toy ] || exit 1
            echo first; echo '\(folder)/toy'
            """,
            to: "prepare"
        )
        let arguments = ["run", "--fixtures", fixtures.path, "--client"]
        let good = try await run(arguments + ["toy"])
        #expect(good.status == 2)
        #expect(good.errors.hasPrefix("installing toy\ntls-fixtures: nothing was judged"))
        #expect(good.output.contains("left out, 1: toy: too hard\n"))
        let bad = try await run(arguments + ["gone"])
        #expect(bad.status == 2)
        #expect(
            bad.errors == "installing gone\ntls-fixtures: the client gone cannot be prepared\n"
        )
        try write(#"{"clients": [{"title": "toy"}]}"#, to: "clients.json")
        let broken = try await run(arguments + ["toy"])
        #expect(broken.status == 2)
        #expect(broken.errors.contains("clients.json: "), "\(broken.errors)")
    }

    @Test("Vectors are served one after the other, each with a command, until Enter is pressed no more")
    func serveByName() async throws {
        let request = """
            [{"name": "b: one", "why": "it's so", "reference": "RFC 9112", "right": "must", "method": "POST",
            "headers": [["A", "b c"]], "expect": {"bytes": ""}}]
            """
        let fixtures = try TemporaryFixtures(["names/a.json": Self.names, "request/b.json": request])
        let arguments = ["serve", "--fixtures", fixtures.path, "--name"]
        let result = try await run(arguments + ["a: t"], input: "\n")
        #expect(result.status == 0)
        let lines = result.output.split(separator: "\n")
        #expect(lines.filter { $0.hasPrefix("names  ") } == ["names  a: two", "names  a: three"])
        #expect(lines.contains { $0.hasPrefix("  expected  ") })
        #expect(lines.count { $0.hasPrefix("  connect   good.test:") } == 2)
        #expect(lines.count { $0.hasPrefix("  curl -q -sS -i --http1.1 --noproxy '*' --cacert ") } == 2)
        let posted = try await run(arguments + ["b: one"])
        #expect(posted.output.contains(" --request POST "))
        #expect(posted.output.contains(" --header 'A: b c' "), "\(posted)")
        let none = try await run(arguments + ["nothing of the kind"])
        #expect(none.status == 2 && none.errors == "tls-fixtures: no vector has that text in its name\n")
    }

    @Test("The client as a program does jobs, reports each, and ends at a line that is no job")
    func client() async throws {
        let fixtures = try TemporaryFixtures(["names/a.json": Self.names])
        let folder = try VectorFolder(fixtures: fixtures.path)
        let authority = try WireAuthority(certificates: folder.certificates)
        var trials: [Trial] = []
        for vector in folder.vectors {
            guard case .plans(let plans) = vector.trials(folder, authority: authority, codings: []) else {
                continue
            }
            trials.append(try plans[0].start())
        }
        try #require(trials.count == 3)
        var input = ""
        for (number, trial) in trials.enumerated() {
            input += "\(trial.job.json(id: number, proxy: nil))\n"
        }
        let result = try await run(["client"], input: input + "{}\n")
        #expect(result.status == 2)
        #expect(result.errors.hasPrefix("tls-fixtures: this is not a job: "))
        let lines = result.output.split(separator: "\n")
        try #require(lines.count == 4)
        let facts = try StrictDecoder.decode(
            ClientDescription.self,
            from: try JSONReader.read(Array(lines[0].utf8))
        )
        #expect(facts.name == "direct-http")
        for (number, line) in lines.dropFirst().enumerated() {
            let read = try StrictDecoder.decode(
                NumberedOutcome.self,
                from: try JSONReader.read(Array(line.utf8))
            )
            #expect(read.id == number)
            let differences = await trials[number].differences(read.outcome, facts)
            #expect(differences.isEmpty == (number < 2), "\(differences)")
        }
        #expect(try await run(["client"]).status == 0)
    }
}
