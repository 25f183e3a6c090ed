internal import CFaults
internal import CommandKit
internal import DirectCore
internal import DirectHTTP
internal import DirectIO
internal import Glibc

/// The result of one run.
struct Verdict: Sendable {
    /// Whether the fault happened: the number of calls differs a little from run to run.
    var isReached = true
    /// The error with which the scenario ended, as text; `nil` if it succeeded.
    var failure: String?
    /// What is wrong.
    var findings: [String] = []
}

/// Runs scenarios in this process, and judges them.
final class Runner {
    private let stage: Stage
    private var runs = 0
    /// What the process holds between two runs.
    private var baseline = flt_holdings()

    init(_ stage: Stage) {
        self.stage = stage
    }

    /// Runs the scenario without faults, so that what is made once is made. Returns what is wrong.
    func warmUp(_ scenario: Scenario) -> [String] {
        for _ in 0..<2 {
            let work = ScenarioRun(stage, number: nextNumber())
            defer { Files.removeFolder(work.folder) }
            do {
                mkdir(work.folder, 0o700)
                try scenario.prepare(work)
            } catch {
                return ["\(error)"]
            }
            if let failure = guarded(scenario.perform, in: work).failure {
                return ["without faults: \(failure)"]
            }
        }
        // Connections are closed by the loop, after the last reference has gone.
        var last = flt_holdings(), quiet = 0
        while quiet < 20 {
            usleep(2_000)
            baseline = flt_holdings()
            quiet = baseline.descriptors == last.descriptors && baseline.connections == 0 ? quiet + 1 : 0
            last = baseline
        }
        return []
    }

    /// Judges no descriptors: in the first use of a process, the runtimes open some of their own.
    func ignoreDescriptors() { baseline.descriptors = .max / 2 }

    /// Returns the number of calls of each function in a run without faults.
    func countCalls(_ scenario: Scenario) -> [Int64] {
        _ = run(scenario, arming: Injection.none, fault: nil)
        return Injection.functions.map { flt_calls($0) }
    }

    /// Runs the scenario with a fault.
    func run(_ scenario: Scenario, with injection: Injection) -> Verdict {
        run(scenario, arming: injection.asFault, fault: injection)
    }

    private func run(_ scenario: Scenario, arming armed: flt_fault, fault: Injection?) -> Verdict {
        var verdict = Verdict()
        var work: ScenarioRun? = ScenarioRun(stage, number: nextNumber())
        if let work {
            mkdir(work.folder, 0o700)
            verdict = run(scenario, arming: armed, fault: fault, in: work)
            verdict.findings += judgeFiles(of: scenario, after: fault, in: work)
            Files.removeFolder(work.folder)
        }
        work = nil
        verdict.findings += judgeHoldings("at the end", more: 0)
        return verdict
    }

    private func run(_ scenario: Scenario, arming armed: flt_fault, fault: Injection?, in work: ScenarioRun)
        -> Verdict
    {
        var verdict = Verdict()
        do { try scenario.prepare(work) } catch { verdict.findings.append("\(error)") }
        if scenario.isSecret { flt_set_secret(secretText) }
        flt_arm(armed)
        let first = guarded(scenario.perform, in: work)
        verdict.isReached = flt_disarm() > 0 || fault == nil
        verdict.failure = first.failure
        verdict.findings += first.findings(expectsSuccess: fault?.fault.isHarmless ?? true)
        if flt_secret_was_sent() == 1 { verdict.findings.append("the secret was sent in the clear") }
        flt_set_secret(nil)
        // A cache keeps its folder open, and the file of its marks.
        let kept = work.connections + scenario.hiddenConnections + (work.cache == nil ? 0 : 2)
        verdict.findings += judgeHoldings("after the fault", more: Int64(kept))
        let second = guarded(scenario.again ?? scenario.perform, in: work)
        verdict.findings += judgeNextUse(second, of: scenario, after: fault)
        return verdict
    }

