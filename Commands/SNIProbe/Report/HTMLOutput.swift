/// A report in HTML (`--format html`). What a report shows has a limit, so it is written at the end.
final class HTMLOutput: BufferedOutput, RecordOutput {
    func add(_ record: ProbeRecord, isOnlyOne: Bool) {}

    func finish(_ digest: Digest, interrupted: Bool) {
        let incomplete = interrupted ? "The run was interrupted: these are not all results." : nil
        buffer.write(HTMLReport(digest: digest, incomplete: incomplete).bytes)
    }
}
