import DirectTestCommands
import Foundation
import TLSFixtures
import Testing

@testable import SNIProbe

/// The program itself, as a shell runs it.
@Suite("The program sni-probe")
struct CommandTests {
    private let root = TestAuthority()

    private func withRoots<Result>(_ body: (String) async throws -> Result) async throws -> Result {
        let path = NSTemporaryDirectory() + "probe-\(UUID().uuidString).pem"
        try root.rootPEM.write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try await body(path)
    }

    private func server(_ name: String = "a.test") throws -> FixtureServer {
        try FixtureServer.start(.tls(root.certificate(for: name))) { _ in .text("hello") }
    }

    @Test("A pipe receives tab-separated lines with full hashes, and hints go to standard error")
    func aPipeGetsTabsAndFullHashesAndTheHintGoesToStandardError() async throws {
        let server = try server()
        try await withRoots { roots in
            let result = try await Program.run([
                "--ca", roots, "a.test@\(server.authority)", "b.test@\(server.authority)",
            ])
            let lines = result.output.split(separator: "\n").map {
                $0.split(separator: "\t", omittingEmptySubsequences: false)
            }
            #expect(lines.map(\.count) == [9, 9])
            #expect(lines.map { $0[0] } == ["ok", "FAIL"])
            #expect(lines[0][4].count == 64)
            #expect(result.errors.contains("1 of 2 passed."))
            #expect(result.errors.contains("hint: "))
            #expect(result.code == 60)
        }
    }

    @Test("With --quiet there is the exit status, and output for mistakes only")
    func quiet() async throws {
        let server = try server()
        try await withRoots { roots in
            for (name, code) in [("a.test", 0), ("b.test", 60)] as [(String, Int32)] {
                let result = try await Program.run(["-q", "--ca", roots, "\(name)@\(server.authority)"])
                #expect(result.code == code)
                #expect(result.output.isEmpty && result.errors.isEmpty, "\(result)")
            }
        }
        #expect(try await Program.run(["-q", "-f", "/nowhere"]).errors.hasPrefix("sni-probe: cannot read"))
    }

