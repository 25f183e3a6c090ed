internal import DirectCore
internal import DirectHTTP

/// A result on one line.
struct TableLine {
    let record: ProbeRecord
    let style: Style

    private var observation: Observation { record.observation }

    private var address: String {
        guard record.lookupFailure == nil else { return "-" }
        let probe = observation.probe
        if probe.port == record.target.port { return probe.address.description }
        return Endpoint(probe.address, port: probe.port).description
    }

    private var words: String {
        (record.faults.map(\.brief) + record.warnings.map(\.text)).map { style.safe($0, upTo: 120) }
            .joined(separator: ", ")
    }

    /// Returns the line for a terminal, in columns that fit its width. The address column grows if needed, and never
    /// shrinks again.
    func text(addressWidth: inout Int) -> String {
        addressWidth = max(addressWidth, min(address.count, 39))
        let hash = record.leaf.map { Hex.encode(Array($0.summary.sha256.prefix(4))) } ?? "-"
        let days = record.daysLeft.map { "\($0) d" } ?? "-"
        let time = observation.total.map { Words.milliseconds($0) + " ms" } ?? "-"
        let line =
            Self.left(address, width: addressWidth) + "  " + Self.left(hash, width: 8) + " "
            + Self.right(days, width: 7) + " "
            + Self.right(time, width: 8)
        guard !words.isEmpty else { return style.state(record) + line }
        let room = max(12, style.width - 6 - line.count - 2)
        return style.state(record) + line + "  " + PlainText.cut(words, to: room, mark: style.ellipsis)
    }

    /// The line for a pipe: state, host, IP, port, hash, days left, milliseconds and text, separated by tabs.
    var tabSeparated: String {
        let hash = record.leaf.map { Hex.encode($0.summary.sha256) } ?? "-"
        let fields = [
            Style.word(record),
            record.target.name,
            record.lookupFailure == nil ? observation.probe.address.description : "-",
            "\(observation.probe.port)",
            hash,
            record.daysLeft.map { "\($0)" } ?? "-",
            observation.total.map { Words.tenths(Words.tenth($0)) } ?? "-",
            (record.faults.map(\.text) + record.warnings.map(\.text)).map { style.safe($0, upTo: 300) }
                .joined(separator: "; "),
        ]
        return fields.joined(separator: "\t")
    }

    private static func left(_ text: String, width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func right(_ text: String, width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
