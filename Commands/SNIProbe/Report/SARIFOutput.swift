/// A log for code scanning in CI (`--format sarif`).
final class SARIFOutput: BufferedOutput, RecordOutput {
    private var log = SARIFText()

    override init(to sink: OutputSink = .standardOutput) {
        super.init(to: sink)
        buffer.write(log.head)
    }

    func add(_ record: ProbeRecord, isOnlyOne: Bool) {
        if let entry = ReportEntry(record) { buffer.write(log.add(entry)) }
    }

    func finish(_ tally: Tally, interrupted: Bool) {
        buffer.write(log.tail(isComplete: !interrupted))
    }
}
