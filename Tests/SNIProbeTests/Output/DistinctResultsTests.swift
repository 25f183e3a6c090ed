import DirectHTTP
import DirectTestCommands
import Foundation
import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("Results that stay apart, and runs that go on")
struct DistinctResultsTests {
    private let root = TestAuthority()

    private func unresolved(by resolver: String) throws -> ProbeRecord {
        let target = ProbeTarget(host: try HTTPHost("a.test"))
        return Judge(settings: ProbeSettings(), now: 1_795_000_000).record(
            unresolved: target,
            "no such name",
            after: .zero,
            at: 0,
            by: resolver
        )
    }

    private func text(of records: [ProbeRecord], by make: (OutputSink) -> any RecordOutput) -> String {
        let sink = OutputSink.memory
        let output = make(sink)
        for record in records { output.add(record, isOnlyOne: false) }
        output.finish(Digest(), interrupted: false)
        _ = output.flush()
        return String(decoding: sink.bytes, as: UTF8.self)
    }

    @Test("Two resolvers that fail are two results in every format")
    func failingResolvers() throws {
        let records = [try unresolved(by: "dns://192.0.2.1"), try unresolved(by: "dns://192.0.2.2")]
        #expect(records[0].key != records[1].key)
        for make in [
            { PrometheusOutput(to: $0) }, { JUnitOutput(to: $0) }, { SARIFOutput(to: $0) },
            { ChangesOutput(JSONOutput(to: $0)) },
        ] as [(OutputSink) -> any RecordOutput] {
            let text = text(of: records, by: make)
            #expect(text.contains("192.0.2.1") && text.contains("192.0.2.2"), "\(text)")
        }
        let marks = [#"<testcase [^>]*""#, #""partialFingerprints":\{[^}]*"#]
        for (mark, make) in zip(
            marks,
            [{ JUnitOutput(to: $0) }, { SARIFOutput(to: $0) }] as [(OutputSink) -> any RecordOutput]
        ) {
            let text = text(of: records, by: make)
            #expect(
                Set(try text.matches(of: Regex(mark)).map { String(text[$0.range]) }).count == 2,
                "\(text)"
            )
        }
        let entries = records.map { ReportEntry($0) }
        #expect(Set(entries.map(\.place)).count == 2)
    }

    @Test("A baseline misses the resolver that fails no more")
    func baselineOfResolvers() throws {
        try withTemporaryFile { path in
            let sink = OutputSink.memory
            let output = JSONOutput(to: sink)
            for name in ["one", "two"] { output.add(try unresolved(by: name), isOnlyOne: false) }
            _ = output.flush()
            try Data(sink.bytes).write(to: URL(filePath: path))
            let baseline = try Baseline(path)
            #expect(baseline.compare(ReportEntry(try unresolved(by: "one"))) == .same)
            #expect(baseline.summary(isWhole: true).hasSuffix("0 new, 1 gone (a.test by two), 0 other"))
        }
    }

    private func withTemporaryFile(_ body: (String) throws -> Void) throws {
        let path = NSTemporaryDirectory() + "sni-probe-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    @Test("A run that goes on leaves out what has a result")
    func resume() async throws {
        let server = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in .text("") }
        let path = NSTemporaryDirectory() + "sni-probe-\(UUID().uuidString)"
        defer { for end in ["", ".pem"] { try? FileManager.default.removeItem(atPath: path + end) } }
        try root.rootPEM.write(toFile: path + ".pem", atomically: true, encoding: .utf8)
        let targets = ["a.test@\(server.authority)", "b.test@\(server.authority)"]
        let options = ["--ca", path + ".pem", "--json", "--skip-default"]
        let first = try await Program.run([targets[0]] + options)
        // The last line of a run that was killed.
        try (first.output + #"{"v":1,"ti"#).write(toFile: path, atomically: true, encoding: .utf8)
        let rest = try await Program.run(targets + options + ["--resume", path])
        #expect(rest.code == 60)
        #expect(rest.output.split(separator: "\n").count == 1 && rest.output.contains(#""host":"b.test""#))
        #expect(rest.errors.contains("1 results are there already"))
    }

    @Test("One bad IP fails a run, and with --any-good only a target that has no good one")
    func anyGood() async throws {
        let good = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in .text("") }
        let bad = try FixtureServer.refusing()
        func code(_ words: [String]) async throws -> Int32 {
            try await probe(words + ["--skip-default"], trusting: root.rootPEM).code
        }
        let pool = ["https://a.test:\(good.port)/@\(good.address)", "https://a.test:\(good.port)/@127.0.0.9"]
        #expect(try await code(pool) == 7)
        #expect(try await code(pool + ["--any-good"]) == 0)
        let other = "https://b.test/@\(bad.authority)"
        #expect(try await code(pool + [other, "--any-good"]) == 7)
        #expect(throws: UsageError.self) { _ = try Options(pool + ["--any-good", "--format", "nagios"]) }
    }

