internal import CommandKit

/// Runs of scenarios in a process of their own, for what happens only once in a process.
struct OwnProcess {
    let stage: Stage

    func countCalls(_ scenario: Scenario) throws -> [Int64] {
        let (lines, _) = try ProgramCopy(["--count", scenario.name, "--stage", stage.folder]).finish()
        return (lines.last ?? "").split(separator: " ").compactMap { Int64($0) }
    }

    func run(_ scenario: Scenario, with injection: Injection) throws -> Verdict {
        let child = try ProgramCopy(["--one", scenario.name] + injection.words + ["--stage", stage.folder])
        let (lines, ending) = child.finish()
        var verdict = Verdict(lines)
        if case .killed(let signal) = ending { verdict.findings.append("it crashes with signal \(signal)") }
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
