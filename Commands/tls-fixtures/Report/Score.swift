/// The numbers of rows by outcome, with the right of each vector taken into account.
struct Score: Equatable, Sendable {
    var passed = 0
    var failed = 0
    /// Vectors of ``Right/choice`` for which another client has another result. They are not failures.
    var choices = 0
    var left = 0
    /// Vectors that could not be judged because a client's adapter failed.
    var broken = 0
    /// Those of `failed` that are known to.
    var known = 0

    /// Whether nothing failed, and nothing kept a vector from being judged.
    var isGood: Bool { failed == 0 && broken == 0 }

    /// Whether a vector was judged at all.
    var hasJudged: Bool { passed + failed + choices > 0 }

    mutating func count(_ row: Row) {
        switch row.outcome {
        case .passed: passed += 1
        case .failed where row.differsByChoice: choices += 1
        case .failed:
            failed += 1
            if row.isKnown { known += 1 }
        case .left: left += 1
        case .broken: broken += 1
        }
    }

    /// The last line of every report.
    var lastLine: String {
        "\(passed) passed, \(failed) failed" + (known == 0 ? "" : " (\(known) known)")
            + (choices == 0 ? "" : ", \(choices) choices differ")
            + (broken == 0 ? "" : ", \(broken) not judged: the adapter failed")
    }
}

extension Row {
    /// The strongest right that the result breaks. `nil` if the vector has not failed.
    var brokenRight: Right? {
        guard case .failed(let differences) = outcome else { return nil }
        let rights = differences.map { $0.right ?? head.right }
        return Right.allCases.first(where: rights.contains) ?? head.right
    }

    /// Differences for people, each once, with its right if that is not the vector's.
    func lines(_ differences: [Difference]) -> [String] {
        var seen: Set<String> = []
        return differences.map { difference in
            let right = (difference.right ?? head.right) == head.right ? nil : difference.right?.rawValue
            let note = right.map { " (\($0))" } ?? ""
            return "\(difference.what): expected \(difference.expected), got \(difference.got)\(note)"
        }.filter { seen.insert($0).inserted }
    }

    /// Whether another client than this package's own has another result only where the vector states a
    /// choice.
    var differsByChoice: Bool { brokenRight == .choice && !isOurs }

    /// Whether the vector counts as failed.
    var isFailure: Bool { brokenRight != nil && !differsByChoice }
}
