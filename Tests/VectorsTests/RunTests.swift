import DirectJSON
import DirectTestCommands
import Foundation
import Testing

@testable import tls_fixtures

@Suite("A run of vectors", .idleLimit)
struct RunTests {
    private func rows(
        _ files: [String: String],
        _ client: any VectorClient = OurClient()
    ) async throws -> (rows: [Row], totals: Score) {
        let fixtures = try TemporaryFixtures(files)
        let folder = try VectorFolder(fixtures: fixtures.path)
        var rows: [Row] = []
        let totals = try await Run(folder: folder, vectors: folder.vectors, clients: [client]).run {
            rows.append($0)
        }
        return (rows, totals)
    }

    @Test("A run against this client counts passed and failed vectors, in the order of the files")
    func ours() async throws {
        let refusal = #"{"verdict": "refuse", "reason": "expired"}"#
        let (rows, totals) = try await rows([
            "names/a.json": """
            [\(nameVector()), \(nameVector("a: two", expect: refusal)),
            \(nameVector("a: three", certificate: "default", expect: #"{"verdict": "refuse", "reason": "wrongName"}"#)),
            \(nameVector("a: four", certificate: "default"))]
            """
        ])
        #expect(totals == Score(passed: 2, failed: 2))
        #expect(rows.map(\.head.name) == ["a: one", "a: two", "a: three", "a: four"])
        let last = [Difference(what: "ending", expected: "answered", got: "wrongName")].asLess
        #expect(rows.last?.outcome == .failed(last))
        guard case .failed(let differences) = rows[1].outcome else {
            return #expect(Bool(false), "\(rows[1])")
        }
        #expect(differences.map(\.what) == ["ending", "bytes sent to it"])
    }