    @Test("Help and version go to standard output with status 0, and a usage error to standard error")
    func helpAndVersionGoToStandardOutputAndEndWell() async throws {
        let help = try await Program.run(["--help"])
        #expect(help.code == 0)
        #expect(help.output.hasPrefix("usage: sni-probe"))
        let lines = try await Program.run(["--version"]).output.split(separator: "\n")
        #expect(lines.count == 2 && lines[0].hasPrefix("sni-probe 0.") && lines[1].hasPrefix("OpenSSL "))
        let wrong = try await Program.run(["--resolve", "a.test:443:127.0.0.1"])
        #expect(wrong.code == 64)
        #expect(wrong.output.isEmpty)
        #expect(
            wrong.errors
                == "sni-probe: unknown option --resolve\nhint: write the IP after the host: www.example.com:443:203.0.113.7\n"
        )
    }

    @Test("A file that cannot be read ends the program with status 66 and empty standard output")
    func aFileThatCannotBeReadEndsWithNothingOnStandardOutput() async throws {
        for arguments in [
            ["-f", "/nowhere/at/all"], ["a.test@127.0.0.1", "--ca", "/nowhere"], ["-f", "/"],
        ] {
            let result = try await Program.run(arguments + ["--json"])
            #expect(result.code == 66)
            #expect(result.output.isEmpty)
            #expect(result.errors.hasPrefix("sni-probe: cannot read '"))
        }
        let bad = try await Program.run(["a.test@127.0.0.1", "--ca", "/dev/null"])
        #expect(bad.code == 66)
        #expect(bad.errors == "sni-probe: there is no certificate in '/dev/null'\n")
    }

    @Test("A run without any target is an error, unless other shards have the targets")
    func nothingProbedIsNotAllIsWell() async throws {
        let nothing = try await Program.run(["-f", "-"], input: "# nobody\n")
        #expect(nothing.code == 66)
        #expect(nothing.errors == "sni-probe: nothing to probe: there is no target in the files\n")
        #expect(try await Program.run(["-f", "/dev/null", "--format", "nagios"]).code == 3)
        // Targets of other machines count as targets.
        let shard = try await Program.run(["-f", "-", "--shard", "2/2"], input: "a.test@127.0.0.1\n")
        #expect(shard.code == 0)
        #expect(shard.errors.isEmpty)
    }

    @Test("Results are printed before the last line of input is read")
    func resultsComeBeforeTheLastLineIsRead() async throws {
        let dead = try FixtureServer.refusing()
        let lines = try await onOwnThread {
            let program = try RunningProgram(["a.test:\(dead.port)", "-f", "-", "--skip-default"])
            try program.input.write(contentsOf: Data("127.0.0.1\n".utf8))
            let first = try program.readLine()
            try program.input.write(contentsOf: Data("127.0.0.1\nnonsense..\n127.0.0.1\n".utf8))
            try program.input.close()
            let rest = program.finish()
            return [first, rest.output, rest.errors, "\(rest.code)"]
        }
        #expect(lines[0].hasPrefix("FAIL\ta.test\t127.0.0.1\t"))
        // The bad line ends the reading: what stands before it has been probed.
        #expect(lines[1].split(separator: "\n").count == 1)
        #expect(lines[2].contains("standard input:3: "))
        #expect(lines[3] == "64")
    }

    @Test("An interrupt prints the finished results and ends with status 130")
    func anInterruptPrintsWhatIsDoneAndEndsWith130() async throws {
        let silent = try FixtureServer.start(behaviour: .bytes(.silent))
        let dead = try FixtureServer.refusing()
        let result = try await onOwnThread {
            let program = try RunningProgram(
                ["a.test@\(dead.authority)", "a.test@\(silent.authority)", "-t", "30s", "--json"]
            )
            _ = try program.readLine()
            program.interrupt()
            return program.finish()
        }
        #expect(result.code == 130)
    }

    @Test("An interrupt of --wait prints the last result and the summary")
    func anInterruptSaysWhyItWasStillWaiting() async throws {
        let server = try server()
        let program = try RunningProgram(["b.test@\(server.authority)", "--wait", "10m", "--skip-default"])
        // With the second handshake the first round is over.
        _ = try await server.nextRecord()
        _ = try await server.nextRecord()
        program.interrupt()
        let result = try await onOwnThread { program.finish() }
        #expect(result.code == 130)
        #expect(result.output.hasPrefix("FAIL\tb.test\t127.0.0.1\t"))
        #expect(result.errors.contains("Interrupted. 0 of 1 passed."))
    }

    @Test("An interrupt also prints results that wait behind a probe that hangs")
    func anInterruptAlsoPrintsWhatWaitedBehindOneThatHangs() async throws {
        let silent = try FixtureServer.start(behaviour: .bytes(.silent))
        let dead = try FixtureServer.refusing()
        let last = try server()
        let program = try RunningProgram([
            "a.test@\(silent.authority)", "b.test@\(dead.authority)", "a.test@\(last.authority)", "-j", "2",
            "-t",
            "24h", "--skip-default", "--json",
        ])
        // With two at once the last one begins when the second one is done.
        _ = try await last.nextRecord()
        program.interrupt()
        let result = try await onOwnThread { program.finish() }
        #expect(result.code == 130)
        #expect(result.output.hasPrefix(#"{"v":1,"#))
        #expect(result.output.contains(#""host":"b.test""#))
    }

    @Test("A closed pipe ends the program without a message")
    func aReaderThatLeavesEndsTheProgramQuietly() async throws {
        let dead = try FixtureServer.refusing()
        // A shell's pipe: no concurrent test inherits its ends.
        let script = #"{ seq 5000 | sed 's/.*/127.0.0.1/' | "$0" "$@"; echo $? >&2; } | head -n 1"#
        let result = try await Program.run(
            ["a.test:\(dead.port)", "-f", "-", "--skip-default"],
            wrapper: ["/bin/sh", "-c", script]
        )
        #expect(result.output.hasPrefix("FAIL\ta.test"))
        #expect(result.errors == "141\n")
    }

    @Test(
        "A full disk is an error with status 74",
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full"))
    )
    func aFullDiskIsNoQuietEnd() async throws {
        for arguments in [
            ["--help"], ["--demo"], ["a.test@\(try FixtureServer.refusing().authority)", "--json"],
        ] {
            let result = try await Program.run(
                arguments,
                wrapper: ["/bin/sh", "-c", #"exec "$0" "$@" > /dev/full"#]
            )
            #expect(result.code == 74)
            #expect(
                result.errors == "sni-probe: cannot write the results: no space left on device\n"
            )
        }
    }

    @Test("A closed standard descriptor is not mistaken for one of the program's own pipes", .idleLimit)
    func aClosedStandardDescriptorIsNotTakenForAPipeOfOurOwn() async throws {
        let dead = try FixtureServer.refusing()
        let word = "a.test@\(dead.authority)"
        func run(_ arguments: [String], _ closing: String) async throws -> Program.Result {
            try await Program.run(arguments, wrapper: ["/bin/sh", "-c", #"exec "$0" "$@" "# + closing])
        }
        let input = try await run(["a.test", "-f", "-"], "<&-")
        #expect(input.code == 66)
        #expect(input.errors.hasPrefix("sni-probe: cannot read 'standard input': "))
        // The results are lost, and that is said, whatever else is closed.
        for closing in [">&-", "<&- >&-", "<&- >&- 2>&-"] {
            #expect(try await run([word], closing).code == 74, "\(closing)")
        }
        #expect(try await run([word], "2>&-").output.hasPrefix("FAIL\ta.test"))
    }

    @Test("Colours follow --color, NO_COLOR and FORCE_COLOR, in this order")
    func colourFollowsTheUsualVariables() async throws {
        let dead = try FixtureServer.refusing()
        let arguments = ["a.test@\(dead.authority)", "-v"]
        let escape = "\u{1B}["
        #expect(try await !Program.run(arguments).output.contains(escape))
        #expect(try await Program.run(arguments + ["--color", "always"]).output.contains(escape))
        #expect(try await Program.run(arguments, environment: ["FORCE_COLOR": "1"]).output.contains(escape))
        let both = try await Program.run(arguments, environment: ["FORCE_COLOR": "1", "NO_COLOR": "1"])
        #expect(!both.output.contains(escape))
        let asked = try await Program.run(arguments + ["--color", "always"], environment: ["NO_COLOR": "1"])
        #expect(asked.output.contains(escape))
    }

    @Test("The nagios format has its own statuses, and reports usage errors as unknown on one line")
    func nagiosHasCodesOfItsOwn() async throws {
        let server = try server()
        let dead = try FixtureServer.refusing()
        try await withRoots { roots in
            let good = try await Program.run([
                "--ca", roots, "a.test@\(server.authority)", "--format", "nagios",
            ])
            #expect(good.code == 0)
            #expect(good.output.hasPrefix("SNI_PROBE OK - 1 passed | days="))
            let bad = try await Program.run(["a.test@\(dead.authority)", "--format", "nagios"])
            #expect(bad.code == 2)
            #expect(
                bad.output.hasPrefix(
                    "SNI_PROBE CRITICAL - 1 of 1 failed: 127.0.0.1 connection refused | failed=1;;;0 time="
                )
            )
            let other = try await Program.run(
                [
                    "--ca", roots, "a.test@\(server.authority)", "--format", "nagios", "--expect",
                    "sha256:" + String(repeating: "0", count: 64),
                ]
            )
            #expect(other.code == 1)
            let names = ["b.test@\(server.authority)", "c.test@\(server.authority)"]
            let several = try await Program.run(["--ca", roots, "--format", "nagios"] + names)
            #expect(
                several.output.contains(
                    "2 of 2 failed: b.test @ 127.0.0.1 wrong: a.test, c.test @ 127.0.0.1 wrong: a.test |"
                )
            )
            let old = try FixtureServer.start(
                .tls(try root.issue(.publicLeaf("a.test", from: -99, until: -9)))
            ) { _ in
                .text("")
            }
            let expired = try await Program.run([
                "--ca", roots, "a.test@\(old.authority)", "--format", "nagios",
            ])
            // No least number that it would be below.
            #expect(
                expired.output.contains(" | days=-10 failed=1;;;0 ")
                    || expired.output.contains(" | days=-9 failed")
            )
        }
        let unknowns: [([String], [String: String])] = [
            ([], [:]), (["--ba|d"], [:]), (["-f", "/nowhere"], [:]),
            (["a.test@127.0.0.1"], ["SSL_CERT_FILE": "/nowhere", "SSL_CERT_DIR": "/nowhere"]),
        ]
        for (arguments, variables) in unknowns {
            let result = try await Program.run(arguments + ["--format", "nagios"], environment: variables)
            #expect(result.code == 3)
            // On standard output, where Nagios looks, and with no bar, behind which it looks for numbers.
            #expect(result.output.hasPrefix("SNI_PROBE UNKNOWN - "), "\(arguments)")
            #expect(result.output.split(separator: "\n").count == 1 && !result.output.contains("|"))
            #expect(result.errors.hasPrefix("sni-probe: "))
        }
    }

    @Test("The prometheus format keeps the samples of a metric together")
    func prometheusKeepsTheSamplesOfAMetricTogether() async throws {
        let server = try server()
        try await withRoots { roots in
            let result = try await Program.run(
                [
                    "--ca", roots, "a.test@\(server.authority)", "b.test@\(server.authority)", "--format",
                    "prometheus",
                ]
            )
            let names = result.output.split(separator: "\n").filter { !$0.hasPrefix("#") }.map {
                $0.prefix { $0 != "{" }
            }
            var seen: [Substring] = []
            for name in names where seen.last != name {
                #expect(!seen.contains(name))
                seen.append(name)
            }
            #expect(
                result.output.contains(
                    "sni_probe_success{host=\"b.test\",ip=\"127.0.0.1\",port=\"\(server.port)\"} 0\n"
                )
            )
            #expect(result.output.contains("fault=\"default_certificate\"} 1\n"))
            #expect(result.output.components(separatedBy: "sni_probe_cert_not_after_seconds{").count == 3)
        }
    }

    @Test("The prometheus format has one sample for each URL, with its path as a label")
    func prometheusHasEachPlaceOnceAndAPathForEachURL() async throws {
        let dead = try FixtureServer.refusing()
        let place = "http://a.test:\(dead.port)"
        let result = try await Program.run([
            "\(place)/x", "\(place)/y", "\(place)/x", "@127.0.0.1", "--format", "prometheus",
        ])
        let samples = result.output.split(separator: "\n").filter { $0.hasPrefix("sni_probe_success") }
        // The collector refuses a file with two samples of the same labels.
        #expect(Set(samples).count == samples.count)
        #expect(samples.count == 2)
        #expect(samples.first?.contains(",path=\"/x\"}") == true)
    }

    @Test("No line is longer than 80 columns, also with whole hashes")
    func everythingFitsEightyColumnsAlsoWithWholeHashes() async throws {
        let server = try server()
        let result = try await Program.run(["a.test@\(server.authority)", "-v"])
        for line in result.output.split(separator: "\n") {
            #expect(line.count <= 80, "\(line)")
            #expect(!line.hasSuffix(" "), "\(line)")
        }
        #expect(result.output.contains("\nsha256       "))
    }

    @Test("With --pem the certificate is printed as the server sent it")
    func pemIsWhatTheServerSent() async throws {
        let server = try server()
        let result = try await Program.run(["a.test@\(server.authority)", "--pem"])
        #expect(result.code == 60)
        #expect(result.output.contains(root.certificate(for: "a.test").pem))
        #expect(result.output.hasPrefix("# FAIL a.test @ \(server.authority)  unknown issuer"))
    }

    @Test("The demo ends with status 0 and shows several verdicts")
    func theDemoNeedsNoNetworkAndShowsEachVerdict() async throws {
        let result = try await Program.run(["--demo"])
        #expect(result.code == 0)
        for words in [
            "wrong certificate, no SNI sent", "expired 9 days ago", "intermediate certificate missing",
            "3 of 6 passed.",
        ] {
            #expect(result.output.contains(words), "\(words)")
        }
    }

    @Test("With --wait the program ends as soon as all probes pass")
    func waitingEndsAsSoonAsAllPass() async throws {
        let certificate = root.certificate(for: "a.test")
        let server = try FixtureServer.start(
            .tls(certificate),
            behaviour: .sequence([.bytes([.reset]), .bytes([.reset]), .http { _ in .text("") }])
        )
        let outcome = try await probe(
            "a.test",
            at: server,
            "--wait",
            "20s",
            "--skip-default",
            trusting: root.rootPEM
        )
        #expect(outcome.code == 0)
        #expect(outcome.record?.observation.attempts == 3)
    }

    /// The limit may be raised in one case, and not in the other.
    @Test("A low limit of descriptors does not change the results", arguments: ["-Sn", "-n"])
    func tooFewDescriptorsAreNoFaultOfTheServers(_ limit: String) async throws {
        let silent = try FixtureServer.start(behaviour: .bytes(.silent))
        let words = Array(repeating: "a.test@\(silent.authority)", count: 20)
        let result = try await Program.run(
            words + ["-t", "700ms"],
            wrapper: ["/bin/sh", "-c", "ulimit \(limit) 50; " + #"exec "$0" "$@""#]
        )
        #expect(result.code == 28)
        #expect(result.output.split(separator: "\n").count == 20)
    }

    @Test("A lost connection is tried again within the probe's time")
    func lostConnectionsAreTriedAgainWithinTheProbesTime() async throws {
        let server = try FixtureServer.start(
            .tls(root.certificate(for: "a.test")),
            behaviour: .sequence([.bytes([.awaitArrival, .reset]), .http { _ in .text("") }])
        )
        let outcome = try await probe(
            "a.test",
            at: server,
            "--retries",
            "2",
            "--skip-default",
            trusting: root.rootPEM
        )
        #expect(outcome.code == 0)
        #expect(outcome.record?.observation.attempts == 2)
    }

    @Test(
        "Only the named address is contacted, even if the certificate names other URLs",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/strace"))
    )
    func itConnectsOnlyToWhatWasNamed() async throws {
        // The certificate names URLs for its issuer, for revocation and for OCSP: none may be contacted.
        var profile = CertificateProfile(for: "a.test")
        profile.issuerURL = "http://127.0.0.99/issuer.crt"
        profile.revocationListURL = "http://127.0.0.98/list.crl"
        profile.mustStaple = true
        let server = try FixtureServer.start(.tls(try root.issue(profile).sent(with: []))) { _ in
            .text("hello")
        }
        let trace = NSTemporaryDirectory() + "probe-\(UUID().uuidString).trace"
        defer { try? FileManager.default.removeItem(atPath: trace) }
        let result = try await Program.run(
            ["https://a.test:\(server.port)/@127.0.0.1"],
            wrapper: ["/usr/bin/strace", "-f", "-qq", "-e", "trace=%network", "-o", trace]
        )
        #expect(result.code == 60)
        let calls = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
        let connects = calls.filter { $0.contains(" connect(") }
        // Both handshakes, and each three times more, as the chain is not trusted.
        #expect(connects.count == 8)
        #expect(
            connects.allSatisfy {
                $0.contains("sin_port=htons(\(server.port)), sin_addr=inet_addr(\"127.0.0.1\")")
            }
        )
        #expect(!calls.contains { $0.contains("SOCK_DGRAM") || $0.contains("AF_UNIX") })
    }
}
