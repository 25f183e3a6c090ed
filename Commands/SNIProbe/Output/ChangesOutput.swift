internal import DirectHTTP

/// Output of the rounds of `--watch` to a pipe: everything of the first round, then only the results that are
/// other than in the round before. The results themselves are written in another format.
final class ChangesOutput: WrappingOutput, RecordOutput {
    private let memory: Memory

    /// What the rounds have shown so far.
    final class Memory {
        fileprivate var shown: [String: String] = [:]
        fileprivate var isFirstRound = true

        /// The maximum number of results that are remembered. All others are printed in each round.
        fileprivate static let most = 100_000

        /// Begins the next round.
        func endRound() { isFirstRound = false }
    }

    init(_ base: any RecordOutput, _ memory: Memory) {
        self.memory = memory
        super.init(base)
    }

    func add(_ record: ProbeRecord, isOnlyOne: Bool) {
        let key = record.key
        let state = Self.state(of: record)
        guard memory.shown[key] != state else { return }
        if memory.shown[key] != nil || memory.shown.count < Memory.most { memory.shown[key] = state }
        base.add(record, isOnlyOne: isOnlyOne)
    }

    /// What counts as a change: not the days that are left, and not the time that it took.
    private static func state(of record: ProbeRecord) -> String {
        let issues = record.faults.map(\.id.rawValue) + record.warnings.map(\.id.rawValue)
        let hash = record.leaf?.summary.sha256.map { "\($0)" }.joined(separator: ".") ?? ""
        return "\(record.sni.verdict.rawValue) \(hash) \(issues.joined(separator: " "))"
    }

    func finish(_ digest: Digest, interrupted: Bool) {
        guard memory.isFirstRound else { return }
        base.finish(digest, interrupted: interrupted)
    }
}
