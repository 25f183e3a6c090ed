internal import Glibc

/// Runs of scenarios in a process of their own, for what happens only once in a process.
struct OwnProcess {
    let stage: Stage

    func countCalls(_ scenario: Scenario) throws -> [Int64] {
        let (lines, _) = try ChildProcess(["--count", scenario.name, "--stage", stage.folder]).finish()
        return (lines.last ?? "").split(separator: " ").compactMap { Int64($0) }
    }

    func run(_ scenario: Scenario, with injection: Injection) throws -> Verdict {
        let child = try ChildProcess(["--one", scenario.name] + injection.words + ["--stage", stage.folder])
        let (lines, status) = child.finish()
        var verdict = Verdict(lines)
        if status & 0x7F != 0 { verdict.findings.append("it crashes with signal \(status & 0x7F)") }
        return verdict
    }
}

extension Verdict {
    /// The lines that `--one` prints.
    var lines: [String] {
        [isReached ? "reached" : "not reached", failure.map { "failed \($0)" } ?? "succeeded"]
            + findings.map { "finding \($0)" }
    }

    init(_ lines: [String]) {
        isReached = lines.first == "reached"
        failure = lines.first { $0.hasPrefix("failed ") }.map { String($0.dropFirst(7)) }
        findings = lines.filter { $0.hasPrefix("finding ") }.map { String($0.dropFirst(8)) }
    }
}
