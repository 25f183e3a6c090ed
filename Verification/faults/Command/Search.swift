internal import CFaults
internal import Glibc

/// Which faults are tried.
struct Selection {
    /// Whether only the first and the last call of each function fails.
    var isQuick = false
    var scenario: String?
    var function: String?
    /// Every how many allocations one fails.
    var step: Int64 = 1
}

/// Makes every call of every scenario fail in every way, one at a time.
struct Search {
    private let stage: Stage
    private let selection: Selection
    private let runner: Runner
    private let ownProcess: OwnProcess

    init(_ stage: Stage, _ selection: Selection) {
        self.stage = stage
        self.selection = selection
        runner = Runner(stage)
        ownProcess = OwnProcess(stage: stage)
    }

    /// Runs all scenarios, prints the table, and returns the exit code.
    func run() throws -> Int32 {
        var report = Report()
        for scenario in Scenario.all where selection.scenario ?? scenario.name == scenario.name {
            report.begin(scenario)
            try run(scenario, report: &report)
            report.end()
        }
        report.printTotals()
        return report.findingCount == 0 ? 0 : 1
    }

    private func run(_ scenario: Scenario, report: inout Report) throws {
        for finding in scenario.needsOwnProcess ? [] : runner.warmUp(scenario) {
            return report.note(finding, at: "without faults")
        }
        let before = flt_holdings()
        let calls =
            scenario.needsOwnProcess ? try ownProcess.countCalls(scenario) : runner.countCalls(scenario)
        report.noteCalls(calls.reduce(0, +))
        for injection in injections(for: scenario, calls: calls) {
            let verdict =
                scenario.needsOwnProcess
                ? try ownProcess.run(scenario, with: injection) : runner.run(scenario, with: injection)
            report.note(verdict, of: injection)
        }
        if !scenario.needsOwnProcess { judgeGrowth(since: before, report: &report) }
        if scenario.leavesFiles, selection.function == nil {
            let ends = Ends(stage: stage, runner: runner, isQuick: selection.isQuick)
            try ends.run(scenario, calls: calls, report: &report)
        }
    }

    private func injections(for scenario: Scenario, calls: [Int64]) -> [Injection] {
        zip(Injection.functions, calls).flatMap { function, count -> [Injection] in
            let name = Injection.name(of: function)
            guard count > 0, selection.function ?? name == name, scenario.functions?.contains(name) ?? true
            else {
                return []
            }
            let single = FaultTable.faults(of: name).flatMap { fault in
                places(count, of: name).map { Injection(function: function, fault: fault, call: $0) }
            }
            let lasting = FaultTable.lastingFaults(of: name).flatMap { fault in
                places(count, of: name, isLasting: true).map {
                    Injection(function: function, fault: fault, call: $0)
                }
            }
            return single + lasting
        }
    }

    /// The calls that fail, one in each run.
    private func places(_ count: Int64, of name: String, isLasting: Bool = false) -> [Int64] {
        if name == "allocation" {
            let most: Int64 = isLasting ? 6 : 16
            let step = selection.isQuick ? max(1, count / most) : selection.step
            return Array(stride(from: 1, through: count, by: Int64.Stride(step)))
        }
        guard selection.isQuick, count > 2 else { return Array(1...count) }
        return isLasting ? [1] : [1, count]
    }

    /// What a scenario leaves behind only a little of in each run shows after many runs.
    private func judgeGrowth(since before: flt_holdings, report: inout Report) {
        // Idle threads end after a second.
        let end = flt_time() + 10_000_000_000
        while flt_holdings().threads > 1, flt_time() < end { usleep(10_000) }
        let after = flt_holdings()
        if after.threads > 1 { report.note("\(after.threads - 1) threads are left", at: "after all runs") }
        let pieces = after.pieces - before.pieces
        if pieces > Self.harmlessGrowth {
            report.note("OpenSSL has \(pieces) more pieces of memory", at: "after all runs")
        }
    }

    /// OpenSSL keeps some memory for each thread, and for each error and algorithm that it meets first.
    private static let harmlessGrowth: Int64 = 300
}
