internal import CommandKit
internal import DirectCore
internal import DirectJSON

/// An output format. Rows are added as they come, and the totals at the end.
protocol Report {
    mutating func add(_ row: Row)
    mutating func finish(_ score: Score)
}

/// A report with one JSON object on each line: one for each vector, then one with the totals.
struct JSONReport: Report {
    /// The version of the vectors.
    let vectors: String

    mutating func add(_ row: Row) {
        Terminal.write("\(Self.object(row))\n")
    }

    mutating func finish(_ score: Score) {
        Terminal.write("\(object(score))\n")
    }

    /// Returns the JSON object for the totals.
    func object(_ score: Score) -> JSONValue {
        .object([
            "totals": .object([
                "passed": .number(score.passed), "failed": .number(score.failed),
                "differ": .number(score.choices), "left": .number(score.left),
                "broken": .number(score.broken), "known": .number(score.known),
            ]),
            "vectors": .string(vectors),
            "program": .string(PackageVersion.text),
        ])
    }

    /// Returns the JSON object for a row.
    static func object(_ row: Row) -> JSONValue {
        var differences: [Difference] = []
        var outcome = "passed"
        var reason = JSONValue.null
        var fault = JSONValue.null
        switch row.outcome {
        case .passed: break
        case .failed(let found): (outcome, differences) = (row.differsByChoice ? "differs" : "failed", found)
        case .left(let why): (outcome, reason) = ("left", .string(why))
        case .broken(let why): (outcome, fault) = ("broken", .string(why))
        }
        return .object([
            "client": .string(row.client),
            "version": .string(row.version),
            "topic": .string(row.head.topic.rawValue),
            "name": .string(row.head.name),
            "outcome": .string(outcome),
            "leftBecause": reason,
            "adapterFailed": fault,
            "known": .bool(row.isKnown),
            "tries": .number(row.tries),
            "milliseconds": .number(row.milliseconds),
            "differences": .array(
                differences.map { difference in
                    .object([
                        "what": .string(difference.what),
                        "expected": .string(difference.expected),
                        "got": .string(difference.got),
                        "right": .string((difference.right ?? row.head.right).rawValue),
                    ])
                }
            ),
            "words": .string(differences.isEmpty ? "" : row.words),
            "why": .string(row.head.why),
            "reference": .string(row.head.reference),
            "right": .string(row.head.right.rawValue),
            "broken": row.brokenRight.map { .string($0.rawValue) } ?? .null,
        ])
    }
}

/// A report of the names of what failed, as `--baseline` reads it.
struct FailureReport: Report {
    mutating func add(_ row: Row) {
        if row.isFailure { Terminal.write("\(Terminal.harmless(row.head.name))\n") }
    }

    mutating func finish(_ score: Score) {
        Terminal.complain(score.lastLine)
    }
}
