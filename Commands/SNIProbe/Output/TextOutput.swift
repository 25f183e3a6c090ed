internal import DirectHTTP

/// Text output for a terminal: a single result in full, several as one line each under their host, and a
/// summary.
final class TextOutput: BufferedOutput, RecordOutput {
    private let style: Style
    private let verbose: Bool
    private var host: String?
    private var width = 12
    private var wasAlone = false

    init(_ style: Style, verbose: Bool, to sink: OutputSink = .standardOutput) {
        (self.style, self.verbose) = (style, verbose)
        super.init(to: sink)
    }

    func expect(_ probe: Probe) {
        width = TableLine.width(for: probe, atLeast: width)
    }

    func add(_ record: ProbeRecord, isOnlyOne: Bool) {
        if verbose || isOnlyOne {
            if host != nil { buffer.write("\n") }
            host = record.target.name
            wasAlone = isOnlyOne
            buffer.write(LongForm(record: record, style: style, verbose: verbose).text)
        } else {
            addLine(record)
        }
    }

    func finish(_ digest: Digest, interrupted: Bool) {
        guard !wasAlone || interrupted || !digest.lookups.isEmpty else { return }
        // The long form already contains the hint.
        let hints = !verbose && !wasAlone
        buffer.write(Summary(digest: digest, style: style, interrupted: interrupted, hints: hints).text)
    }

    private func addLine(_ record: ProbeRecord) {
        let heading = style.safe(record.target.heading, upTo: style.width)
        if host != heading {
            buffer.write((host == nil ? "" : "\n") + heading + "\n")
            host = heading
        }
        buffer.write(TableLine(record: record, style: style).text(addressWidth: &width) + "\n")
    }
}

/// Text output for a pipe: one tab-separated line for each result, not shortened. The summary goes to
/// standard error.
final class PipedOutput: BufferedOutput, RecordOutput {
    private let style: Style

    init(_ style: Style, to sink: OutputSink = .standardOutput) {
        self.style = style
        super.init(to: sink)
    }

    func add(_ record: ProbeRecord, isOnlyOne: Bool) {
        buffer.write(TableLine(record: record, style: style).tabSeparated + "\n")
    }

    func finish(_ digest: Digest, interrupted: Bool) {
        guard digest.count > 1 || digest.failed > 0 || interrupted || !digest.lookups.isEmpty else { return }
        _ = buffer.flush()
        Console.complain(Summary(digest: digest, style: style, interrupted: interrupted, hints: true).text)
    }
}
