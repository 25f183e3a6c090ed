internal import DirectCore

/// The results of a run that was interrupted, which `--resume` goes on with.
struct EarlierResults {
    private var keys: Set<String> = []

    private static let longestLine = 16 << 20

    /// Reads the JSON lines of the earlier run. Its last line may be half.
    init(_ path: String) throws(UsageError) {
        let source = try LineSource(path, longestLine: Self.longestLine)
        guard source.isFile else {
            throw UsageError(
                "--resume reads a file, and \(quoted(path)) is something else",
                code: ExitCode.noInput
            )
        }
        var bad: Int?
        while case .line(let text, let number) = source.next() {
            if let bad { throw Self.unreadable(path, line: bad) }
            guard let entry = ReportEntry(Array(text.utf8)) else {
                bad = number
                continue
            }
            keys.insert(entry.key)
        }
        if let failure = source.failure { throw failure }
    }

    private static func unreadable(_ path: String, line: Int) -> UsageError {
        UsageError(
            "\(PlainText.harmless(path, unicode: true)):\(line): this is not a line of sni-probe --json",
            code: ExitCode.noInput
        )
    }

    /// Whether the earlier run has a result for this probe.
    func contain(_ probe: Probe) -> Bool {
        keys.contains(
            ProbeRecord.key(
                probe.target.name,
                ip: probe.address.description,
                port: Int(probe.port),
                url: probe.target.url.map { "\($0)" } ?? "",
                resolver: ""
            )
        )
    }
}

extension ReportEntry {
    fileprivate var key: String {
        ProbeRecord.key(host, ip: ip ?? "", port: port, url: url ?? "", resolver: resolver ?? "")
    }
}
