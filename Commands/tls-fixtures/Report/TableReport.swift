internal import CommandKit
internal import DirectCore

/// A report for people: progress during the run, every failure in full, then a table.
struct TableReport: Report {
    /// The number of rows that will be added.
    let expectedCount: Int
    /// The version of the vectors.
    let vectors: String
    private let showsProgress = Terminal.isTerminal
    private var scores: [Key: Score] = [:]
    private var order: [Key] = []
    private var count = 0
    private var reasons: [String: Int] = [:]
    /// The vectors that took more than one try, by client and number of tries.
    private var repeated: [String: [Int: [String]]] = [:]

    /// A row of the table.
    private struct Key: Hashable {
        var client: String
        var topic: Topic
    }

    init(expectedCount: Int, vectors: String = "none") {
        self.expectedCount = expectedCount
        self.vectors = vectors
    }

    mutating func add(_ row: Row) {
        count += 1
        let key = Key(client: row.client, topic: row.head.topic)
        if scores[key] == nil { order.append(key) }
        scores[key, default: Score()].count(row)
        if row.tries > 1 { repeated[row.client, default: [:]][row.tries, default: []].append(row.head.name) }
        clearProgress()
        switch row.outcome {
        case .passed: break
        case .broken(let why): Terminal.write(Self.text(of: row, brokenBy: why))
        case .left(let why): reasons["\(row.client): \(why)", default: 0] += 1
        case .failed(let differences): Terminal.write(Self.text(of: row, differences))
        }
        if showsProgress {
            Terminal.write("\(count)/\(expectedCount) \(row.client), \(row.head.topic.rawValue)")
        }
    }

    mutating func finish(_ score: Score) {
        clearProgress()
        Terminal.write(Self.table([Self.columns] + rows))
        for (reason, count) in reasons.sorted(by: { $0.key < $1.key }) {
            Terminal.write(Terminal.harmless("left out, \(count): \(reason)\n"))
        }
        for line in triesLines { Terminal.write(Terminal.harmless(line)) }
        Terminal.write(Terminal.harmless("vectors \(vectors), tls-fixtures \(PackageVersion.text)\n"))
        Terminal.write("\(score.lastLine)\n")
    }

    /// The vectors that took more than one try, a line for each client and number of tries.
    var triesLines: [String] {
        repeated.sorted { $0.key < $1.key }.flatMap { client, counts in
            counts.sorted { $0.key < $1.key }.map { tries, names in
                let shown = names.prefix(3).joined(separator: "; ") + (names.count > 3 ? "; …" : "")
                return "\(tries) tries, \(names.count): \(client): \(shown)\n"
            }
        }
    }

    private static let columns = [
        "client", "topic", "passed", "failed", "choices differ", "left out", "not judged",
    ]

    /// The rows of the table, in the order of ``columns``. A zero in one of the last three columns is left
    /// blank.
    var rows: [[String]] {
        order.map { key in
            let score = scores[key] ?? Score()
            let others = [score.choices, score.left, score.broken].map { $0 == 0 ? "" : "\($0)" }
            return [key.client, key.topic.rawValue, "\(score.passed)", "\(score.failed)"] + others
        }
    }

    private func clearProgress() {
        if showsProgress { Terminal.write("\r\u{1B}[K") }
    }

    private static func text(of row: Row, brokenBy why: String) -> String {
        Terminal.harmless(
            "BROKEN  \(row.client), \(row.head.topic.rawValue), \(row.head.name)\n        adapter failed: \(why)\n"
        )
    }

    private static func text(of row: Row, _ differences: [Difference]) -> String {
        var text = row.differsByChoice ? "DIFFERS " : "FAILED  "
        text += "\(row.client), \(row.head.topic.rawValue), \(row.head.name)\n"
        for line in row.lines(differences) { text += "        \(line)\n" }
        text += "        why: \(row.head.why) (\(row.head.reference); \(row.head.right.rawValue))\n"
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
