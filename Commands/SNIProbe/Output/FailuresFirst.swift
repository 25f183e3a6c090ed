internal import DirectHTTP

/// Output in another order: what failed first, then what has warnings, for a window that may be too small
/// for all.
final class FailuresFirst: WrappingOutput, RecordOutput {
    private var records: [[ProbeRecord]] = [[], [], []]

    func add(_ record: ProbeRecord, isOnlyOne: Bool) {
        guard !isOnlyOne else { return base.add(record, isOnlyOne: true) }
        records[record.passed ? record.warnings.isEmpty ? 2 : 1 : 0].append(record)
    }

    func finish(_ digest: Digest, interrupted: Bool) {
        for record in records.joined() { base.add(record, isOnlyOne: false) }
        base.finish(digest, interrupted: interrupted)
    }
}
