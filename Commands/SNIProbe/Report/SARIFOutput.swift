/// A log for code scanning in CI (`--format sarif`).
final class SARIFOutput: RecordOutput {
    private var buffer: OutputBuffer
    private var log = SARIFText()

    init(to sink: OutputSink = .standardOutput) {
        buffer = OutputBuffer(sink)
        buffer.write(log.head)
    }

    func add(_ record: ProbeRecord, isOnlyOne: Bool) {
        if let entry = ReportEntry(record) { buffer.write(log.add(entry)) }
    }

    func finish(_ tally: Tally, interrupted: Bool) {
        buffer.write(log.tail(isComplete: !interrupted))
    }

    func flush() -> Bool { buffer.flush() }
}
