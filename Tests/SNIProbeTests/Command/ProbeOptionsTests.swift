import DirectHTTP
import Testing

@testable import SNIProbe

@Suite("The options of sni-probe")
struct ProbeOptionsTests {
    private func error(_ arguments: String...) -> UsageError? {
        do throws(UsageError) {
            _ = try Options(arguments)
            return nil
        } catch {
            return error
        }
    }

    @Test("A value follows its option in any of the usual forms")
    func valuesStandBehindTheirOptionInAnyOfTheUsualWays() throws {
        let ways = [["-t", "2s"], ["-t2s"], ["--timeout", "2s"], ["--timeout=2s"], ["-vt2s"], ["-t=2s"]]
        for way in ways { #expect(try Options(way + ["a.test"]).settings.timeout == .seconds(2), "\(way)") }
        #expect(try Options(["-kv", "https://a.test/"]).settings.insecure)
        #expect(try Options(["--", "a.test"]).words.count == 1)
    }

    @Test(
        "A duration has a unit, or is in seconds",
        arguments: [
            ("500ms", Duration.milliseconds(500)), ("5", .seconds(5)), ("1.5s", .milliseconds(1500)),
            ("2m", .seconds(120)),
        ]
    )
    func timesHaveUnits(_ text: String, _ duration: Duration) throws {
        #expect(try Options(["-t", text, "a.test"]).settings.timeout == duration)
    }

    @Test(
        "An invalid value is refused with status 64 and a message of one line",
        arguments: [
            ["-t", "soon"], ["-t", "0"], ["-j", "0"], ["-j", "x"], ["--rate", "-1"], ["--tls", "1.1"],
            ["--status", "20"],
            ["--status", "300-200"], ["--shard", "0/3"], ["--shard", "4/3"], ["--format", "xml"],
            ["--color", "blue"],
            ["--expect", "sha256:12"], ["--expect", "pin-sha256:12"], ["-H", "no colon"],
            ["-H", "A: b\r\nC: d"],
            ["-X", "GE T"], ["--sni", "a b"], ["--critical-days", "x"], ["--same=yes"], ["-t"],
        ]
    )
    func aValueThatCannotBeIsRefusedInOneLine(_ arguments: [String]) {
        do throws(UsageError) {
            _ = try Options(arguments + (arguments == ["-t"] ? [] : ["a.test"]))
            Issue.record("\(arguments) was taken")
        } catch {
            #expect(error.code == 64)
            #expect(!error.what.contains("\n"))
        }
    }

    @Test("Options that contradict each other are refused")
    func contradictionsAreRefused() {
        #expect(
            error("--no-sni", "--sni", "b.test", "a.test")?.what == "--no-sni and --sni contradict each other"
        )
        #expect(error("-4", "-6", "a.test")?.what == "-4 and -6 contradict each other")
        #expect(error("--json", "--pem", "a.test") != nil)
        #expect(error("@127.0.0.1")?.what == "no TARGET, only IPs")
        #expect(error() != nil)
    }

    @Test(
        "An unknown option is refused with a hint",
        arguments: [
            ("--resolve", "write the IP after the host: www.example.com:443:203.0.113.7"),
            ("--connect-to", "write the IP after the host: www.example.com:443:203.0.113.7"),
            ("-servername", "the host is the name; to send another one use --sni NAME"),
            ("-connect", "write the IP with @: sni-probe www.example.com @203.0.113.7"),
            ("-u", "targets need no option: sni-probe www.example.com @203.0.113.7"),
            ("--host", "targets need no option: sni-probe www.example.com @203.0.113.7"),
            ("--timout", "did you mean --timeout?"),
            ("--no-snl", "did you mean --no-sni?"),
            ("--quite", "did you mean --quiet?"),
            ("--time", "did you mean --timeout?"),
            ("-json", "did you mean --json?"),
            ("-iL", "use --file FILE"),
            ("--sarif", "use --format NAME"),
            // Not the short option -t with a value, nor -h and others.
            ("-tls1_1", "sni-probe offers no version before TLS 1.2"),
            ("-host", "targets need no option: sni-probe www.example.com @203.0.113.7"),
            ("-I", "for a HEAD request use --method HEAD; an IP is written with @: @203.0.113.7"),
        ]
    )
    func unknownOptionsGetAHint(_ option: String, _ hint: String) {
        #expect(error(option, "a.test")?.hint == hint)
    }

    @Test("A message quotes the beginning of a long unknown option only")
    func longUnknownOption() {
        let long = "--" + String(repeating: "\u{7}x", count: 1000)
        #expect(error(long, "a.test")?.what.count ?? 1000 < 100)
    }

    @Test("Hints for options of other tools hide no option and name only existing ones")
    func hintsForNeighboursOptionsTakeNothingFromOurs() {
        for option in CommandOption.all {
            #expect(UnknownOption.neighbour("--" + option.long) == nil)
            if let short = option.short { #expect(UnknownOption.neighbour("-\(short)") == nil) }
        }
        for (option, hint) in NeighbourOptions.hints {
            // Each option that a hint names exists.
            for word in hint.split(separator: " ") where word.hasPrefix("--") {
                let name = word.dropFirst(2).filter { $0.isLetter || $0.isNumber || $0 == "-" }
                #expect(CommandOption.all.contains { $0.long == name }, "\(option): \(hint)")
            }
        }
    }

    @Test("The option --sni takes a name and no address")
    func aNameToSendIsANameAndNoAddress() throws {
        #expect(try Options(["--sni", "B.test.", "a.test"]).settings.serverName == .other("b.test"))
        for address in ["203.0.113.7", "2001:db8::7"] {
            let error = error("--sni", address, "a.test")
            #expect(error?.what == "--sni takes a name, and '\(address)' is an address")
            #expect(error?.hint?.contains("--no-sni") == true)
        }
    }

    @Test("The option --json takes no file, and the error shows how to redirect")
    func jsonTakesNoFileAndSaysWhereItGoes() {
        #expect(error("--json=out.json", "a.test")?.hint?.contains("> out.json") == true)
    }

    @Test("A Host field of the caller is refused")
    func hostIsTheLibrarysOwnField() {
        #expect(
            error("-H", "Host: b.test", "https://a.test/")?.what.contains("written by sni-probe itself")
                == true
        )
    }

    @Test("Each option is in the help, the manual and the completions")
    func everyOptionIsInHelpManualAndCompletions() throws {
        let texts = GeneratedFiles.places.map(GeneratedFiles.text)
        try #require(texts.count == 4)
        let (page, bash, zsh, fish) = (texts[0], texts[1], texts[2], texts[3])
        for option in CommandOption.all {
            #expect(HelpText.text.contains("--\(option.long)"))
            #expect(
                page.contains("\\-\\-" + option.long.split(separator: "-").joined(separator: "\\-"))
            )
            for text in [bash, zsh] { #expect(text.contains("--\(option.long)")) }
            #expect(fish.contains(" -l \(option.long)"))
            #expect(option.manual.hasSuffix("."))
        }
    }

    @Test("No line of the help is longer than 80 columns")
    func helpFitsEightyColumns() {
        for line in HelpText.text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
    }

    @Test("The names of options are unique")
    func optionsHaveNamesOfTheirOwn() {
        let names = CommandOption.all.flatMap { [$0.long] + ($0.short.map { [String($0)] } ?? []) }
        #expect(Set(names).count == names.count)
    }
}