    @Test("A run of routes reports the result of each address")
    func routes() async throws {
        func vector(_ name: String, _ endings: String) -> String {
            """
            {"name": "\(name)", "why": "x", "reference": "RFC 8305", "right": "must", "addresses": [{"server": "dead"},
            {"server": "good"}, {"server": "good"}], "dialling": {"keepsOrder": true}, "expect": {"addresses": \(endings)}}
            """
        }
        let servers = """
            [{"name": "good", "about": ""}, {"name": "dead", "about": "", "connecting": "refused"}]
            """
        let (rows, totals) = try await rows([
            "servers.json": servers,
            "routes/a.json": """
            [\(vector("a: right", #"["refused", "answered", "untried"]"#)),
            \(vector("a: wrong", #"["timeout", "untried", "answered"]"#))]
            """,
        ])
        #expect(totals == Score(passed: 1, failed: 1))
        guard case .failed(let differences) = rows[1].outcome else {
            return #expect(Bool(false), "\(rows[1])")
        }
        #expect(
            differences.first == Difference(what: "address 1 (dead)", expected: "timeout", got: "refused")
        )
    }

    @Test("A reset that races with the client's connecting judges no other client")
    func chance() async throws {
        let files = [
            "servers.json": """
            [{"name": "good", "about": ""}, {"name": "resets", "about": "", "script": ["reset"]}]
            """,
            "routes/a.json": """
            [{"name": "a: one", "why": "x", "reference": "RFC 8305", "right": "choice",
            "addresses": [{"server": "resets"}, {"server": "good"}], "expect": {"addresses": ["reset", "answered"]}}]
            """,
        ]
        #expect(try await rows(files).totals == Score(passed: 1))
        let (rows, totals) = try await rows(files, CommandClient("true {url} {addresses}"))
        #expect(totals == Score(left: 1))
        #expect(rows.first?.outcome == .left("whether it sees a connection before the reset is chance"))
    }

    @Test("A run of the codec cuts the bytes everywhere, and finds faults")
    func codec() async throws {
        let response = """
            [{"name": "a: right", "why": "x", "reference": "RFC 9112", "right": "must", "input": "HTTP/1.1 204 \\r\\n\\r\\n",
            "expect": {"outcome": "end", "status": 204}},
            {"name": "a: wrong", "why": "x", "reference": "RFC 9112", "right": "must", "input": "HTTP/1.1 204 \\r\\n\\r\\n",
            "expect": {"outcome": "end", "status": 205}}]
            """
        let request = """
            [{"name": "b: wrong", "why": "x", "reference": "RFC 9112", "right": "must", "method": "A B", "expect": {"bytes": ""}}]
            """
        let (rows, totals) = try await rows(["response/a.json": response, "request/b.json": request])
        #expect(totals == Score(passed: 1, failed: 2))
        let wrong = rows.first { $0.head.name == "b: wrong" }
        let difference = Difference(what: "outcome", expected: "written: \"\"", got: "refused: invalidMethod")
        #expect(wrong?.outcome == .failed([difference]))
    }

    @Test(
        "A run continues after a client that hangs, crashes or does not try",
        arguments: [
            ("sleep 100; echo {address}", "still running"),
            ("kill -SEGV $$ # {address}", "killed by signal 11"), ("false {address}", "none"),
        ]
    )
    func badClients(_ command: String, _ wanted: String) async throws {
        var client = CommandClient(command)
        client.limit = .milliseconds(300)
        let refusal = #"{"verdict": "refuse", "reason": "wrongName"}"#
        let (rows, totals) = try await rows(
            ["names/a.json": "[\(nameVector(expect: refusal)), \(nameVector("a: two"))]"],
            client
        )
        #expect(totals == Score(failed: 2))
        guard case .failed(let differences) = rows[0].outcome else {
            return #expect(Bool(false), "\(rows[0])")
        }
        #expect(differences.contains { $0.got.contains(wanted) }, "\(differences)")
    }

    @Test("A command that is missing is no verdict on a client")
    func missing() async throws {
        let (rows, totals) = try await rows(
            ["names/a.json": "[\(nameVector())]"],
            CommandClient("/no/such/client {address}")
        )
        #expect(totals == Score(broken: 1))
        #expect(!totals.isGood)
        guard case .broken(let why) = rows.first?.outcome else {
            Issue.record("\(rows)")
            return
        }
        #expect(why.contains("not run: status 127"))
    }

    @Test("Clients of one title have rows of their own, and this package's client is known by any title")
    func titles() async throws {
        #expect(Run.distinct(["a", "b", "a", "a (2)", "a"]) == ["a", "b", "a (2)", "a (2) (2)", "a (3)"])
        let fixtures = try TemporaryFixtures(["names/a.json": "[\(nameVector())]"])
        let folder = try VectorFolder(fixtures: fixtures.path)
        var rows: [Row] = []
        let clients: [any VectorClient] = [OurClient(), OurClient(), CommandClient("true {url}")]
        _ = try await Run(folder: folder, vectors: folder.vectors, clients: clients).run { rows.append($0) }
        #expect(rows.map(\.client) == ["direct-http", "direct-http (2)", "true"])
        #expect(rows.map(\.isOurs) == [true, true, false])
    }

    @Test("A run skips vectors that a command cannot be given")
    func leftOut() async throws {
        let (rows, totals) = try await rows(
            ["names/a.json": "[\(nameVector())]"],
            CommandClient("true {url}")
        )
        #expect(totals == Score(left: 1))
        #expect(rows.first?.outcome == .left("it cannot be told where to connect"))
    }

    @Test(
        "A run against curl distinguishes acceptance and refusal, directly and through the proxy",
        .enabled(if: hasCurl)
    )
    func curl() async throws {
        let options = "-q -sS --max-time 4 --cacert {ca}"
        let direct = "curl \(options) --noproxy '*' --connect-to ::{address}:{port} {url}"
        let throughProxy = "curl \(options) --proxy http://127.0.0.1:{proxy} {url}"
        for command in [direct, throughProxy] {
            let refusal = #"{"verdict": "refuse", "reason": "wrongName"}"#
            let (rows, totals) = try await rows(
                [
                    "names/a.json": """
                    [\(nameVector()), \(nameVector("a: two", certificate: "default", expect: refusal)),
                    \(nameVector("a: three", certificate: "address-only", identity: "address-only.test", expect: refusal))]
                    """
                ],
                CommandClient(command)
            )
            #expect(totals == Score(passed: 3), "\(rows)")
        }
    }

    @Test("JUnit output has a suite for each client and topic, and escapes what XML cannot hold")
    func junit() async throws {
        let (rows, totals) = try await rows([
            "names/a.json": "[\(nameVector()), \(nameVector("a: <'two'>&", certificate: "expired"))]"
        ])
        var report = JUnitReport(vectors: "7")
        for var row in rows {
            row.words = "a\u{1}b\n"
            report.add(row)
        }
        #expect(totals == Score(passed: 1, failed: 1))
        #expect(
            report.text.contains(
                #"<testsuite name="direct-http names" tests="2" failures="1" skipped="0" errors="0">"#
            )
        )
        #expect(report.text.contains(#"<property name="vectors" value="7"/>"#))
        #expect(report.text.contains(#"<testcase classname="direct-http.names" name="a: one" time=""#))
        #expect(report.text.contains(#"<property name="reference" value="RFC 9525 section 6.3"/>"#))
        #expect(report.text.contains("a: &lt;'two'&gt;&amp;"))
        #expect(report.text.contains(#"the client says: a\u{1}b&#10;"#))
        #expect(report.text.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 })
    }

    @Test("JSON output has one object for each row")
    func json() async throws {
        let (rows, _) = try await rows(["names/a.json": "[\(nameVector(certificate: "expired"))]"])
        let value = try JSONReader.read(Array("\(JSONReport.object(try #require(rows.first)))".utf8))
        guard case .object(let members) = value.content else { return #expect(Bool(false), "\(value)") }
        #expect(members.first { $0.name == "outcome" }?.value.content == .string("failed"))
        #expect(members.map(\.name).prefix(4) == ["client", "version", "topic", "name"])
    }
}

private let hasCurl = ["/usr/bin/curl", "/usr/local/bin/curl", "/bin/curl"].contains {
    FileManager.default.isExecutableFile(atPath: $0)
}
