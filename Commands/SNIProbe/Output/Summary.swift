internal import DirectHTTP

/// The summary after the results of a run, and the hints.
struct Summary {
    let digest: Digest
    let style: Style
    let interrupted: Bool
    let hints: Bool

    var text: String {
        guard digest.count > 0 || interrupted else { return "" }
        var text = ""
        if digest.count > 1 || interrupted {
            text +=
                "\n" + style.wrapped(counts + sni, indent: 0).joined(separator: "\n") + "\n" + certificates
        }
        text += ResolverTable(digest: digest, style: style).text
        guard hints else { return text }
        for hint in digest.hints.prefix(12) { text += (text.isEmpty ? "" : "\n") + style.hint(hint) }
        return text
    }

    private var counts: String {
        let count = Words.grouped(digest.count)
        guard digest.count > 0 else { return "Interrupted before the first result." }
        guard rest.isEmpty || !interrupted else {
            return "Interrupted\(rest). Of \(count) that finished, \(Words.grouped(digest.passed)) passed."
        }
        let stop = interrupted ? "Interrupted. " : ""
        if digest.failed == 0 { return "\(stop)\(digest.count == 1 ? "1 passed." : "All \(count) passed.")" }
        return "\(stop)\(Words.grouped(digest.passed)) of \(count) passed."
    }

    /// What an interrupted run has left undone.
    private var rest: String {
        var parts: [String] = []
        if digest.unfinished > 0 { parts.append("\(Words.grouped(digest.unfinished)) not finished") }
        if digest.isCutShort { parts.append("the rest of the input not begun") }
        return parts.isEmpty ? "" : ", with " + parts.joined(separator: " and ")
    }

    /// A sentence on how many of the passed probes need SNI. Empty if none does.
    private var sni: String {
        guard digest.passed > 0, digest.needingSNI > 0 else { return "" }
        let names = digest.defaultNames.map { style.safe($0, upTo: 64) }.joined(separator: ", ")
        let shown = names.isEmpty ? "" : " (without it: \(names))"
        if digest.needingSNI == digest.passed { return " SNI needed on all that passed\(shown)." }
        return " SNI needed on \(Words.grouped(digest.needingSNI)) of them\(shown)."
    }

    /// The list of a host's certificates. Empty if there is only one, or more than one host.
    private var certificates: String {
        let rows = digest.certificates.accepted
        guard digest.hosts.isOne, rows.count > 1 else { return "" }
        let all = rows.count + digest.certificates.omitted
        let head = "\(all) certificates: "
        let lines = rows.prefix(8).enumerated().map { index, row in
            let place = row.accepted == 1 ? "1 IP, " : "\(Words.grouped(row.accepted)) IPs,"
            let until = row.certificate.notAfter.map(UTC.day) ?? "no date"
            let few = row.accepted <= 3 && index > 0
            let addresses = few ? ": " + row.addresses.joined(separator: ", ") : ""
            let start = index == 0 ? head : String(repeating: " ", count: head.count)
            return "\(start)\(row.certificate.hash.prefix(8)) on \(place) until \(until)\(addresses)\n"
        }
        let hidden = all - lines.count
        guard hidden > 0 else { return lines.joined() }
        return lines.joined() + String(repeating: " ", count: head.count)
            + "and \(Words.grouped(hidden)) more\n"
    }
}
