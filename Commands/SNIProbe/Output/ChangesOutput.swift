/// Output of the rounds of `--watch`: everything of the first round, then only the results that are other
/// than in the round before. The results themselves are written in another format.
final class ChangesOutput: RecordOutput {
    private let base: any RecordOutput
    private var shown: [String: State] = [:]
    private var isFirstRound = true

    /// What counts as a change: not the days that are left, and not the time that it took.
    private struct State: Equatable {
        let entry: Baseline.Entry
        let warnings: [String]
    }

    /// The maximum number of results that are remembered. All others are printed in each round.
    private static let most = 100_000

    init(_ base: any RecordOutput) {
        self.base = base
    }

    func expect(_ probe: Probe) { base.expect(probe) }

    func add(_ record: ProbeRecord, isOnlyOne: Bool) {
        let result = ReportEntry(record)
        let state = State(entry: Baseline.Entry(result), warnings: result.warnings.map(\.id))
        guard shown[result.key] != state else { return }
        if shown[result.key] != nil || shown.count < Self.most { shown[result.key] = state }
        base.add(record, isOnlyOne: isOnlyOne)
    }

    func finish(_ digest: Digest, interrupted: Bool) {
        if isFirstRound { base.finish(digest, interrupted: interrupted) }
        isFirstRound = false
    }

    func flush() -> Bool { base.flush() }
}
