/// The numbers of rows by outcome, with the right of each vector taken into account.
struct Score: Equatable, Sendable {
    var passed = 0
    var failed = 0
    /// Vectors of ``Right/choice`` for which another client has another result. They are not failures.
    var choices = 0
    var left = 0
    /// Vectors that could not be judged because a client's adapter failed.
    var broken = 0

    /// Whether nothing failed, and nothing kept a vector from being judged.
    var isGood: Bool { failed == 0 && broken == 0 }

    mutating func count(_ row: Row) {
        switch row.outcome {
        case .passed: passed += 1
        case .failed where row.differsByChoice: choices += 1
        case .failed: failed += 1
        case .left: left += 1
        case .broken: broken += 1
        }
    }

    /// The last line of every report.
    var lastLine: String {
        "\(passed) passed, \(failed) failed" + (choices == 0 ? "" : ", \(choices) choices differ")
            + (broken == 0 ? "" : ", \(broken) not judged: the adapter failed")
    }
}

extension Row {
    /// Whether another client than this package's own has another result where the vector states a choice.
    var differsByChoice: Bool {
        guard case .failed = outcome else { return false }
        return head.right == .choice && !isOurs
    }
}
