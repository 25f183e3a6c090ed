/// The summary of any number of results, as text.
struct DigestText {
    let digest: Digest
    let style: Style

    private static let mostListed = 20

    var text: String {
        var text = counts
        text += table("faults", of: digest.faults) { Fault.ID(rawValue: $0)?.row.meaning }
        text += table("warnings", of: digest.warnings) { Warning.ID(rawValue: $0)?.meaning }
        text += failures
        text += certificates
        for hint in digest.hints.prefix(12) { text += "\n" + style.hint(hint) }
        return text
    }

    private var counts: String {
        var text = digest.extent
        if let times = digest.times {
            text += ", \(UTC.stamp(times.lowerBound)) to \(UTC.stamp(times.upperBound))"
        }
        text += "\n\(Words.grouped(digest.passed)) passed"
        if digest.warned > 0 { text += ", \(Words.grouped(digest.warned)) of them with warnings" }
        text += "; \(Words.grouped(digest.failed)) failed\n"
        if digest.needingSNI > 0 {
            text += "SNI needed on \(Words.grouped(digest.needingSNI)) that passed\n"
        }
        return text
    }

    private func table(_ heading: String, of issues: IssueCounts, meaning: (String) -> String?) -> String {
        let rows = issues.sorted
        guard !rows.isEmpty else { return "" }
        let width = rows.map { Words.grouped($0.count).count }.max() ?? 0
        return "\n\(heading)\n"
            + rows.map { row in
                let count = Words.padded(Words.grouped(row.count), to: width)
                let words = meaning(row.id).map { "  \($0)" } ?? ""
                return "  \(count)  \(style.safe(row.id, upTo: 40))\(words)\n"
            }.joined()
    }

    private var failures: String {
        let failed = digest.pools.flatMap(\.entries).filter { !$0.passed }
        guard !failed.isEmpty else { return "" }
        let more = digest.failed - min(failed.count, Self.mostListed)
        return "\nfailed\n"
            + failed.prefix(Self.mostListed).map { entry in
                let faults = entry.faults.map(\.text).joined(separator: "; ")
                return
                    "  \(style.safe("\(entry.target) @ \(entry.place)", upTo: 120)): \(style.safe(faults, upTo: 300))\n"
            }.joined() + (more > 0 ? "  and \(Words.grouped(more)) more\n" : "")
    }

    private var certificates: String {
        let rows = digest.certificates.sorted
        guard let now = digest.times?.upperBound, !rows.isEmpty else { return "" }
        let shown = rows.prefix(Self.mostListed)
        let isAll = shown.count == rows.count && !digest.certificates.isCut
        return (isAll ? "\ncertificates\n" : "\ncertificates that end first\n")
            + shown.map { row in
                let certificate = row.certificate
                let end = certificate.notAfter.map(UTC.day) ?? "-"
                let left = certificate.left(at: now)
                let name = style.safe(certificate.names.first ?? "no name", upTo: 80)
                let hash = style.safe(String(certificate.hash.prefix(8)), upTo: 8)
                return "  \(hash)  \(end)  \(left)  \(name)  (\(Words.grouped(row.count)))\n"
            }.joined()
    }
}
