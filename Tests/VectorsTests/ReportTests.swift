import DirectJSON
import Testing

@testable import tls_fixtures

@Suite("A report of vectors")
struct ReportTests {
    private static let difference = Difference(what: "ending", expected: "answered", got: "wrongName")

    private func row(
        _ right: Right,
        by client: String = "curl",
        _ outcome: Row.Outcome = .failed([difference]),
        tries: Int = 1
    ) throws -> Row {
        let text = nameVector(right: right.rawValue)
        let vector = try Vector(.names, try JSONReader.read(Array(text.utf8)))
        return Row(
            client: client,
            head: vector.head,
            outcome: outcome,
            words: "no",
            tries: tries,
            isOurs: client == OurClient().title
        )
    }

    private func score(_ rows: [Row]) -> Score {
        var score = Score()
        for row in rows { score.count(row) }
        return score
    }

    @Test("A choice that another client makes otherwise is counted apart from failures")
    func choices() throws {
        let rows = try Right.allCases.map { try row($0) }
        #expect(score(rows) == Score(failed: 3, choices: 1))
        #expect(try score([row(.choice, .passed), row(.choice, .left("x"))]) == Score(passed: 1, left: 1))
    }

    @Test("A choice that this package's client does not keep is a failure")
    func ourChoices() throws {
        let rows = try Right.allCases.map { try row($0, by: OurClient().title) }
        #expect(score(rows) == Score(failed: 4))
    }

    @Test("A difference is told once, with its right if that is not the vector's")
    func lines() throws {
        let name = Difference(what: "SNI", expected: "a", got: "b", right: .must)
        let lines = try row(.choice).lines([Self.difference, name, name])
        #expect(lines == ["ending: expected answered, got wrongName", "SNI: expected a, got b (must)"])
        #expect(try row(.must).lines([name]) == ["SNI: expected a, got b"])
    }

    @Test("A failure that is known is skipped in JUnit, and counted in JSON among the failures")
    func known() throws {
        var row = try row(.must)
        row.isKnown = true
        let new = try self.row(.must)
        var report = JUnitReport()
        report.add(row)
        report.add(new)
        #expect(report.text.contains(#"tests="2" failures="1" skipped="1" errors="0""#))
        #expect(
            report.text.contains(
                #"<skipped message="known to fail: ending: expected answered, got wrongName"/>"#
            )
        )
        #expect(report.text.split(separator: "<failure ").count == 2)
        #expect(score([row, new]) == Score(failed: 2, known: 1))
        #expect(score([row, new]).lastLine == "0 passed, 2 failed (1 known)")
        let json = JSONReport(vectors: "1")
        #expect("\(json.object(score([row, new])))".contains(#""failed":2,"#))
        #expect("\(json.object(score([row, new])))".contains(#""known":1"#))
        #expect("\(JSONReport.object(row))".contains(#""known":true,"#))
        #expect("\(JSONReport.object(row))".contains(#""outcome":"failed","#))
    }

    @Test("The last line counts differing choices only if there are any")
    func lastLine() {
        #expect(Score(passed: 3, failed: 2, left: 1).lastLine == "3 passed, 2 failed")
        #expect(Score(passed: 3, choices: 2).lastLine == "3 passed, 0 failed, 2 choices differ")
    }

    @Test("The table has differing choices in a column of their own")
    func table() throws {
        var report = TableReport(expectedCount: 0)
        for right in [Right.must, .choice, .choice] { report.add(try row(right)) }
        report.add(try row(.must, by: "wget", .passed))
        #expect(
            report.rows == [
                ["curl", "names", "0", "1", "2", "", ""], ["wget", "names", "1", "0", "", "", ""],
            ]
        )
    }

    @Test("Every report names a fault of the adapter, and counts it neither as passed nor as failed")
    func broken() throws {
        let row = try row(.must, .broken("it fell"))
        #expect(score([row]) == Score(broken: 1))
        #expect(!score([row]).isGood)
        #expect(score([row]).lastLine == "0 passed, 0 failed, 1 not judged: the adapter failed")
        var table = TableReport(expectedCount: 0)
        table.add(row)
        #expect(table.rows == [["curl", "names", "0", "0", "", "", "1"]])
        var junit = JUnitReport()
        junit.add(row)
        #expect(junit.text.contains(#"failures="0" skipped="0" errors="1""#))
        #expect(junit.text.contains(#"<error message="adapter failed: it fell"/>"#))
        #expect(
            "\(JSONReport.object(row))".contains(
                #""outcome":"broken","leftBecause":null,"adapterFailed":"it fell""#
            )
        )
    }

    @Test("Every report tells how many tries a vector took")
    func tries() throws {
        let rows = [
            try row(.must, .passed, tries: 2), try row(.must, tries: 5), try row(.must, .passed),
        ]
        var table = TableReport(expectedCount: 0)
        var junit = JUnitReport()
        for row in rows {
            table.add(row)
            junit.add(row)
        }
        #expect(table.triesLines == ["2 tries, 1: curl: a: one\n", "5 tries, 1: curl: a: one\n"])
        #expect(junit.text.contains("<system-out>passed at try 2</system-out>"))
        #expect(junit.text.contains("tries: 5"))
        #expect(rows.map { "\(JSONReport.object($0))".contains(#""tries":1"#) } == [false, false, true])
    }

    @Test("Runs are compared by their verdicts: another way to fail is none")
    func repetition() throws {
        var repetition = Repetition()
        repetition.add(try row(.must))
        repetition.add(try row(.must, .failed([])))
        repetition.add(try row(.must, by: "wget", .passed))
        #expect(repetition.differences.isEmpty)
        repetition.add(try row(.must, by: "wget"))
        #expect(
            repetition.differences == [
                "VARIES  wget, names, a: one\n        failed, in run 2\n        passed, in run 1\n"
            ]
        )
    }

    @Test("JSON output has the right of each vector, and names a differing choice", arguments: Right.allCases)
    func json(_ right: Right) throws {
        let value = try JSONReader.read(Array("\(JSONReport.object(try row(right)))".utf8))
        guard case .object(let members) = value.content else { return #expect(Bool(false), "\(value)") }
        let texts = Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.value.content) })
        #expect(texts["right"] == .string(right.rawValue))
        #expect(texts["outcome"] == .string(right == .choice ? "differs" : "failed"))
        #expect(texts["words"] == .string("no"))
    }
}
