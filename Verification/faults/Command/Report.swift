/// The table of what was tried, and the findings.
struct Report {
    private struct Row {
        var name = ""
        var calls: Int64 = 0
        var runs = 0, reached = 0, succeeded = 0, failed = 0, findings = 0
    }

    private var row = Row()
    private var totals = Row()
    /// The findings of a scenario, and the places where each was made.
    private var findings: [(text: String, places: [String])] = []

    var findingCount: Int { totals.findings }

    init() {
        print(Self.line(["scenario", "calls", "faults", "happened", "succeeded", "failed", "findings"]))
    }

    mutating func begin(_ scenario: Scenario) {
        row = Row(name: scenario.name)
        findings = []
    }

    mutating func noteCalls(_ count: Int64) { row.calls = count }

    mutating func note(_ verdict: Verdict, of injection: Injection) {
        row.runs += 1
        if verdict.isReached { row.reached += 1 }
        if verdict.failure == nil { row.succeeded += 1 } else { row.failed += 1 }
        for finding in verdict.findings { note(finding, at: injection.words.joined(separator: " ")) }
    }

    mutating func note(_ finding: String, at place: String) {
        row.findings += 1
        let kind = finding.filter { !$0.isNumber }
        if let known = findings.firstIndex(where: { $0.text.filter { !$0.isNumber } == kind }) {
            findings[known].places.append(place)
        } else {
            findings.append((finding, [place]))
        }
    }

    mutating func end() {
        print(Self.line(row))
        for finding in findings {
            let places = finding.places.prefix(6).joined(separator: "; ")
            let more = finding.places.count > 6 ? "; and \(finding.places.count - 6) more" : ""
            print("    \(finding.text)\n        at \(places)\(more)")
        }
        totals.calls += row.calls
        totals.runs += row.runs
        totals.reached += row.reached
        totals.succeeded += row.succeeded
        totals.failed += row.failed
        totals.findings += row.findings
    }

    mutating func printTotals() {
        totals.name = "all"
        print(Self.line(totals))
    }

    private static func line(_ row: Row) -> String {
        let numbers = [
            row.calls, Int64(row.runs), Int64(row.reached), Int64(row.succeeded), Int64(row.failed),
        ]
        return line([row.name] + (numbers + [Int64(row.findings)]).map { "\($0)" })
    }

    private static func line(_ cells: [String]) -> String {
        cells.enumerated().map { index, cell in
            let padding = String(repeating: " ", count: max(0, (index == 0 ? 24 : 10) - cell.count))
            return index == 0 ? cell + padding : padding + cell
        }.joined()
    }
}
