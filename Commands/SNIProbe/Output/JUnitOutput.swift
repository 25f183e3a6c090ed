internal import DirectCore
internal import DirectHTTP

/// A report in the format of JUnit, which CI systems show: one test case for each probe.
///
/// There is no standard; the elements and attributes are those that Jenkins' schema and GitLab's
/// documentation have in common. The counts come before the cases, so everything is written at the end.
final class JUnitOutput: BufferedOutput, RecordOutput {
    private var cases: [String] = []
    private var total = Duration.zero
    private var begin: Int64?

    func add(_ record: ProbeRecord, isOnlyOne: Bool) {
        let observation = record.observation
        let time = observation.total ?? .zero
        total += time
        begin = min(begin ?? observation.time, observation.time)
        let place =
            record.address?.description ?? record.checkedFile
            ?? "not resolved" + (record.failedResolver.map { " by \($0)" } ?? "")
        let target = record.target.url.map { "\($0)" } ?? "\(record.target.name):\(record.target.port)"
        var text =
            "    <testcase classname=\"\(MarkupText.escaped(target))\" name=\"\(MarkupText.escaped(place))\" "
            + "time=\"\(Seconds.text(time))\""
        let body = failure(of: record) + warnings(of: record)
        text += body.isEmpty ? "/>\n" : ">\n\(body)    </testcase>\n"
        cases.append(text)
    }

    private func failure(of record: ProbeRecord) -> String {
        guard let first = record.faults.first else { return "" }
        let message = record.faults.map(\.text).joined(separator: "; ")
        let hint = record.hint.map { "hint: \($0.text)" } ?? ""
        return "      <failure type=\"\(first.id.rawValue)\" message=\"\(MarkupText.escaped(message))\">"
            + "\(MarkupText.escaped(hint))</failure>\n"
    }

    private func warnings(of record: ProbeRecord) -> String {
        guard !record.warnings.isEmpty else { return "" }
        let text = record.warnings.map { "warning: \($0.text)" }.joined(separator: "; ")
        return "      <system-out>\(MarkupText.escaped(text))</system-out>\n"
    }

    func finish(_ digest: Digest, interrupted: Bool) {
        let counts =
            "tests=\"\(digest.count)\" failures=\"\(digest.failed)\" errors=\"0\" time=\"\(Seconds.text(total))\""
        let stamp = begin.map { " timestamp=\"\(UTC.stamp(Int($0 / 1000)).dropLast())\"" } ?? ""
        buffer.write(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"sni-probe\" \(counts)>\n"
        )
        buffer.write("  <testsuite name=\"sni-probe\" \(counts) skipped=\"0\"\(stamp)>\n")
        for text in cases { buffer.write(text) }
        buffer.write("  </testsuite>\n</testsuites>\n")
    }
}
