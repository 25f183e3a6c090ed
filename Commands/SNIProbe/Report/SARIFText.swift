internal import DirectCore

/// Writes a log in the format SARIF 2.1.0 (OASIS): each fault and each warning is a result.
///
/// The rules do not depend on the results, and the times come after them, so results are written as they come
/// and none is kept.
struct SARIFText {
    private var isFirst = true
    private var times: ClosedRange<Int>?

    /// The rules in their order: the faults, then the warnings that are not a fault by the same name as well.
    static let rules: [(id: String, meaning: String, level: String)] = {
        let faults = Fault.ID.allCases.map { ($0.rawValue, $0.row.meaning, "error") }
        let names = Set(faults.map(\.0))
        let warnings = Warning.ID.allCases.map { ($0.rawValue, $0.meaning, "warning") }
        return faults + warnings.filter { !names.contains($0.0) }
    }()

    private static let places = Dictionary(uniqueKeysWithValues: rules.enumerated().map { ($1.id, $0) })

    /// The part before the results.
    var head: [UInt8] {
        let tool = JSONText { text in
            text.object("driver") { text in
                text.field("name", value: "sni-probe")
                text.field("version", value: PackageVersion.text)
                text.list("rules", elements: Self.rules) { text, rule in
                    text.field("id", value: rule.id)
                    text.object("shortDescription") { $0.field("text", value: rule.meaning) }
                    text.object("defaultConfiguration") { $0.field("level", value: rule.level) }
                }
            }
        }
        let start =
            #"{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[{"tool":"#
        return Array(start.utf8) + tool.bytes
            + Array(#","columnKind":"unicodeCodePoints","results":["#.utf8)
    }

    /// Returns the results of one line of the JSON output.
    mutating func add(_ entry: ReportEntry) -> [UInt8] {
        times = entry.extending(times)
        var bytes: [UInt8] = []
        for (index, issue) in entry.faults.enumerated() {
            bytes += result(issue, level: "error", hint: index == 0 ? entry.hint : nil, of: entry)
        }
        for issue in entry.warnings { bytes += result(issue, level: "warning", hint: nil, of: entry) }
        return bytes
    }

    /// Returns the part after the results.
    func tail(isComplete: Bool) -> [UInt8] {
        let text = JSONText { text in
            text.field("executionSuccessful", value: isComplete)
            guard let times else { return }
            text.field("startTimeUtc", value: UTC.stamp(times.lowerBound))
            text.field("endTimeUtc", value: UTC.stamp(times.upperBound))
        }
        return Array("],\"invocations\":[".utf8) + text.bytes + Array("]}]}\n".utf8)
    }

    private mutating func result(
        _ issue: ReportEntry.Issue,
        level: String,
        hint: String?,
        of entry: ReportEntry
    ) -> [UInt8] {
        let name =
            entry.ip.map { "\(entry.target) @ \($0)" } ?? entry.target
            + (entry.resolver.map { " by \($0)" } ?? "")
        let advice = hint.map { " Hint: \($0)" } ?? ""
        let text = JSONText { text in
            text.field("ruleId", value: issue.id)
            if let place = Self.places[issue.id] { text.field("ruleIndex", value: place) }
            text.field("level", value: level)
            text.object("message") { $0.field("text", value: "\(name): \(issue.text).\(advice)") }
            text.list("locations", elements: [entry]) { text, entry in
                if let file = SourceLine(entry.source) { file.write(to: &text) }
                text.list("logicalLocations", elements: [name]) { text, name in
                    text.field("fullyQualifiedName", value: name)
                    text.field("kind", value: "resource")
                }
            }
            // The same fault of the same probe is the same alert in the next run.
            text.object("partialFingerprints") { $0.field("probe/v1", value: "\(issue.id) \(name)") }
        }
        defer { isFirst = false }
        return (isFirst ? [] : [UInt8(ascii: ",")]) + text.bytes
    }
}

/// The line of a file that a target comes from, as the member `source` of the JSON output says it.
struct SourceLine {
    /// A reference as in RFC 3986: a relative path, or a URL of the scheme `file`.
    let uri: String
    let line: Int

    /// Returns `nil` for a source that is not a line of a file.
    init?(_ source: String) {
        guard let colon = source.lastIndex(of: ":"), let line = Int(source[source.index(after: colon)...]),
            line > 0, source[..<colon] != "standard input"
        else { return nil }
        let path = source[..<colon]
        let allowed = Set("/-._~".utf8)
        let coded = path.utf8.map { byte -> String in
            let isPlain = allowed.contains(byte) || byte.isLetter || byte.isDigit
            return isPlain ? String(UnicodeScalar(byte)) : "%" + Hex.encode([byte]).uppercased()
        }.joined()
        uri = path.hasPrefix("/") ? "file://\(coded)" : coded
        self.line = line
    }

    fileprivate func write(to text: inout JSONText) {
        text.object("physicalLocation") { text in
            text.object("artifactLocation") { $0.field("uri", value: uri) }
            text.object("region") { $0.field("startLine", value: line) }
        }
    }
}
