/// The sum of a search: what was run, what was reached, and what was found.
struct Report {
    private(set) var worlds = 0
    /// The seeds with faults, by judge.
    private(set) var seeds: [String: [UInt64]] = [:]
    private var steps = 0
    private var time: UInt64 = 0
    private var counts: [String: Int] = [:]
    private var requests: [Int] = []
    private var connections: [Int] = []
    private var faults: [Int] = []

    /// Whether no judge has found a fault.
    var isGood: Bool { seeds.isEmpty }

    /// What so many worlds should have reached. Chance can keep a search from it, so that is no failure.
    private var missing: [String] { worlds < Coverage.worlds ? [] : Coverage.missing(in: counts) }

    mutating func add(_ verdict: Verdict, seed: UInt64) {
        worlds += 1
        steps += verdict.steps
        time += verdict.time
        for (name, count) in verdict.counts { counts[name, default: 0] += count }
        for judge in verdict.judges { seeds[judge, default: []].append(seed) }
        requests.append(verdict.counts["server: request"] ?? 0)
        connections.append(verdict.connections)
        faults.append(verdict.counts.filter { $0.key.hasPrefix("fault:") }.values.reduce(0, +))
    }

    /// The report as text.
    ///
    /// - Parameter isLong: Whether it tells how often everything was reached.
    func text(seconds: Double, first: UInt64, isLong: Bool) -> String {
        let rate = Int(Double(worlds) / max(seconds, 0.001))
        func median(_ values: [Int]) -> Int { values.sorted()[values.count / 2] }
        var lines = [
            "\(worlds) worlds from seed \(first), \(rate) a second, \(steps) steps, "
                + "\(time / 1_000_000_000) virtual seconds",
            "a median world has \(median(requests)) requests, \(median(connections)) connections and "
                + "\(median(faults)) faults",
        ]
        lines += ["no reason", "slow"].map { judge in
            let ended = counts["caller: ended call"] ?? 0
            let share = (counts["judge: \(judge)"] ?? 0) * 1000 / max(1, ended)
            return "\(judge): speaks for \(share / 10).\(share % 10) % of \(ended) ended calls"
        }
        if isLong { lines += counts.sorted { $0.key < $1.key }.map { "  \($0.key)  \($0.value)" } }
        for (judge, seeds) in seeds.sorted(by: { $0.key < $1.key }) {
            let some = seeds.prefix(8).map { "\($0)" }.joined(separator: " ")
            lines.append("\(judge): \(seeds.count) seeds: \(some)")
        }
        lines += missing.map { "note: never reached: \($0)" }
        if seeds.isEmpty { lines.append("no fault") }
        return lines.joined(separator: "\n")
    }
}
