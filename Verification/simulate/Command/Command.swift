internal import CSimulation
internal import CommandKit
internal import FoundationEssentials

/// The command line.
struct Command {
    static let usage = """
        usage: simulate [--seeds N | --minutes M] [--from SEED] [--tls | --plain] [--report] [--with WORD]
               simulate --seed SEED            one world, with its trace
               simulate --shrink SEED JUDGE    the smallest plan in which the judge still finds a fault
               simulate --plan FILE            the world of a plan that was kept, with its trace
               simulate --plans FOLDER         all plans of a folder: none may have a fault
               simulate --same N               whether the first N seeds run twice in the same way
        """

    private enum Action {
        case search(count: Int?, minutes: Double?)
        case one(UInt64)
        case shrink(UInt64, judge: String)
        case plan(String)
        case plans(String)
        case same(Int)
    }

    private var action = Action.search(count: 2000, minutes: nil)
    private var first: UInt64 = 1000
    private var isSecure: Bool?
    private var reports = false
    /// The worlds are those whose plan has it, in its file.
    private var word: String?

    init(_ words: ArraySlice<String>) throws(ArgumentReader.Fault) {
        var arguments = ArgumentReader(words)
        while let word = arguments.next() {
            switch word {
            case "--tls": isSecure = true
            case "--plain": isSecure = false
            case "--report": reports = true
            case "--with": self.word = try arguments.value(of: word)
            case "--from": first = try arguments.number(of: word)
            case "--seeds": action = .search(count: try arguments.number(of: word), minutes: nil)
            case "--minutes": action = .search(count: nil, minutes: try arguments.number(of: word))
            case "--same": action = .same(try arguments.number(of: word))
            case "--seed": action = .one(try arguments.number(of: word))
            case "--shrink":
                action = .shrink(try arguments.number(of: word), judge: try arguments.value(of: word))
            case "--plan": action = .plan(try arguments.value(of: word))
            case "--plans": action = .plans(try arguments.value(of: word))
            default: throw ArgumentReader.Fault(what: Self.usage)
            }
        }
    }

    /// Runs the command and returns its exit code.
    func run() -> Int32 {
        switch action {
        case .search(let count, let minutes): search(count: count, minutes: minutes)
        case .one(let seed): show(Plan(seed: seed, isSecure: isSecure))
        case .shrink(let seed, let judge): shrink(seed, judge: judge)
        case .plan(let file): Plan.load(file).map(show) ?? fail("no plan in \(file)")
        case .plans(let folder): runPlans(folder)
        case .same(let count): compare(count)
        }
    }

    private func search(count: Int?, minutes: Double?) -> Int32 {
        let start = sim_real_time()
        let limit = minutes.map { start + UInt64($0 * 60e9) }
        var report = Report()
        var seed = first
        while limit.map({ sim_real_time() < $0 }) ?? (report.worlds < count ?? 0) {
            let plan = Plan(seed: seed, isSecure: isSecure)
            defer { seed += 1 }
            if let word, !plan.text.contains(word) { continue }
            let verdict = World.run(plan)
            for judge in verdict.judges.subtracting(report.seeds.keys) {
                let words = verdict.faults.first { $0.hasPrefix(judge + ":") } ?? judge
                print("seed \(seed)  \(words.prefix(300))")
            }
            report.add(verdict, seed: seed)
        }
        print(report.text(seconds: Double(sim_real_time() - start) / 1e9, first: first, isLong: reports))
        return report.isGood ? 0 : 1
    }

    private func show(_ plan: Plan) -> Int32 {
        print(plan.text)
        let verdict = World.run(plan, isTraced: true)
        for line in verdict.trace { print(line) }
        for fault in verdict.faults { print("FAULT", fault) }
        print(
            "hash \(String(verdict.hash, radix: 16)), \(verdict.steps) steps, \(verdict.time / 1000) microseconds"
        )
        return verdict.faults.isEmpty ? 0 : 1
    }

    private func shrink(_ seed: UInt64, judge: String) -> Int32 {
        guard let shrunk = Shrinker(judge: judge).shrink(Plan(seed: seed, isSecure: isSecure)) else {
            return fail("seed \(seed) has no fault of the judge \(judge)")
        }
        print(shrunk.text)
        for fault in World.run(shrunk).faults { print("FAULT", fault) }
        return 0
    }

    private func runPlans(_ folder: String) -> Int32 {
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter {
            $0.hasSuffix(".json")
        }
        var code: Int32 = 0
        for name in names.sorted() {
            guard let plan = Plan.load("\(folder)/\(name)") else { return fail("no plan in \(name)") }
            for fault in World.run(plan).faults {
                print("\(name): \(fault)")
                code = 1
            }
        }
        print("\(names.count) plans")
        return code
    }

    private func compare(_ count: Int) -> Int32 {
        var code: Int32 = 0
        for seed in first..<first + UInt64(count) {
            let plan = Plan(seed: seed, isSecure: isSecure)
            let (once, twice) = (World.run(plan, isTraced: true), World.run(plan, isTraced: true))
            print(seed, String(once.hash, radix: 16))
            if once.hash != twice.hash {
                let lines = zip(once.trace, twice.trace).first { $0 != $1 }
                print("seed \(seed) does not run twice in the same way: \(lines ?? ("", ""))")
                code = 1
            }
        }
        return code
    }

    private func fail(_ words: String) -> Int32 {
        print("simulate: \(words)")
        return 64
    }
}

extension Plan {
    /// The plan as it is kept in files.
    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Reads a plan from a file.
    static func load(_ path: String) -> Plan? {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        return try? JSONDecoder().decode(Plan.self, from: data)
    }
}
