import DirectTestCommands
import Foundation
import TLSFixtures
import Testing

@testable import SNIProbe

/// A run that is killed or interrupted, and the one that goes on with its results.
@Suite("Runs that go on")
final class ResumeTests: Sendable {
    private let folder = NSTemporaryDirectory() + "sni-probe-\(UUID().uuidString)"
    private let server: FixtureServer
    private let dead: FixtureServer
    private let root = TestAuthority()

    init() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        server = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in .text("") }
        dead = try FixtureServer.refusing()
        try root.rootPEM.write(toFile: folder + "/ca.pem", atomically: true, encoding: .utf8)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private var options: [String] { ["--ca", folder + "/ca.pem", "--json", "--skip-default"] }

    private func read(_ name: String) -> String {
        (try? String(contentsOfFile: folder + "/" + name, encoding: .utf8)) ?? ""
    }

    private func write(_ text: String, _ name: String) throws -> String {
        try text.write(toFile: folder + "/" + name, atomically: false, encoding: .utf8)
        return folder + "/" + name
    }

    /// The lines without what differs between two runs: times, and whether a target was on standard input.
    private func lines(_ text: String) throws -> [String] {
        let parts = [#""time":"[^"]*""#, #""source":"[^"]*""#, #""ms":\{[^}]*\}"#, #""not_after":"[^"]*""#]
        return try text.split(separator: "\n").map { line in
            var line = String(line)
            for part in parts { line.replace(try Regex(part), with: "") }
            return line
        }.sorted()
    }

    @Test("A run that is killed at any line loses none, and ends as one that was not", .idleLimit)
    func killedAtEveryLine() async throws {
        // Only the first two fail: what goes on makes none of them anew, and has their exit code all the same.
        let wrong = "b.test@\(server.authority)"
        let targets =
            [wrong, "c.test@\(server.authority)"] + Array(repeating: "a.test@\(server.authority)", count: 2)
            + (1...4).map { "https://a.test/\($0)@\(server.authority)" }
        let list = try write(targets.joined(separator: "\n"), "list")
        let whole = try await Program.run(["-f", list, "-o", folder + "/whole"] + options)
        #expect(whole.code == 60)
        for isKilled in [true, false] {
            for count in 1...targets.count {
                let part = folder + "/out.part"
                let arguments = ["-f", "-", "-o", folder + "/out"] + (count > 1 ? ["--resume", part] : [])
                let text = targets.prefix(count).map { $0 + "\n" }.joined()
                try await onOwnThread { [options, self] in
                    let running = try RunningProgram(arguments + options)
                    try running.input.write(contentsOf: Data(text.utf8))
                    while read("out.part").count(where: { $0 == "\n" }) < count { sched_yield() }
                    if isKilled { running.kill() } else { running.interrupt() }
                    _ = running.finish()
                }
                let names = try FileManager.default.contentsOfDirectory(atPath: folder)
                #expect(names.filter { $0.hasPrefix("out") } == ["out.part"], "\(count)")
            }
            // The last line may be half.
            _ = try write(String(read("out.part").dropLast(40)), "out.part")
            let rest = ["-f", list, "--resume", folder + "/out.part", "-o", folder + "/out"]
            let last = try await Program.run(rest + options)
            #expect(last.code == whole.code && last.errors.contains("7 results are there already"))
            #expect(try lines(read("out")) == lines(read("whole")))
            #expect(!FileManager.default.fileExists(atPath: folder + "/out.part"))
            if isKilled { try FileManager.default.removeItem(atPath: folder + "/out") }
        }
        // Metrics and logs have the earlier results too.
        for (format, wanted) in [("prometheus", "sni_probe_success"), ("sarif", "ruleId")] {
            let made = ["-f", list, "--format", format] + options.filter { $0 != "--json" }
            let (new, resumed) = try await (
                Program.run(made), Program.run(made + ["--resume", folder + "/out"])
            )
            func facts(_ text: String) -> [Substring] {
                text.split(separator: "\n").filter { $0.contains(wanted) || $0.contains("cert_not_after") }
            }
            #expect(new.code == resumed.code && facts(new.output).count >= 1)
            #expect(facts(new.output).count == facts(resumed.output).count, "\(resumed.output)")
            if format == "prometheus" { #expect(facts(new.output) == facts(resumed.output)) }
        }
    }

    @Test("What goes on compares with the first certificate of the earlier results")
    func otherCertificate() async throws {
        let second = root.certificate(for: "a.test", "b.test")
        let other = try FixtureServer.start(.tls(second)) { _ in .text("") }
        // Two ports of the target's own are two places of one host.
        let targets = ["https://a.test:\(server.port)/1", "https://a.test:\(server.port)/2"]
        let first = try await Program.run([targets[0] + "@127.0.0.1"] + options)
        let path = try write(first.output, "first")
        let next = targets[1] + "@127.0.0.1:\(other.port)"
        let rest = try await Program.run([targets[0] + "@127.0.0.1", next, "--resume", path] + options)
        #expect(rest.output.contains("other_certificate"))
    }

    @Test("A name that was not resolved has its result, as every other")
    func unresolved() async throws {
        let (hosts, target) = (try write("", "hosts"), "nowhere.test")
        let options = ["--resolver", "hosts:" + hosts, "--json", "-o", folder + "/out"]
        let first = try await Program.run([target] + options)
        let again = try await Program.run([target, "--resume", folder + "/out"] + options)
        #expect(first.code == 6 && again.code == 6)
        #expect(read("out").count { $0 == "\n" } == 1)
    }

    @Test("Results of a run with other options are no part of this one, and the options are named")
    func otherOptions() async throws {
        let target = "a.test@\(server.authority)"
        let hash = "sha256:" + String(repeating: "0", count: 64)
        let strict = options + ["--strict", "-H", "Authorization: secret", "--expect", hash]
        let url = "https://a.test/@\(server.authority)"
        let first = try await Program.run([url] + strict)
        #expect(first.code == 90 && !first.output.contains("secret"))
        let path = try write(first.output, "first")
        for (more, words) in [
            (["-k"], "were made with --expect sha256:000"), (["-k"], "--header authorization and --strict"),
            (["-k"], "without --insecure"),
        ] {
            let rest = try await Program.run([url, "--resume", path] + options + more)
            #expect(rest.code == 64 && rest.output.isEmpty && rest.errors.contains(words), "\(rest.errors)")
        }
        // How it is run may change, and in another order the options are the same.
        let same = try await Program.run([url, "--resume", path, "-j", "1"] + strict.reversedPairs)
        #expect(same.code == 90)
        for more in [["--same"], ["--format", "junit"], ["--format", "nagios"]] {
            let words = [target, "--resume", path] + more
            #expect(throws: UsageError.self) { _ = try Options(words) }
        }
    }

    @Test("The value of an option that names no file is none that is read")
    func noInput() throws {
        let words = ["a.test@127.0.0.1", "--format", "prometheus", "--output", "prometheus"]
        #expect(try Options(words).inputs.isEmpty)
        #expect(try Options(words + ["--file", "a", "--resolver", "hosts:b"]).inputs == ["a", "hosts:b"])
    }

    @Test("No file that is read is written over")
    func inputs() async throws {
        let target = "a.test@\(server.authority)"
        let list = try write(target + "\n", "list")
        try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: list)
        let before = read("list")
        for arguments in [
            ["-f", list, "-o", list], ["-f", list, "-o", folder + "/link"],
            ["-f", folder + "/link", "-o", list],
            [target, "--resolver", "hosts:" + list, "-o", list], [target, "--ca", "own=" + list, "-o", list],
            [target, "--baseline", list, "-o", list], ["report", list, "-o", list],
            ["check", list, "a.test", "-o", list],
        ] {
            let run = try await Program.run(arguments)
            #expect(run.code != 0 && read("list") == before, "\(arguments)")
        }
        let ca = try await Program.run([target, "--ca", folder + "/ca.pem", "-o", folder + "/ca.pem"])
        #expect(ca.code == 64 && ca.errors.contains("which this command reads"))
        #expect(read("ca.pem") == root.rootPEM)
        let within = try await Program.run([target, "--ca", folder, "-o", folder + "/new"])
        #expect(within.code == 64 && within.errors.contains("which this command reads"))
        let named = try await Program.run(
            [target, "-o", list],
            environment: ["SSL_CERT_FILE": list]
        )
        #expect(named.code == 64 && read("list") == before)
        let standard = try await Program.run(
            ["-f", "-", "-o", list],
            wrapper: ["/bin/sh", "-c", "exec \"$@\" < '\(list)'", "sh"]
        )
        #expect(standard.code == 64 && read("list") == before)
    }

    @Test("After a signal the rest is compared as in a run that was left alone", .idleLimit)
    func comparedAsOne() async throws {
        let gate = DispatchSemaphore(value: 1)
        let slow = try FixtureServer.start(
            .tls(root.certificate(for: "a.test")) { settings in
                settings.choose = { _ in
                    gate.wait()
                    gate.signal()
                    return nil
                }
            }
        ) { _ in .text("") }
        let other = try FixtureServer.start(.tls(root.issue(CertificateProfile(for: "a.test")))) { _ in
            .text("")
        }
        let host = "https://a.test:\(server.port)"
        let targets = [
            "\(host)/0@\(dead.authority)", "\(host)/1@\(slow.authority)", "\(host)/2@\(other.authority)",
        ]
        let list = ["-f", try write(targets.joined(separator: "\n"), "list")]
        let whole = try await Program.run(list + ["-o", folder + "/whole"] + options)
        #expect(
            whole.code == 7
                && read("whole").split(separator: "\n").last?.contains("other_certificate") == true
        )
        // The second is silent until it is told, so the third has its result before.
        gate.wait()
        try await onOwnThread { [options, self] in
            let running = try RunningProgram(list + ["-o", folder + "/out"] + options)
            while read("out.part").isEmpty || other.records.count(where: { $0.end != nil }) < 2 {
                sched_yield()
            }
            running.interrupt()
            _ = running.finish()
        }
        #expect(read("out.part").count { $0 == "\n" } == 1)
        gate.signal()
        let rest = ["--resume", folder + "/out.part", "-o", folder + "/out"]
        #expect(try await Program.run(list + rest + options).code == whole.code)
        #expect(try lines(read("out")) == lines(read("whole")))
    }

    @Test("Another file of --expect, or other roots of the environment, are other options")
    func otherFiles() async throws {
        let (target, pem) = ("a.test@\(server.authority)", folder + "/expected.pem")
        let other = root.certificate(for: "b.test")
        _ = try write(root.certificate(for: "a.test").pem, "expected.pem")
        let options = ["--json", "--skip-default", "--expect", pem]
        let roots = ["SSL_CERT_FILE": folder + "/ca.pem"]
        let first = try await Program.run([target] + options, environment: roots)
        #expect(first.code == 0)
        let path = try write(first.output, "first")
        let again = try await Program.run([target, "--resume", path] + options, environment: roots)
        #expect(again.code == 0 && again.output.isEmpty)
        let elsewhere = ["SSL_CERT_FILE": try write(root.rootPEM, "other.pem")]
        let moved = try await Program.run([target, "--resume", path] + options, environment: elsewhere)
        #expect(moved.code == 64 && moved.errors.contains("with SSL_CERT_FILE "), "\(moved.errors)")
        _ = try write(other.pem, "expected.pem")
        let renewed = try await Program.run([target, "--resume", path] + options, environment: roots)
        #expect(renewed.code == 64 && renewed.errors.contains("with --expect sha256:"), "\(renewed.errors)")
    }

    @Test("Two runs do not go on with one file at a time", .idleLimit)
    func onlyOne() async throws {
        let target = "a.test@\(server.authority)"
        let path = folder + "/out"
        let first = try await Program.run([target, "-o", path] + options)
        #expect(first.code == 0)
        try await onOwnThread { [options, self] in
            let running = try RunningProgram(["-f", "-", "--resume", path, "-o", path] + options)
            try running.input.write(contentsOf: Data("\(target)\nhttps://a.test/@\(server.authority)\n".utf8))
            while read("out").count(where: { $0 == "\n" }) < 2 { sched_yield() }
            let second = try RunningProgram([target, "--resume", path, "-o", path] + options)
            try second.input.close()
            let refused = second.finish()
            #expect(refused.code == 64 && refused.errors.contains("another run"), "\(refused.errors)")
            try running.input.close()
            #expect(running.finish().code == 0)
        }
        #expect(read("out").count { $0 == "\n" } == 2)
    }
}

extension [String] {
    /// Options and values in another order: the last pair first.
    fileprivate var reversedPairs: [String] {
        // The last four words are two options with their values, of which nothing depends on the other.
        Array(suffix(4).suffix(2) + suffix(4).prefix(2) + prefix(count - 4))
    }
}
