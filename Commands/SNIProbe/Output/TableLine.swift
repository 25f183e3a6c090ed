internal import DirectCore
internal import DirectHTTP

/// A result on one line.
struct TableLine {
    let record: ProbeRecord
    let style: Style

    private var observation: Observation { record.observation }

    private var address: String {
        record.address == nil ? "-" : Self.place(observation.probe)
    }

    /// What is said of a probe that passed as well.
    private var remarks: [String] {
        record.warnings.map(\.text) + observation.hellos.map { HelloWords(finding: $0).labelled }
    }

    private static func place(_ probe: Probe) -> String {
        if probe.port == probe.target.port { return probe.address.description }
        return Endpoint(probe.address, port: probe.port).description
    }

    /// Returns the width of the address column that the probe needs, or `width` if that is more.
    static func width(for probe: Probe, atLeast width: Int) -> Int {
        max(width, min(place(probe).count, 47))
    }

    private var words: String {
        (record.faults.map(\.brief) + remarks).map { style.safe($0, upTo: 120) }.joined(separator: ", ")
    }

    /// Returns the line for a terminal, in columns that fit its width. The address column grows if needed,
    /// and never shrinks again.
    func text(addressWidth: inout Int) -> String {
        addressWidth = max(addressWidth, min(address.count, 47))
        let hash = record.leaf.map { Hex.encode(Array($0.summary.sha256.prefix(4))) } ?? "-"
        let days = record.leaf?.secondsLeft(at: record.judgedAt).map(Words.narrow) ?? "-"
        let time = observation.total.map { Words.milliseconds($0) + " ms" } ?? "-"
        let line =
            Self.left(address, width: addressWidth) + "  " + Self.left(hash, width: 8) + " "
            + Words.padded(days, to: 7) + " "
            + Words.padded(time, to: 8)
        guard !words.isEmpty else { return style.state(record) + line }
        let room = max(12, style.width - 6 - line.count - 2)
        return style.state(record) + line + "  " + PlainText.cut(words, to: room, mark: style.ellipsis)
    }

    /// The line for a pipe: state, host, IP, port, hash, days left, milliseconds, text and URL, separated by
    /// tabs.
    var tabSeparated: String {
        let hash = record.leaf.map { Hex.encode($0.summary.sha256) } ?? "-"
        let texts = (record.faults.map(\.text) + remarks).map { style.safe($0, upTo: 300) }
        let url = record.target.url.map { style.safe("\($0)", upTo: 300) }
        let fields: [String] = [
            record.state.word,
            record.target.name,
            record.address?.description ?? "-",
            "\(observation.probe.port)",
            hash,
            record.daysLeft.map { "\($0)" } ?? "-",
            observation.total.map { Words.tenths(Words.tenth($0)) } ?? "-",
            // An empty field would shift those after it for a shell's read, to which tabs are blanks.
            texts.isEmpty ? "-" : texts.joined(separator: "; "),
            url ?? "-",
        ]
        return fields.joined(separator: "\t")
    }

    private static func left(_ text: String, width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
