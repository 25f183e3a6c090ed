import DirectJSON
import DirectTestCommands
import Foundation
import Synchronization
import TLSFixtures
import Testing

@testable import SNIProbe

/// Options for runs that are compared with others or come again.
@Suite("Files, baselines and rounds")
struct MonitoringTests {
    private let root = TestAuthority()

    private func withFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
        let folder = NSTemporaryDirectory() + "monitoring-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try root.rootPEM.write(toFile: folder + "/root.pem", atomically: true, encoding: .utf8)
        return try await body(folder)
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    @Test("Option --output replaces the file when the run is at its end, and leaves nothing else behind")
    func outputFile() async throws {
        let server = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in .text("") }
        try await withFolder { folder in
            let file = folder + "/out.prom"
            try "old".write(toFile: file, atomically: true, encoding: .utf8)
            let arguments = ["--ca", folder + "/root.pem", "--format", "prometheus", "--output", file]
            let good = try await Program.run(arguments + ["a.test@\(server.authority)"])
            #expect(good.code == 0)
            #expect(good.output.isEmpty)
            let metrics = try text(file)
            #expect(metrics.contains("sni_probe_success{host=\"a.test\""))
            // Neither a mistake on the command line nor one in the input replaces the file.
            #expect(try await Program.run(arguments + ["--jobs", "x", "a.test"]).code == 64)
            let half = try await Program.run(
                arguments + ["-f", "-"],
                input: "a.test@\(server.authority)\nb.test@nowhere\n"
            )
            #expect(half.code == 64)
            #expect(half.errors.contains("is left as it was"))
            #expect(try text(file) == metrics)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == [
                    "out.prom", "root.pem",
                ]
            )
        }
    }

    @Test("Option --output refuses a folder, and says why a file cannot be written")
    func unwritableFile() async throws {
        let folder = try await Program.run(["a.test@127.0.0.1", "--output", "/dev"])
        #expect(folder.code == 74)
        #expect(folder.errors == "sni-probe: cannot write '/dev': is a directory\n")
        let nowhere = try await Program.run(["a.test@127.0.0.1", "--output", "/nowhere/at/all"])
        #expect(nowhere.code == 74)
        #expect(nowhere.errors == "sni-probe: cannot write '/nowhere/at/all': no such file or directory\n")
    }

    @Test("Option --output writes what a link leads to, which keeps its permissions; the link stays")
    func outputLink() async throws {
        let server = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in .text("") }
        try await withFolder { folder in
            let (file, link) = (folder + "/file", folder + "/link")
            try "old".write(toFile: file, atomically: true, encoding: .utf8)
            chmod(file, 0o640)
            symlink("file", link)
            let arguments = ["--ca", folder + "/root.pem", "--json", "a.test@\(server.authority)"]
            #expect(try await Program.run(arguments + ["-o", link]).code == 0)
            #expect(try text(file).hasPrefix(#"{"v":1,"#))
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "file")
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect(attributes[.posixPermissions] as? Int == 0o640)
        }
    }

    @Test("Option --output writes to a device, a pipe or an open file directly, and none of them is replaced")
    func outputDevice() async throws {
        let server = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in .text("") }
        try await withFolder { folder in
            symlink("/proc/self/fd/1", folder + "/stdout")
            symlink("/dev/null", folder + "/null")
            let arguments = ["--ca", folder + "/root.pem", "--json", "a.test@\(server.authority)"]
            try "old\n".write(toFile: folder + "/out", atomically: true, encoding: .utf8)
            let shell = ["/bin/sh", "-c", "exec \"$@\" >> \(folder)/out", "sh"]
            let file = try await Program.run(arguments + ["-o", folder + "/stdout"], wrapper: shell)
            #expect(try file.code == 0 && text(folder + "/out").hasPrefix("old\n{\"v\":1,"))
            let pipe = try await Program.run(arguments + ["-o", folder + "/stdout"])
            #expect(pipe.code == 0 && pipe.output.hasPrefix("{\"v\":1,"))
            let null = try await Program.run(arguments + ["-o", folder + "/null"])
            #expect(null.code == 0 && null.output.isEmpty)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == [
                    "null", "out", "root.pem", "stdout",
                ]
            )
            #expect(
                try FileManager.default.destinationOfSymbolicLink(atPath: folder + "/null") == "/dev/null"
            )
        }
    }

    @Test("A baseline tells what is new, gone and other")
    func baseline() async throws {
        let first = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in .text("") }
        let changing = Mutex(try root.issue(.publicLeaf("a.test", until: 30)))
        let second = try FixtureServer.start(
            .tls(certificates: [root.certificate(for: "a.test")]) { settings in
                settings.choose = { _ in changing.withLock { $0 } }
            }
        ) { _ in .text("") }
        let gone = try FixtureServer.refusing()
        try await withFolder { folder in
            let file = folder + "/before.json"
            let arguments = ["--ca", folder + "/root.pem", "--json"]
            let before = try await Program.run(
                arguments + ["-o", file, "a.test", "@\(second.authority)", "@\(gone.authority)"]
            )
            #expect(before.code == 7)
            let same = try await Program.run(
                arguments + ["--baseline", file, "a.test", "@\(second.authority)"]
            )
            #expect(same.output.contains("\"baseline\":{\"change\":\"same\",\"sha256\":null"))
            #expect(same.errors.contains("0 new, 1 gone (a.test @ 127.0.0.1), 0 other"))
            let renewed = try root.issue(.publicLeaf("a.test"))
            changing.withLock { $0 = renewed }
            let after = try await Program.run(
                arguments + [
                    "--baseline", file, "a.test", "@\(first.authority)", "@\(second.authority)", "--strict",
                ]
            )
            #expect(after.code == 90)
            #expect(after.output.contains("\"baseline\":{\"change\":\"new\""))
            #expect(after.output.contains("\"baseline\":{\"change\":\"other\",\"sha256\":\""))
            #expect(after.output.contains("{\"id\":\"changed\",\"text\":\"certificate "))
            #expect(after.errors.contains("1 new (a.test @ 127.0.0.1), 1 gone (a.test @ 127.0.0.1), 1 other"))
        }
    }

    @Test("A file that is no baseline is refused with its line")
    func badBaseline() async throws {
        try await withFolder { folder in
            let file = folder + "/bad.json"
            try "{}\n".write(toFile: file, atomically: true, encoding: .utf8)
            let result = try await Program.run(["a.test@127.0.0.1", "--baseline", file])
            #expect(result.code == 66)
            #expect(result.errors.hasPrefix("sni-probe: \(file):1: this is not a line of sni-probe --json\n"))
        }
    }

    @Test("A baseline that is not a file is refused", arguments: ["/dev/null", "-"])
    func baselineThatIsNoFile(_ path: String) async throws {
        let result = try await Program.run(["a.test@127.0.0.1", "--baseline", path])
        #expect(result.code == 66)
        #expect(result.errors.contains("--baseline reads a file, and"), "\(result)")
    }

    @Test("A result that fails, and passed in the baseline, says so")
    func passedBefore() async throws {
        let current = Mutex(root.certificate(for: "a.test"))
        let server = try FixtureServer.start(
            .tls(certificates: [root.certificate(for: "a.test")]) {
                $0.choose = { _ in current.withLock { $0 } }
            }
        ) { _ in .text("") }
        try await withFolder { folder in
            let (file, place) = (folder + "/before.json", "a.test@\(server.authority)")
            let arguments = ["--ca", folder + "/root.pem", "--json"]
            #expect(try await Program.run(arguments + [place, "-o", file]).code == 0)
            let expired = try root.issue(.publicLeaf("a.test", from: -99, until: -9))
            let hash = try #require(JSONReader.read(Array(text(file).utf8))["certificate"]?["sha256"]?.text)
            current.withLock { $0 = expired }
            let after = try await Program.run(arguments + [place, "--baseline", file])
            #expect(after.code == 60)
            let words = "certificate \(hash.prefix(8)) before, passed before"
            #expect(after.output.contains("{\"id\":\"changed\",\"text\":\"\(words)\""), "\(after)")
            // The same the other way round.
            try await Program.run(arguments + [place]).output.write(
                toFile: file,
                atomically: true,
                encoding: .utf8
            )
            current.withLock { [root] in $0 = root.certificate(for: "a.test") }
            let mended = try await Program.run(arguments + [place, "--baseline", file])
            #expect(mended.code == 0)
            #expect(mended.output.contains(", expired before\""), "\(mended)")
        }
    }

    @Test("Option --watch prints changes only, round after round, until a signal")
    func watch() async throws {
        let standard = root.certificate(for: "b.test")
        let right = root.certificate(for: "a.test")
        let current = Mutex(right)
        let server = try FixtureServer.start(
            .tls(certificates: [standard]) { $0.choose = { _ in current.withLock { $0 } } }
        ) { _ in .text("") }
        try await withFolder { folder in
            let program = try RunningProgram([
                "--ca", folder + "/root.pem", "a.test@\(server.authority)", "--watch", "1ms",
                "--skip-default",
            ])
            let first = try await onOwnThread { try program.readLine() }
            #expect(first.hasPrefix("ok\ta.test\t"))
            // Rounds without a change print nothing.
            for _ in 0..<3 { _ = try await server.nextRecord() }
            current.withLock { $0 = standard }
            let changed = try await onOwnThread { try program.readLine() }
            #expect(changed.hasPrefix("FAIL\ta.test\t"))
            program.interrupt()
            let rest = try await onOwnThread { program.finish() }
            #expect(rest.code == 130)
            #expect(rest.output.isEmpty)
        }
    }

    @Test("What runs a plugin waits no longer than --timeout for confirmations, too")
    func pluginInTime() throws {
        for (format, isInTime) in [("nagios", true), ("json", false), ("prometheus", false)] {
            let options = try Options(["a.test", "--format", format])
            #expect(options.settings.confirmsInTime == isInTime, "\(format)")
        }
    }

    @Test(
        "Options that have no meaning in rounds are refused",
        arguments: [
            ["-f", "-"], ["--wait", "1m"], ["-q"], ["--format", "nagios"], ["--format", "prometheus"],
        ]
    )
    func misuse(_ options: [String]) {
        #expect(throws: UsageError.self) { _ = try Options(["a.test", "--watch", "1s"] + options) }
    }
}
