/// A report for people: progress during the run, every failure in full, then a table.
struct TableReport: Report {
    /// The number of rows that will be added.
    let expectedCount: Int
    private let showsProgress = Terminal.isTerminal
    private var totals: [Key: Run.Totals] = [:]
    private var order: [Key] = []
    private var count = 0
    private var reasons: [String: Int] = [:]

    /// A row of the table.
    private struct Key: Hashable {
        var client: String
        var topic: Topic
    }

    init(expectedCount: Int) {
        self.expectedCount = expectedCount
    }

    mutating func add(_ row: Row) {
        count += 1
        let key = Key(client: row.client, topic: row.head.topic)
        if totals[key] == nil { order.append(key) }
        totals[key, default: Run.Totals()].count(row.outcome)
        clearProgress()
        switch row.outcome {
        case .passed: break
        case .left(let why): reasons["\(row.client): \(why)", default: 0] += 1
        case .failed(let differences): Terminal.write(Self.text(of: row, differences))
        }
        if showsProgress {
            Terminal.write("\(count)/\(expectedCount) \(row.client), \(row.head.topic.rawValue)")
        }
    }

    mutating func finish(_ totals: Run.Totals) {
        clearProgress()
        let rows = order.map { key in
            let counts = self.totals[key] ?? Run.Totals()
            return [
                key.client, key.topic.rawValue, "\(counts.passed)", "\(counts.failed)",
                counts.left == 0 ? "" : "\(counts.left)",
            ]
        }
        Terminal.write(Self.table([["client", "topic", "passed", "failed", "left out"]] + rows))
        for (reason, count) in reasons.sorted(by: { $0.key < $1.key }) {
            Terminal.write("left out, \(count): \(reason)\n")
        }
        Terminal.write("\(totals.lastLine)\n")
    }

    private func clearProgress() {
        if showsProgress { Terminal.write("\r\u{1B}[K") }
    }

    private static func text(of row: Row, _ differences: [Difference]) -> String {
        var text = "FAILED  \(row.client), \(row.head.topic.rawValue), \(row.head.name)\n"
        for difference in differences {
            text += "        \(difference.what): expected \(difference.expected), got \(difference.got)\n"
        }
        text += "        why: \(row.head.why) (\(row.head.reference))\n"
        if !row.words.isEmpty { text += "        the client says: \(row.words.prefix(300))\n" }
        return Terminal.harmless(text)
    }

    /// Returns the rows as lines with aligned columns.
    private static func table(_ rows: [[String]]) -> String {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = row.indices.map { column in
                let padding = String(repeating: " ", count: widths[column] - row[column].count)
                return column < 2 ? row[column] + padding : padding + row[column]
            }
            var line = cells.joined(separator: "  ")
            while line.hasSuffix(" ") { line.removeLast() }
            return line + "\n"
        }.joined()
    }
}
