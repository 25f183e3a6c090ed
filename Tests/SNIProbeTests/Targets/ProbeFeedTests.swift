import Foundation
import Testing

@testable import SNIProbe

@Suite("The sequence of probes")
struct ProbeFeedTests {
    private func steps(_ arguments: [String]) throws -> [String] {
        let feed = try ProbeFeed(try Options(arguments))
        var steps: [String] = []
        while true {
            switch feed.step() {
            case .probe(let probe): steps.append("\(probe.target.name)@\(probe.address):\(probe.port)")
            case .resolve(let target): steps.append("\(target.name)?")
            case .badLine(let error): steps.append("! \(error.what)")
            case .needsInput: return steps + ["…"]
            case .end: return steps
            }
        }
    }

    private func withFile(_ text: String, _ body: (String) throws -> Void) throws {
        let path = NSTemporaryDirectory() + "probe-\(UUID().uuidString).txt"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    @Test("Each host is probed at each of the addresses, host by host")
    func hostsAndAddressesMultiplyHostByHost() throws {
        #expect(
            try steps(["a.test", "@127.0.0.1", "b.test:8443", "@127.0.0.2:9"])
                == [
                    "a.test@127.0.0.1:443", "a.test@127.0.0.2:9", "b.test@127.0.0.1:8443",
                    "b.test@127.0.0.2:9",
                ]
        )
        #expect(
            try steps(["a.test@127.0.0.3", "b.test", "@127.0.0.0/31"])
                == ["a.test@127.0.0.3:443", "b.test@127.0.0.0:443", "b.test@127.0.0.1:443"]
        )
        #expect(try steps(["a.test", "b.test@127.0.0.1"]) == ["a.test?", "b.test@127.0.0.1:443"])
    }

    @Test("Addresses in a file belong to the hosts of the command line")
    func addressesOfAFileBelongToTheHostsOfTheCommandLine() throws {
        try withFile("127.0.0.1\n# none\n\n127.0.0.2 # second\n") { (path) throws in
            #expect(try steps(["a.test", "-f", path]) == ["a.test@127.0.0.1:443", "a.test@127.0.0.2:443"])
        }
        try withFile("127.0.0.1 b.test\nc.test") { (path) throws in
            #expect(try steps(["-f", path]) == ["b.test@127.0.0.1:443", "c.test?"])
            #expect(try steps(["a.test", "-f", path]) == ["b.test@127.0.0.1:443", "c.test?", "a.test?"])
            #expect(
                try steps(["@127.0.0.9", "a.test", "-f", path])
                    == ["a.test@127.0.0.9:443", "b.test@127.0.0.1:443", "c.test@127.0.0.9:443"]
            )
        }
    }

    @Test("Aliases that dig prints before the addresses are no targets")
    func aliasesThatDigPrintsBeforeTheAddressesAreNoTargets() throws {
        try withFile("edge.cdn.test.\n127.0.0.1\n127.0.0.2\n") { (path) throws in
            #expect(try steps(["a.test", "-f", path]) == ["a.test@127.0.0.1:443", "a.test@127.0.0.2:443"])
        }
        // If no host waits for addresses it is an ordinary name.
        try withFile("edge.cdn.test.\n") { (path) throws in
            #expect(try steps(["-f", path]) == ["edge.cdn.test?"])
            #expect(
                try steps(["a.test@127.0.0.1", "-f", path]) == ["a.test@127.0.0.1:443", "edge.cdn.test?"]
            )
        }
    }

    @Test("A byte order mark is skipped at the beginning of a file only")
    func aMarkOfTheEncodingIsNoPartOfTheFirstName() throws {
        try withFile("\u{FEFF}a.test@127.0.0.1\r\n\u{FEFF}b.test\r\n") { (path) throws in
            let steps = try steps(["-f", path, "--skip-bad"])
            #expect(steps.first == "a.test@127.0.0.1:443")
            #expect(steps.last?.hasPrefix("! ") == true)
        }
    }

    @Test("Shards together have all probes, and each probe is in one shard")
    func shardsTogetherMakeTheWholeAndShareNothing() throws {
        let all = try steps(["a.test", "@127.0.0.0/28"])
        let shards = try (1...3).map { try steps(["a.test", "@127.0.0.0/28", "--shard", "\($0)/3"]) }
        #expect(shards.map(\.count) == [6, 5, 5])
        #expect(Set(shards.joined()) == Set(all))
    }

    @Test("Bad lines stop the run before the first probe, and the error names file and lines")
    func badLinesStopTheRun() throws {
        try withFile("a.test@127.0.0.1\nb.test@nowhere\nc..test\n") { (path) throws in
            #expect {
                try steps(["-f", path])
            } throws: { error in
                let what = (error as? UsageError)?.what ?? ""
                return what.contains("\(path):2: 'nowhere' is not an IP address")
                    && what.contains("\(path):3:")
            }
            let lax = try steps(["-f", path, "--skip-bad"])
            #expect(lax.count == 3)
            #expect(lax.first == "a.test@127.0.0.1:443")
        }
    }

    @Test("Addresses without a host are refused with a hint")
    func addressesWithoutAHostAreRefusedWithAHint() throws {
        try withFile("127.0.0.1\n") { (path) throws in
            #expect { try steps(["-f", path]) } throws: {
                ($0 as? UsageError)?.hint?.contains("say which host") == true
            }
        }
    }

    @Test("A line longer than 65536 bytes is refused")
    func aLineWithoutEndIsRefusedNotCollected() throws {
        try withFile(String(repeating: "a", count: 200_000)) { (path) throws in
            #expect { try steps(["-f", path]) } throws: {
                ($0 as? UsageError)?.what.contains(":1: a line is longer than 65536 bytes") == true
            }
        }
    }
}
