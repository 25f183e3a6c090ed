internal import DirectHTTP

/// Output in another order: what failed first, then what has warnings, for a window that may be too small
/// for all.
final class FailuresFirst: RecordOutput {
    private let base: any RecordOutput
    private var records: [[ProbeRecord]] = [[], [], []]

    init(_ base: any RecordOutput) {
        self.base = base
    }

    func expect(_ probe: Probe) { base.expect(probe) }

    func add(_ record: ProbeRecord, isOnlyOne: Bool) {
        guard !isOnlyOne else { return base.add(record, isOnlyOne: true) }
        records[record.passed ? record.warnings.isEmpty ? 2 : 1 : 0].append(record)
    }

    func finish(_ digest: Digest, interrupted: Bool) {
        for record in records.joined() { base.add(record, isOnlyOne: false) }
        base.finish(digest, interrupted: interrupted)
    }

    func flush() -> Bool { base.flush() }

    func exitCode(_ digest: Digest) -> Int32? { base.exitCode(digest) }
}
