import DirectJSON
import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("SARIF logs")
struct SARIFTests {
    private func log(_ lines: [ReportLine], isComplete: Bool = true) throws -> [UInt8] {
        var log = SARIFText()
        var bytes = log.head
        for line in lines { bytes += log.add(try #require(line.entry)) }
        return bytes + log.tail(isComplete: isComplete)
    }

    private func results(_ log: JSONValue) -> [JSONValue] {
        log["runs"]?.elements?.first?["results"]?.elements ?? []
    }

    private let bad = ReportLine(
        source: "pools/a b:c.txt:7",
        faults: [("expired", "expired 9 days ago"), ("of_a_later_version", "x")],
        warnings: [("answers_vary", "2 of 10"), ("chain_order", "order")],
        hint: "renew it"
    )

    @Test("A log of real probes has the structure of the standard, and a result for each fault")
    func realProbes() async throws {
        let root = TestAuthority()
        let good = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in .text("") }
        let dead = try FixtureServer.refusing()
        let records = try await probe(
            ["a.test@\(good.authority)", "b.test@\(good.authority)", "a.test@\(dead.authority)"],
            trusting: root.rootPEM
        ).records
        let sink = OutputSink.memory
        let output = SARIFOutput(to: sink)
        for record in records { output.add(record, isOnlyOne: false) }
        output.finish(Digest(), interrupted: false)
        #expect(output.flush())
        let log = try JSONReader.read(sink.bytes)
        #expect(SARIFCheck(log).faults == [])
        #expect(results(log).map { $0["ruleId"]?.text } == ["default_certificate", "refused"])
    }

    @Test("Faults are errors, warnings are warnings, and both have their place in the file of the targets")
    func levels() throws {
        let log = try JSONReader.read(try log([bad, ReportLine()]))
        #expect(SARIFCheck(log).faults == [])
        let results = results(log)
        #expect(results.map { $0["level"]?.text } == ["error", "error", "warning", "warning"])
        #expect(results.map { $0["ruleIndex"] != nil } == [true, false, true, true])
        let text = "www.example.com:443 @ 203.0.113.1: expired 9 days ago. Hint: renew it"
        #expect(results.first?["message"]?["text"]?.text == text)
        let place = results.first?["locations"]?.elements?.first?["physicalLocation"]
        #expect(place?["artifactLocation"]?["uri"]?.text == "pools/a%20b%3Ac.txt")
        #expect(place?["region"]?["startLine"]?.number == 7)
    }

    @Test(
        "A source that is not a line of a file has no place in one",
        arguments: ["argument", "resolver", "standard input:7", "pool.txt", "pool.txt:0", "pool.txt:x", ""]
    )
    func otherSources(_ source: String) { #expect(SourceLine(source) == nil) }

    @Test("An absolute path becomes a URL, and each byte outside ASCII is coded")
    func paths() {
        #expect(SourceLine("/etc/pool.txt:3")?.uri == "file:///etc/pool.txt")
        #expect(SourceLine("ü%.txt:3")?.uri == "%C3%BC%25.txt")
    }

    @Test("A run without faults and an interrupted run are logs as well")
    func empty() throws {
        let whole = try JSONReader.read(try log([]))
        #expect(SARIFCheck(whole).faults == [] && results(whole).isEmpty)
        let cut = try JSONReader.read(try log([bad], isComplete: false))
        #expect(SARIFCheck(cut).faults == [])
        let invocation = cut["runs"]?.elements?.first?["invocations"]?.elements?.first
        #expect(invocation?["executionSuccessful"]?.flag == false)
    }

    @Test("The check notices each member that is missing or of another type")
    func checkCanFail() throws {
        let log = try JSONReader.read(try log([bad]))
        var count = 0
        for broken in variants(of: log) {
            #expect(SARIFCheck(broken).faults != [], "\(broken.description.prefix(300))")
            count += 1
        }
        #expect(count > 30)
    }

    /// The value with each of its members in turn replaced by a number below zero, at any depth.
    private func variants(of value: JSONValue) -> [JSONValue] {
        switch value.content {
        case .object(let members):
            return members.indices.flatMap { index in
                // These may be anything that is text.
                guard members[index].name != "version" || members[index].value.text == "2.1.0" else {
                    return [JSONValue]()
                }
                return ([JSONValue.number(-1)] + variants(of: members[index].value)).map { other in
                    var members = members.map { ($0.name, $0.value) }
                    members[index].1 = other
                    return JSONValue.object(members: members)
                }
            }
        case .array(let elements):
            // The rules are alike, and the last of the results has all members.
            let shown = elements.count > 3 ? [0] : Array(elements.indices)
            return shown.flatMap { index in
                variants(of: elements[index]).map { other in
                    var elements = elements
                    elements[index] = other
                    return JSONValue.array(elements)
                }
            }
        default: return []
        }
    }
}
