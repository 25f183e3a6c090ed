internal import CFaults
internal import CommandKit
internal import Glibc

/// The command line.
struct Command {
    static let usage = """
        usage: faults [--quick] [--scenario NAME] [--function NAME] [--step N]
               faults --one SCENARIO FUNCTION CALL FAULT    one run, and its result
               faults --list                                the scenarios, and the faults of each function
        """

    private enum Action {
        case search
        case one([String])
        case perform([String])
        case count(String)
        case list
        case serve(String)
    }

    private var action = Action.search
    private var selection = Selection()
    private var stageFolder: String?
    private var runNumber = 0

    init(_ words: ArraySlice<String>) throws(ArgumentReader.Fault) {
        var arguments = ArgumentReader(words)
        while let word = arguments.next() {
            switch word {
            case "--quick": selection.isQuick = true
            case "--list": action = .list
            case "--one", "--perform":
                var words: [String] = []
                for _ in 0..<4 { words.append(try arguments.value(of: word)) }
                action = word == "--one" ? .one(words) : .perform(words)
            case "--run": runNumber = try arguments.number(of: word)
            case "--scenario": selection.scenario = try arguments.value(of: word)
            case "--function": selection.function = try arguments.value(of: word)
            case "--step": selection.step = max(1, try arguments.number(of: word))
            case "--stage": stageFolder = try arguments.value(of: word)
            case "--count": action = .count(try arguments.value(of: word))
            case "serve": action = .serve(try arguments.value(of: word))
            default: throw ArgumentReader.Fault(what: Self.usage)
            }
        }
    }

    /// Runs the command and returns its exit code.
    func run() -> Int32 {
        switch action {
        case .serve(let folder): return Servers.run(in: folder)
        case .list: return list()
        default: break
        }
        do {
            let stage = try stageFolder.map { try Stage(folder: $0) } ?? Stage()
            defer { stage.end() }
            switch action {
            case .one(let words): return try runOne(words, on: stage)
            case .perform(let words): return try perform(words, on: stage)
            case .count(let name): return try count(name, on: stage)
            default: return try Search(stage, selection).run()
            }
        } catch {
            print("faults: \(error)")
            return 70
        }
    }

    private func list() -> Int32 {
        for scenario in Scenario.all { print(scenario.name) }
        for function in Injection.functions {
            let name = Injection.name(of: function)
            let faults = FaultTable.faults(of: name) + FaultTable.lastingFaults(of: name)
            print("\(name): \(faults.map(\.name).joined(separator: ", "))")
        }
        return 0
    }

    /// Begins a run that is judged by the process which has started this one.
    private func perform(_ words: [String], on stage: Stage) throws -> Int32 {
        let (scenario, injection) = try Self.choice(words)
        let findings = Runner(stage).perform(scenario, with: injection, run: runNumber)
        for finding in findings { print(finding) }
        return findings.isEmpty ? 0 : 1
    }

    private static func choice(_ words: [String]) throws -> (Scenario, Injection) {
        guard let injection = Injection(function: words[1], call: words[2], fault: words[3]) else {
            throw StageError("no such fault: \(words.dropFirst().joined(separator: " "))")
        }
        return (try scenario(words[0]), injection)
    }

    private func runOne(_ words: [String], on stage: Stage) throws -> Int32 {
        let (scenario, injection) = try Self.choice(words)
        let runner = Runner(stage)
        if scenario.needsOwnProcess {
            runner.ignoreDescriptors()
        } else {
            for finding in runner.warmUp(scenario) { throw StageError(finding) }
        }
        let verdict = runner.run(scenario, with: injection)
        for line in verdict.lines { print(line) }
        return verdict.findings.isEmpty ? 0 : 1
    }

    private func count(_ name: String, on stage: Stage) throws -> Int32 {
        let runner = Runner(stage)
        runner.ignoreDescriptors()
        print(runner.countCalls(try Self.scenario(name)).map { "\($0)" }.joined(separator: " "))
        return 0
    }

    private static func scenario(_ name: String) throws -> Scenario {
        guard let scenario = Scenario.all.first(where: { $0.name == name }) else {
            throw StageError("no such scenario: \(name)")
        }
        return scenario
    }
}
