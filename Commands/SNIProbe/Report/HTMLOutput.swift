/// A report in HTML (`--format html`). What a report shows has a limit, so it is collected and written at the
/// end.
final class HTMLOutput: BufferedOutput, RecordOutput {
    private var digest = ReportDigest()

    func add(_ record: ProbeRecord, isOnlyOne: Bool) {
        if let entry = ReportEntry(record) { digest.add(entry) }
    }

    func finish(_ tally: Tally, interrupted: Bool) {
        let incomplete = interrupted ? "The run was interrupted: these are not all results." : nil
        var page = HTMLPage()
        HTMLReport(digest: digest, incomplete: incomplete).write(to: &page)
        buffer.write(page.take())
    }
}

extension ReportEntry {
    /// What a report shows of a result of this run: exactly what it would show of its line in the JSON
    /// output.
    init?(_ record: ProbeRecord) {
        var text = JSONText()
        JSONRecord(record).write(to: &text)
        self.init(text.bytes)
    }
}