    /// The files in a folder, also those without a name (Linux, O_TMPFILE), through the processes that have
    /// them open.
    private func filesOrDrafts(in folder: String) -> [String] {
        let files = FileManager.default
        func paths(_ folder: String) -> [String] {
            ((try? files.contentsOfDirectory(atPath: folder)) ?? []).map { folder + "/" + $0 }
        }
        let descriptors = paths("/proc").flatMap { paths($0 + "/fd") }
        return paths(folder)
            + descriptors.filter {
                (try? files.destinationOfSymbolicLink(atPath: $0))?.hasPrefix(folder + "/") == true
            }
    }

    /// The size of the file that a path leads to; 0 if there is none.
    private func size(of path: String) -> Int {
        var facts = stat()
        return stat(path, &facts) == 0 ? Int(facts.st_size) : 0
    }

    @Test("An interrupted run keeps its results beside the file that it was to replace", .idleLimit)
    func interrupted() async throws {
        let silent = try FixtureServer.start(behaviour: .bytes(.silent))
        let dead = try FixtureServer.refusing()
        let folder = NSTemporaryDirectory() + "sni-probe-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        // Probes this host and one that is silent, and is interrupted when the result of the first is there.
        func interrupt(_ host: String, to file: String, _ more: [String] = []) async throws -> Program.Result
        {
            try await onOwnThread {
                let known = Set(filesOrDrafts(in: folder))
                let former = more.last.map { size(of: $0) } ?? 0
                let program = try RunningProgram(
                    [
                        "\(host)@\(dead.authority)", "silent.test@\(silent.authority)", "--skip-default",
                        "--json",
                    ]
                        + ["-o", folder + "/" + file] + more
                )
                try program.input.close()
                while !filesOrDrafts(in: folder).contains(where: {
                    !known.contains($0) && size(of: $0) > former
                }) {
                    sched_yield()
                }
                program.interrupt()
                return program.finish()
            }
        }
        func hosts(_ file: String) throws -> [String] {
            try String(contentsOfFile: folder + "/" + file, encoding: .utf8).split(separator: "\n").map {
                line in
                String(try #require(ReportEntry(Array(line.utf8))).host.prefix(1))
            }
        }
        let first = try await interrupt("a.test", to: "out")
        #expect(first.code == 130 && first.errors.contains("the results so far are in"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["out.part"])
        #expect(try hosts("out.part") == ["a"])
        // What goes on has all results, however often it is interrupted.
        for (host, all) in [("b.test", ["a", "b"]), ("c.test", ["a", "b", "c"])] {
            _ = try await interrupt(host, to: "out", ["--resume", folder + "/out.part"])
            #expect(try hosts("out.part") == all)
        }
        // In the file itself, too.
        let own = try await interrupt("d.test", to: "out.part", ["--resume", folder + "/out.part"])
        #expect(try hosts("out.part") == ["a", "b", "c", "d"])
        #expect(!own.errors.contains("left as it was"))
        let end = try await Program.run(
            ["a.test@\(dead.authority)", "e.test@\(dead.authority)", "--skip-default", "--json"]
                + ["-o", folder + "/out.part", "--resume", folder + "/out.part"]
        )
        #expect(try end.code == 7 && hosts("out.part") == ["a", "b", "c", "d", "e"])
        // Nothing else is replaced: neither what another run has left nor anybody's file.
        _ = try await interrupt("f.test", to: "out")
        #expect(try hosts("out.part").count == 5 && hosts("out.part-1") == ["f"])
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        #expect(names == ["out.part", "out.part-1"])
        let text = try await Program.run(
            ["a.test@\(dead.authority)", "-o", folder + "/out.part", "--resume", folder + "/out.part"]
        )
        #expect(text.code == 64)
    }

    @Test("Options that have no effect together are refused with a file of targets, too")
    func checksWithFile() throws {
        for arguments in [
            ["--warn-days", "5", "--critical-days", "10"], ["--interval", "1s"],
        ] {
            #expect(throws: UsageError.self) { _ = try Options(["-f", "-"] + arguments) }
        }
        try withTemporaryFile { path in
            try "http://a.test/ @127.0.0.1\n".write(toFile: path, atomically: true, encoding: .utf8)
            let options = try Options(["-f", path, "--repeat", "3"])
            #expect(throws: UsageError.self) { _ = try ProbeFeed(options) }
        }
    }

    @Test("A port that was given stays with --starttls, and mistakes have the right form")
    func smallThings() throws {
        func port(_ word: String) throws -> UInt16? {
            guard case .target(let target, _) = try TargetWord(word) else { return nil }
            return target.withPort(of: .smtp).port
        }
        #expect(try port("a.test") == 25 && port("a.test:443") == 443 && port("a.test:587") == 587)
        func hint(_ arguments: [String]) -> String? {
            do { _ = try Options(arguments) } catch { return (error as UsageError).hint }
            return nil
        }
        #expect(hint(["a.test", "--resolver", "8.8.8.8"]) == "did you mean dns://8.8.8.8?")
        #expect(hint(["a.test/path"]) == "did you mean https://a.test/path?")
        let late = ResolverReply(
            resolver: "x",
            result: .failure(ResolverError("x", .timedOut(after: .nanoseconds(997_378_182)))),
            timeToLive: nil,
            time: .zero
        )
        #expect(late.failure == "no answer in 1 s")
    }

    @Test("The marks of a hint's holes are read back, and other braces stay")
    func holes() {
        let words: HintText = "\(.ip) does not know \(.host): sni-probe \(.target) @\(.at) {x} {"
        #expect(words.marked == "{ip} does not know {host}: sni-probe {target} @{at} {x} {")
        let read = HintText(marked: words.marked)
        #expect(read.marked == words.marked)
        #expect(
            read.filled { $0.rawValue.uppercased() } == "IP does not know HOST: sni-probe TARGET @AT {x} {"
        )
    }

    @Test("A hint of a summary names its places, and its words none of them alone")
    func places() {
        var list = HintList()
        for host in ["a.test", "b.test"] {
            for last in 1...2 {
                let place = Hint.Place(host: host, address: "203.0.113.\(last)", word: host + ":8443")
                let words: HintText = "\(.ip) does not know \(.host): sni-probe \(.target), @\(.at)"
                list.add(Hint(kind: .nameMismatch, words: words, place: place))
            }
        }
        list.add(
            Hint(
                kind: .dns,
                words: "check \(.host)",
                place: .init(host: "c.test", address: "", word: "c.test")
            )
        )
        #expect(
            list.groups.map { $0.text(severalHosts: true) } == [
                "on 4 probes (a.test @ 203.0.113.1, a.test @ 203.0.113.2, b.test @ 203.0.113.1, b.test @ 203.0.113.2): "
                    + "the IP does not know the host: sni-probe HOST, @IP",
                "c.test: check c.test",
            ]
        )
    }
}
