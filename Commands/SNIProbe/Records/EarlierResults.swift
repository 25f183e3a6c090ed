internal import DirectCore

/// The results of a run that was interrupted, which `--resume` goes on with.
struct EarlierResults {
    private var keys: Set<String> = []

    /// Reads the JSON lines of the earlier run. Its last line may be half.
    init(_ path: String) throws(UsageError) {
        try ReportEntry.read(path, of: "--resume", mayBeCut: true) { keys.insert($0.key) }
    }

    /// Whether the earlier run has a result for this probe.
    func contain(_ probe: Probe) -> Bool {
        let url = probe.target.url.map { "\($0)" } ?? ""
        let (ip, port) = (probe.address.description, Int(probe.port))
        return keys.contains(ProbeRecord.key(probe.target.name, ip: ip, port: port, url: url, resolver: ""))
    }
}
