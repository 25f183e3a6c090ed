/// A log for code scanning in CI (`--format sarif`).
final class SARIFOutput: BufferedOutput, RecordOutput {
    private var log = SARIFText()

    override init(to sink: OutputSink = .standardOutput) {
        super.init(to: sink)
        buffer.write(log.head)
    }

    func add(_ record: ProbeRecord, isOnlyOne: Bool) {
        buffer.write(log.add(ReportEntry(record)))
    }

    func add(earlier result: ReportEntry, line: [UInt8]) { buffer.write(log.add(result)) }

    func finish(_ digest: Digest, interrupted: Bool) {
        buffer.write(log.tail(isComplete: !interrupted))
    }
}