    private func judgeNextUse(_ ending: Ending, of scenario: Scenario, after fault: Injection?) -> [String] {
        guard let failure = ending.failure else { return [] }
        let isOpenSSLs = scenario.startsOpenSSL && fault?.functionName == "allocation"
        if isOpenSSLs { return ending.findings(expectsSuccess: false) }
        return ["the next use fails: \(failure)"]
    }

    /// Returns the surroundings of the next run.
    func newRun() -> ScenarioRun { ScenarioRun(stage, number: nextNumber()) }

    /// Uses the client without faults, and returns what is wrong.
    func use(_ body: @escaping @Sendable (ScenarioRun) async throws -> Void, in work: ScenarioRun) -> [String]
    {
        guarded(body, in: work).failure.map { ["the next use fails: \($0)"] } ?? []
    }

    /// Uses the client in a run that another process has begun, while a call fails. Returns what is wrong.
    func perform(_ scenario: Scenario, with injection: Injection, run number: Int) -> [String] {
        let work = ScenarioRun(stage, number: number)
        flt_arm(injection.asFault)
        defer { _ = flt_disarm() }
        return use(scenario.perform, in: work)
    }

    private func nextNumber() -> Int {
        runs += 1
        return runs
    }
}

/// How a use of the client ended.
private struct Ending: Sendable {
    var error: (any Error)?
    var hangs = false

    var failure: String? {
        if hangs { return "it hangs" }
        return error.map { "\(type(of: $0)): \($0)" }
    }

    func findings(expectsSuccess: Bool) -> [String] {
        guard let failure else { return [] }
        if hangs || expectsSuccess || !isTyped { return ["it ended with \(failure)"] }
        return isTimeout ? ["it waited for its time limit: \(failure)"] : []
    }

    private var isTyped: Bool {
        error is HTTPError || error is SystemError || error is CacheError || error is StaticMapError
            || error is ResolverError || error is ProxyAnswer
    }

    private var isTimeout: Bool {
        guard let error = error as? HTTPError, case .timedOut = error.reason else { return false }
        return true
    }
}

extension Runner {
    /// The time after which a use counts as hanging. Each takes milliseconds.
    private static let patience: UInt64 = 120_000_000_000

    /// Runs a use of the client to its end.
    private func guarded(_ use: @escaping @Sendable (ScenarioRun) async throws -> Void, in work: ScenarioRun)
        -> Ending
    {
        let ending = Locked<Ending?>(nil)
        let arrival = Condition()
        Task {
            var error: (any Error)?
            do { try await use(work) } catch let failure { error = failure }
            let result = Ending(error: error)
            ending.withLock { $0 = result }
            arrival.signal()
        }
        return ending.wait(at: arrival, nanoseconds: Self.patience) { ending, _ in ending }
            ?? Ending(hangs: true)
    }

    /// Waits until the process holds no more than between two runs, and `more` descriptors.
    private func judgeHoldings(_ moment: String, more: Int64) -> [String] {
        let end = flt_time() + 10_000_000_000
        var held = flt_holdings()
        while flt_time() < end {
            held = flt_holdings()
            if held.descriptors <= baseline.descriptors + more, more > 0 || held.connections <= 0 {
                return []
            }
            usleep(500)
        }
        let descriptors = held.descriptors - baseline.descriptors - more
        return ["\(moment) \(descriptors) descriptors and \(held.connections) TLS connections are left"]
    }

    private func judgeFiles(of scenario: Scenario, after injection: Injection?, in work: ScenarioRun)
        -> [String]
    {
        let isRemovalRefused = injection?.functionName.hasPrefix("unlink") ?? false
        let drafts =
            isRemovalRefused ? [] : Files.allNames(in: work.folder).filter { $0.contains(".direct-http") }
        return drafts.map { "\($0) is left" } + (isRemovalRefused ? [] : scenario.inspect(work))
    }
}

/// The secret of the requests. Never freed: the seam keeps the pointer.
nonisolated(unsafe) private let secretText = strdup(HTTPClient.secret)
