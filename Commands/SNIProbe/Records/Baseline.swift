internal import DirectCore
internal import DirectHTTP

/// The results of an earlier run, with which those of this one are compared (`--baseline`).
final class Baseline {
    /// What is compared of a result.
    struct Entry: Equatable {
        /// Those of all certificates that the same handshake got.
        var hashes: Set<String>
        var faults: [String]
        var verdict: String

        /// Strictness repeats the warnings, which are not compared.
        init(_ result: ReportEntry) {
            hashes = Set(result.shown.map(\.hash))
            faults = result.faults.map(\.id).filter { $0 != Fault.ID.strict.rawValue }
            verdict = result.verdict
        }
    }

    /// What a result is in relation to the earlier run.
    enum Change: Equatable {
        /// The earlier run has no result for this target and address.
        case new
        case same
        /// The earlier result was another.
        case other(was: Entry)

        /// The word of the JSON output.
        var word: String {
            switch self {
            case .new: "new"
            case .same: "same"
            case .other: "other"
            }
        }
    }

    let name: String
    private let entries: [String: Entry]
    /// The results of the earlier run that have no counterpart yet.
    private var missing: Set<String>
    private(set) var fresh: [String] = []
    private(set) var freshCount = 0
    private(set) var otherCount = 0

    private static let mostListed = 5

    /// Reads the JSON lines of an earlier run.
    init(_ path: String) throws(UsageError) {
        name = path
        var entries: [String: Entry] = [:]
        try ReportEntry.read(try ReportEntry.open(path, of: "--baseline")) { result, _ in
            entries[result.key] = Entry(result)
        }
        self.entries = entries
        missing = Set(entries.keys)
    }

    /// Compares a result with the earlier one, and counts it.
    @discardableResult
    func compare(_ result: ReportEntry) -> Change {
        let key = result.key
        missing.remove(key)
        guard let old = entries[key] else {
            freshCount += 1
            if fresh.count < Self.mostListed { fresh.append(Self.place(key)) }
            return .new
        }
        guard old != Entry(result) else { return .same }
        otherCount += 1
        return .other(was: old)
    }

    /// A line on what is new, gone and other.
    ///
    /// - Parameter isWhole: Whether everything was probed. If not, nothing is called gone.
    func summary(isWhole: Bool) -> String {
        var parts = ["\(Words.grouped(freshCount)) new" + Self.list(fresh, of: freshCount)]
        if isWhole {
            let gone = missing.sorted().prefix(Self.mostListed).map(Self.place)
            parts.append("\(Words.grouped(missing.count)) gone" + Self.list(gone, of: missing.count))
        }
        parts.append("\(Words.grouped(otherCount)) other")
        return "compared with \(PlainText.harmless(name, unicode: true)): \(parts.joined(separator: ", "))"
    }

    private static func list(_ places: [String], of count: Int) -> String {
        guard count > 0 else { return "" }
        return " (\(Words.list(places, of: count)))"
    }

    /// The host and the address of a key.
    private static func place(_ key: String) -> String {
        let parts = key.split(separator: "\n", omittingEmptySubsequences: false)
        let resolver = parts[4].isEmpty ? "" : " by \(parts[4])"
        let text = parts[1].isEmpty ? "\(parts[0])\(resolver)" : "\(parts[0]) @ \(parts[1])"
        return PlainText.harmless(text, unicode: true)
    }
}

extension Baseline.Change {
    /// What has changed, in words; `nil` if nothing has that is worth a warning.
    func words(_ result: ReportEntry) -> String? {
        guard case .other(let old) = self else { return nil }
        let new = Baseline.Entry(result)
        var parts: [String] = []
        if old.hashes != new.hashes {
            let gone = (old.hashes.subtracting(new.hashes).min() ?? old.hashes.min()).map { $0.prefix(8) }
            parts.append("certificate \(gone ?? "none") before")
        }
        if old.faults != new.faults {
            parts.append(
                old.faults.isEmpty ? "passed before" : "\(old.faults.joined(separator: ", ")) before"
            )
        }
        if old.verdict != new.verdict { parts.append("SNI \(old.verdict) before") }
        return parts.joined(separator: ", ")
    }
}
