internal import CFaults
internal import CommandKit
internal import Glibc

/// Runs in which a process is killed or stopped at one of its calls for files, and this one goes on with what
/// it has left.
///
/// The process of its own only uses the client. What it leaves is judged here: as it is, after a use like
/// that of its next start, and, if it was only stopped, when it has gone on beside this one.
struct Ends {
    let stage: Stage
    let runner: Runner
    /// Whether only the first and the last call of each function is tried.
    let isQuick: Bool

    /// The functions by which files change, and those before which the caller has looked at something.
    private static let functions = [
        "openat", "write", "pwrite", "fsync", "ftruncate", "flock", "fchmod", "linkat", "renameat",
        "unlinkat",
        "mkdirat",
    ]

    /// Runs the scenario once for each call, or for the first and the last of each function.
    ///
    /// - Parameter calls: The number of calls of each function in a run without faults.
    func run(_ scenario: Scenario, calls: [Int64], report: inout Report) throws {
        for (function, count) in zip(Injection.functions, calls)
        where Self.functions.contains(Injection.name(of: function)) {
            for fault in FaultTable.ends {
                var next: Int64? = 1
                while let call = next {
                    let injection = Injection(function: function, fault: fault, call: call)
                    let verdict = try run(scenario, with: injection)
                    // A process that reaches its end has no such call.
                    guard verdict.isReached || !verdict.findings.isEmpty else { break }
                    report.note(verdict, of: injection)
                    guard verdict.isReached else { break }
                    next = isQuick ? (call < count ? count : nil) : call + 1
                }
            }
        }
    }

    private func run(_ scenario: Scenario, with injection: Injection) throws -> Verdict {
        let work = runner.newRun()
        mkdir(work.folder, 0o700)
        defer { Files.removeFolder(work.folder) }
        try scenario.prepare(work)
        let child = try ProgramCopy(
            ["--perform", scenario.name] + injection.words + [
                "--stage", stage.folder, "--run", "\(work.number)",
            ]
        )
        var verdict = Verdict()
        let isStopped = waitUntilStopped(child)
        if isStopped {
            verdict.findings += runner.use(scenario.beside ?? scenario.perform, in: work)
            kill(child.child.id, SIGCONT)
        }
        let (lines, ending) = child.finish()
        verdict.isReached = isStopped || ending == .killed(signal: SIGKILL)
        let isOvertaken = isStopped && scenario.mayBeOvertaken
        if ending != .killed(signal: SIGKILL), ending != .exited(0), !isOvertaken {
            verdict.findings.append("it ends with \(ending): \(lines.joined(separator: " "))")
        }
        verdict.findings += (scenario.inspectRemains ?? scenario.inspect)(work)
        verdict.findings += runner.use(scenario.beside ?? scenario.perform, in: work)
        verdict.findings += scenario.inspect(work)
        let left = Files.allNames(in: work.folder).flatMap { name in
            [name] + Files.allNames(in: "\(work.folder)/\(name)")
        }
        verdict.findings += left.filter { $0.contains(".direct-http") }.map { "\($0) is left" }
        return verdict
    }

    /// Returns whether the process has stopped itself; `false` once it has ended.
    private func waitUntilStopped(_ child: ProgramCopy) -> Bool {
        while true {
            let text = Files.read("/proc/\(child.child.id)/stat").map { String(decoding: $0, as: UTF8.self) }
            // The state is behind the name, which is in parentheses.
            switch text?.split(separator: ")").last?.first(where: { $0 != " " }) {
            case "T": return true
            case "Z", nil: return false
            default: usleep(500)
            }
        }
    }
}
