internal import CommandKit

/// The vectors that are known to fail, and what has become of them in a run.
struct Baseline {
    let known: Set<String>
    /// The names in it that no vector has.
    private let strange: Set<String>
    private var failed: Set<String> = []
    private var judged: Set<String> = []

    /// Reads a file with a name on each line, and compares with those that there are. An empty line and one
    /// that begins with `#` mean nothing.
    init(file path: String, of names: [String]) throws(Files.Unreadable) {
        let text = String(decoding: try Files.contents(of: path), as: UTF8.self)
        let lines = text.split(whereSeparator: \.isNewline).map(String.init)
        known = Set(lines.filter { !$0.hasPrefix("#") })
        strange = known.subtracting(names)
    }

    /// Notes the outcome of a vector.
    mutating func add(_ row: Row) {
        if case .left = row.outcome { return }
        judged.insert(row.head.name)
        if row.isFailure { failed.insert(row.head.name) }
    }

    /// Whether nothing failed that was not known to fail.
    var isKept: Bool { failed.isSubset(of: known) }

    /// What is new, and what has gone, a line for each.
    var lines: [String] {
        failed.subtracting(known).sorted().map { "new failure: \($0)" }
            + strange.sorted().map { "no vector has this name: \($0)" }
            + known.intersection(judged).subtracting(failed).sorted().map { "no longer fails: \($0)" }
    }
}
