internal import DirectHTTP

/// The output of a Nagios plugin: one line and one of four exit codes.
final class NagiosOutput: BufferedOutput, RecordOutput {
    private let style: Style
    private let settings: ProbeSettings
    private var failures: [Item] = []
    private var isCritical = false
    private var warnings: [Item] = []
    private var fewestDays: Int?
    private var slowest: Duration = .zero
    private var state = State.ok

    private enum State: Int32 {
        case ok, warning, critical, unknown
    }

    /// A result in the list. Its host is shown if there are several.
    private struct Item {
        let host: String
        let place: String
        let words: String
    }

    /// The maximum number of results in the line, which may be read on a pager.
    private static let mostListed = 5

    init(
        _ style: Style,
        _ settings: ProbeSettings = ProbeSettings(),
        to sink: OutputSink = .standardOutput
    ) {
        (self.style, self.settings) = (style, settings)
        super.init(to: sink)
    }

    func add(_ record: ProbeRecord, isOnlyOne: Bool) {
        let chainDays = record.chainEnd.map { UTC.floored($0.notAfter - record.judgedAt, divisor: 86_400) }
        if let days = chainDays ?? record.daysLeft { fewestDays = min(fewestDays ?? days, days) }
        if let total = record.observation.total { slowest = max(slowest, total) }
        if let fault = record.faults.first {
            let isLate = record.faults.contains { $0.id == .statusEnds || $0.id == .tooFewDays }
            if record.exitCode != 90 || isLate { isCritical = true }
            if failures.count < Self.mostListed { failures.append(item(record, text: fault.brief)) }
        } else if let warning = record.warnings.first {
            if warnings.count < Self.mostListed { warnings.append(item(record, text: warning.text)) }
        }
    }

    private func item(_ record: ProbeRecord, text: String) -> Item {
        Item(
            host: words(PlainText.cut(record.target.heading, to: 80, mark: "...")),
            place: record.address?.description ?? "",
            words: words(text)
        )
    }

    func finish(_ digest: Digest, interrupted: Bool) {
        buffer.write(line(digest, interrupted: interrupted) + "\n")
    }

    /// Prints a usage error to standard output, which is what Nagios reads, and returns the exit code for
    /// UNKNOWN.
    static func giveUp(_ error: UsageError) -> Int32 {
        let line = "SNI_PROBE UNKNOWN - \(withoutBar(error.what).prefix { $0 != "\n" })\n"
        _ = Console.write(Array(line.utf8), to: 1)
        return State.unknown.rawValue
    }

    func exitCode(_ digest: Digest) -> Int32? { state.rawValue }

    func line(_ digest: Digest, interrupted: Bool) -> String {
        let text: String
        if interrupted || digest.count == 0 {
            state = .unknown
            text = "UNKNOWN - \(interrupted ? "interrupted" : "nothing was probed")"
        } else if digest.failed > 0 {
            state = isCritical ? .critical : .warning
            text =
                "\(isCritical ? "CRITICAL" : "WARNING") - \(digest.failed) of \(digest.count) failed: "
                + listed(failures, count: digest.failed, digest: digest)
        } else if digest.warned > 0 {
            state = .warning
            text = "WARNING - " + listed(warnings, count: digest.warned, digest: digest)
        } else {
            text = "OK - \(digest.count) passed"
        }
        let days = fewestDays.map { "days=\($0)\(daysThresholds(isNegative: $0 < 0)) " } ?? ""
        return "SNI_PROBE \(text) | \(days)failed=\(digest.failed);;;0 time=\(Seconds.text(slowest))s"
    }

    /// The thresholds of the days in the syntax of Nagios, `14:` for "fewer than 14", and the minimum, which
    /// is omitted for an expired certificate, whose days are negative.
    private func daysThresholds(isNegative: Bool) -> String {
        let warning = settings.warningDays.map { "\($0):" } ?? ""
        let critical = settings.minimumDays.map { "\($0):" } ?? ""
        guard isNegative else { return ";\(warning);\(critical);0" }
        return warning.isEmpty && critical.isEmpty ? "" : ";\(warning);\(critical)"
    }

    private func listed(_ items: [Item], count: Int, digest: Digest) -> String {
        let texts = items.map { item in
            if item.place.isEmpty { return "\(item.host) \(item.words)" }
            return digest.targets.count > 1
                ? "\(item.host) @ \(item.place) \(item.words)" : "\(item.place) \(item.words)"
        }
        return Words.list(texts, of: count)
    }

    /// Returns escaped text without `|`, which separates the text from the performance data.
    private func words(_ text: String) -> String {
        Self.withoutBar(PlainText.harmless(text, unicode: style.unicode))
    }

    private static func withoutBar(_ text: String) -> String { String(text.map { $0 == "|" ? "/" : $0 }) }
}

/// Seconds in the format of monitoring systems.
enum Seconds {
    /// Returns the duration with three decimal places: `0.041`.
    static func text(_ duration: Duration) -> String {
        let milliseconds = (Words.tenth(duration) + 5) / 10
        return "\(milliseconds / 1000)." + Words.padded("\(milliseconds % 1000)", to: 3, with: "0")
    }
}
