/// The results of a run that was interrupted, which `--resume` goes on with.
struct EarlierResults {
    private let source: LineSource
    /// How many results a probe still has that the input has not come to: a target may be there twice.
    private var counts: [String: Int] = [:]
    private var skipped = 0
    /// Whether the new results follow the earlier ones in one file.
    private let areCopied: Bool

    /// Reads the JSON lines of the earlier run. Its last line may be half.
    ///
    /// - Parameter sink: The place of the new results.
    /// - Throws: ``UsageError`` also if the lines are of a run with other options that change what they mean.
    init(
        _ path: String,
        options: Options,
        to sink: OutputSink,
        take: (ReportEntry, _ line: [UInt8]) -> Void
    ) throws(UsageError) {
        source = try ReportEntry.open(path, of: "--resume")
        areCopied = sink.replacesFile && options.format == .json
        guard areCopied || !sink.replaces(source.descriptor) else {
            throw UsageError("--output would replace the file of --resume, in which only --json goes on")
        }
        guard !areCopied || UserFiles.lock(source.descriptor) else {
            throw UsageError(
                "another run is writing \(quoted(path)), or goes on with it",
                hint: "wait for its end"
            )
        }
        var counts: [String: Int] = [:]
        var others: [String]?
        try ReportEntry.read(source, mayBeCut: true) { result, line in
            counts[result.key, default: 0] += 1
            if let made = result.options, made != options.meaning { others = others ?? made }
            take(result, line)
        }
        if let others { throw Self.difference(of: path, made: others, now: options.meaning) }
        self.counts = counts
    }

    /// Lets the new file take the place of the earlier one, whose lines have been written to it.
    func end(in sink: OutputSink) throws(UsageError) {
        if areCopied { try sink.contains(source) }
    }

    /// Whether there is a result with this key, which is used up by that.
    mutating func take(_ key: String) -> Bool {
        guard let count = counts[key], count > 0 else { return false }
        counts[key] = count - 1
        skipped += 1
        return true
    }

    /// How many results were not made anew; `nil` if all were.
    var words: String? {
        guard skipped > 0 else { return nil }
        let fate = areCopied ? "not made anew" : "left out here"
        return "\(Words.grouped(skipped)) results are there already, and \(fate)"
    }

    private static func difference(of path: String, made: [String], now: [String]) -> UsageError {
        let groups = [("with", made, now), ("without", now, made)].compactMap { word, options, others in
            let rest = options.filter { !others.contains($0) }.map { PlainText.harmless($0, unicode: true) }
            return rest.isEmpty ? nil : "\(word) \(Words.all(rest))"
        }
        return UsageError(
            "the results in \(quoted(path)) were made \(groups.joined(separator: " and ")), and mean something else",
            hint: "go on with the same options, or begin anew without --resume"
        )
    }
}
