import Testing

@testable import tls_fixtures

@Suite("The command line of tls-fixtures")
struct FixtureOptionsTests {
    @Test("Topics, clients and a part of the vectors' names are read")
    func everything() throws {
        let options = try Options([
            "run", "names", "--client", "ours", "routes", "--client", "curl", "--json", "--name", "dead",
            "--jobs", "3", "--repeat", "4", "--proxy", "squid -N",
        ])
        var wanted = Options.RunOptions()
        wanted.topics = [.names, .routes]
        wanted.clients = ["ours", "curl", "proxy: squid -N"]
        wanted.name = "dead"
        wanted.output = .json
        wanted.jobs = 3
        wanted.repetitions = 4
        #expect(options == .run(wanted))
    }

    @Test("Help can be requested in three ways", arguments: ["help", "--help", "-h"])
    func help(_ word: String) throws {
        #expect(try Options([word]) == .help)
    }

    @Test("Help can be requested behind a command", arguments: ["--help", "-h"])
    func helpOfCommand(_ word: String) throws {
        #expect(try Options(["run", "names", word]) == .help)
        #expect(try Options(["serve", word]) == .help)
    }

    @Test("What follows two hyphens belongs to the adapter that is checked")
    func check() throws {
        #expect(
            try Options(["check", "--verbose", "--", "mine", "--help"])
                == .check(["--verbose", "--", "mine", "--help"])
        )
        #expect(try Options(["check", "--help"]) == .help)
        #expect(try Options(["adapter-path"]) == .adapterPath)
    }

    @Test("Help names each topic", arguments: Topic.allCases)
    func topics(_ topic: Topic) {
        #expect(Options.usage.contains(topic.rawValue))
    }

    @Test(
        "An invalid command line is refused with a hint and status 2",
        arguments: [
            [], ["walk"], ["run", "nonsense"], ["run", "--client"], ["run", "--client", ""],
            ["run", "--loud"],
            ["run", "--client", "  "], ["run", "--jobs", "0"], ["run", "--jobs", "many"],
            ["run", "--repeat", "0"],
            ["run", "--json", "--junit"],
            ["client", "more"], ["adapter-path", "more"], ["serve", "--json"], ["serve", "--fixtures"],
            ["run", "--fixtures", "/nowhere/at/all"],
            ["run", "--name", "a name that no vector has"],
        ]
    )
    func misuse(_ arguments: [String]) async {
        #expect(await Command.status(for: arguments) == 2)
    }
}
