internal import DirectCore

/// The results of a run that was interrupted, which `--resume` goes on with.
struct EarlierResults {
    private var keys: Set<String> = []
    /// Whether the new results follow the earlier ones in one file.
    let areCopied: Bool

    /// Reads the JSON lines of the earlier run. Its last line may be half.
    ///
    /// - Parameter sink: The place of the new results. A file gets the earlier ones too, as far as they are
    ///   of probes: what was not resolved is looked up anew.
    init(_ path: String, format: Options.Format, to sink: OutputSink) throws(UsageError) {
        let source = try ReportEntry.open(path, of: "--resume")
        areCopied = sink.replacesFile && format == .json
        guard areCopied || !sink.replaces(source.descriptor) else {
            throw UsageError("--output would replace the file of --resume, in which only --json goes on")
        }
        var copy = OutputBuffer(sink)
        let isCopied = areCopied
        try ReportEntry.read(source, mayBeCut: true) { result, line in
            keys.insert(result.key)
            if isCopied, result.ip != nil { copy.write(line + [UInt8(ascii: "\n")]) }
        }
        _ = copy.flush()
        if let failure = sink.failure { throw failure }
        if isCopied { sink.contains(source) }
    }

    /// Whether the earlier run has a result for this probe.
    func contain(_ probe: Probe) -> Bool {
        let url = probe.target.url.map { "\($0)" } ?? ""
        let (ip, port) = (probe.address.description, Int(probe.port))
        return keys.contains(ProbeRecord.key(probe.target.name, ip: ip, port: port, url: url, resolver: ""))
    }
}
